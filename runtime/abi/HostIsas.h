//===- HostIsas.h - The instruction sets that host code is made for -------===//
//
// One row for each level, read by the compiler, which makes its code, and by the
// runtime, which chooses the code of a file that runs here. A level is added by
// a row of HostIsas.cpp (test/new_isa): what makes and what chooses code names
// none.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_ABI_HOSTISAS_H
#define EFFC_RUNTIME_ABI_HOSTISAS_H

#include <cstdint>
#include <span>
#include <string_view>

namespace effc::rt {

/// A bit by which a processor says that it has something (Intel's Software
/// Developer's Manual, volume 2, CPUID).
struct CpuidBit {
  const char *name; // "avx2"
  uint32_t leaf;
  char reg;         // 'a' to 'd'
  unsigned bit;
  /// Bits of the register XCR0, all of which the system has to set: it then
  /// saves the registers that the instructions use when it switches tasks.
  uint32_t savedState = 0;
  uint32_t subleaf = 0;
};

struct HostIsa {
  const char *name; // as files and --target have it
  const char *cpu;  // what LLVM compiles for, and what is there besides: "+fma"
  const char *features;
  int64_t lanes;     // f32 lanes of a vector register
  int64_t registers; // how many vector registers there are
  /// Of the levels that run on a machine the highest is taken. At least 1.
  unsigned rank;
  /// Whether a file has its code that was compiled without a word on targets: there
  /// are many such machines, and they gain much by it.
  bool isUsual;
  /// All of that level runs as well. Null: nothing is asked but what is listed.
  const HostIsa *below;
  std::span<const CpuidBit> needs;
  /// Whether it multiplies bf16, which pays where products may round to it alone.
  bool multipliesBf16 = false;
};

/// All levels, lowest first: the first is what "host" stands for.
std::span<const HostIsa> hostIsas();

inline const HostIsa &baselineIsa() { return hostIsas().front(); }

/// Null where no level has that name.
inline const HostIsa *findHostIsa(std::string_view name) {
  for (const HostIsa &isa : hostIsas())
    if (isa.name == name)
      return &isa;
  return nullptr;
}

} // namespace effc::rt

#endif // EFFC_RUNTIME_ABI_HOSTISAS_H
