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
  char reg; // 'a' to 'd'
  unsigned bit;
  /// Bits of the register XCR0, all of which the system has to set: it then
  /// saves the registers that the instructions use when it switches tasks.
  uint32_t savedState = 0;
  uint32_t subleaf = 0;
};

/// A bit of the auxiliary vector by which Linux says that an Arm processor has
/// something, and that the system saves its registers (Linux,
/// Documentation/arch/arm64/elf_hwcaps.rst).
struct HwcapBit {
  const char *name; // "asimddp", as /proc/cpuinfo has it
  bool isSecond;    // of AT_HWCAP2 and not AT_HWCAP
  unsigned bit;
};

/// What LLVM calls the architectures, and the systems, that levels are of.
inline constexpr const char *kX86Triple = "x86_64-unknown-linux-gnu";
inline constexpr const char *kArmTriple = "aarch64-unknown-linux-gnu";

/// What a level multiplies bytes by. Of x86-64 unsigned bytes by signed ones, of which
/// two products are added in 16 bits (vpmaddubsw) or four in 32 (vpdpbusd); of Arm
/// signed ones alone, four (sdot) or besides matrices of two rows of eight (smmla).
enum class ByteProducts { Pairs, Quads, SignedQuads, SignedMatrices };

struct HostIsa {
  const char *name; // as files and --target have it
  const char *cpu;  // what LLVM compiles for, and what is there besides: "+fma"
  const char *features;
  int64_t lanes;     // f32 lanes of a vector register
  int64_t registers; // how many vector registers there are
  /// Of the levels that run on a machine the highest is taken. At least 1, and not
  /// that of another level of its architecture.
  unsigned rank;
  /// Whether a file has its code that was compiled without a word on targets: there
  /// are many such machines, and they gain much by it.
  bool isUsual;
  /// All of that level runs as well. Null: nothing is asked but what is listed.
  const HostIsa *below;
  std::span<const CpuidBit> needs;
  ByteProducts byteProducts = ByteProducts::Pairs;
  /// Whether it multiplies bf16, which pays where products may round to it alone.
  bool multipliesBf16 = false;
  /// Of what architecture the level is. A machine of another one lacks all of it.
  const char *triple = kX86Triple;
  /// What a level of Arm needs, in place of `needs`.
  std::span<const HwcapBit> needsOnArm = {};
};

/// All levels, those of an architecture together, the lowest of them first. The
/// first of all is what "host" stands for.
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
