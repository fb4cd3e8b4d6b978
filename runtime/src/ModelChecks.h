//===- ModelChecks.h - What must hold in a program before it is used ------===//
//
// The flatbuffer verifier has shown that every table and vector lies inside the
// buffer; these functions check what the values mean: every index, offset,
// size, alignment, enumeration and count. After them the engine trusts the
// program. The sums they form cannot overflow.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_MODELCHECKS_H
#define EFFC_RUNTIME_SRC_MODELCHECKS_H

#include "runtime/schema/program_generated.h"
#include "runtime/src/Error.h"
#include "runtime/src/Plan.h"

#include <cstdint>
#include <type_traits>

namespace effc::rt {

/// All of the below but the next. `programEnd` and `fileSize` are where segments
/// may lie.
Check checkProgram(const artifact::Program &program, uint64_t programEnd,
                   uint64_t fileSize);

/// A flatbuffer may name one list of tables, or one text, any number of times; what
/// is written out or looked through of it would be as many times as large. The
/// compiler shares nothing, so that a program of `bytes` is not much larger without
/// sharing (SharingChecks.cpp). Before the others, which look through all of it.
Check checkSharing(const artifact::Program &program, uint64_t bytes);

/// Segments in the file, apart, aligned, one of each kind (code: per ISA).
Check checkSegments(const artifact::Program &program, uint64_t programEnd,
                    uint64_t fileSize);

/// Weights inside the Weights segment, or inside the file they name, with rows
/// * stride = size; files with sensible names.
Check checkWeights(const artifact::Program &program);

/// States inside a slot, apart, of the size of their shape.
Check checkStates(const artifact::Program &program);

/// Sampling defaults that a sampler takes, tokens of the vocabulary.
Check checkGeneration(const artifact::Program &program);

/// Texts and lists that are only shown.
Check checkProvenance(const artifact::Program &program);
Check checkTaps(const artifact::Program &program);

/// The plans of the host, where there is one, and of every target, each as
/// strictly: kernels inside segments of code for the target, with blocks that a
/// GPU takes; entries whose launches name existing kernels with the right
/// number of operands, operands that exist and start inside what they name
/// (EntryChecks.cpp).
Check checkPlans(const artifact::Program &program);
/// Launches held to what their kernels were made for, which each kernel states. An
/// entry takes tokens, tables have a row for each of them, and there are no more
/// items than bytes (LaunchChecks.cpp). After the checks below.
Check checkLaunches(const artifact::Program &program, const Plan &plan);
Check checkKernels(const artifact::Program &program, const Plan &plan);
Check checkEntries(const artifact::Program &program, const Plan &plan);

/// Whether a segment of `kind` is code, and so has an ISA.
bool isCode(artifact::SegmentKind kind);

/// The one segment of `kind`, or null.
const artifact::Segment *findSegment(const artifact::Program &program,
                                     artifact::SegmentKind kind);

/// Bytes of one element; 0 for a value outside the enumeration.
uint64_t elementBytes(artifact::ElementType type);

/// How many neighbours of a weight's row share how many bytes; elements with bytes
/// of their own are blocks of one. Both 0 for an unknown type.
struct BlockSize {
  uint64_t elements = 0, bytes = 0;
  uint64_t rows = 1; ///< that share the bytes
  bool operator==(const BlockSize &) const = default;
};
/// Of a weight whose `storage` has been checked.
BlockSize blockSize(const artifact::Program &program,
                    const artifact::Weight &weight);
/// Bytes of the elements of one row, or of rows that share blocks, without what pads
/// it.
uint64_t rowBytes(const artifact::Program &program,
                  const artifact::Weight &weight);
/// "f32", "q8_0".
std::string_view typeName(const artifact::Program &program,
                          const artifact::Weight &weight);

/// a * b unless that does not fit.
inline std::optional<uint64_t> product(uint64_t a, uint64_t b) {
  uint64_t result;
  if (__builtin_mul_overflow(a, b, &result))
    return std::nullopt;
  return result;
}

/// Whether [offset, offset + size) lies in [0, limit).
inline bool fits(uint64_t offset, uint64_t size, uint64_t limit) {
  return size <= limit && offset <= limit - size;
}

/// Whether the elements of `vector` lie where their type may be read. The
/// flatbuffer verifier looks at a vector's length field only.
template <typename T> bool isAligned(const flatbuffers::Vector<T> &vector) {
  using Element = std::remove_const_t<std::remove_pointer_t<T>>;
  return reinterpret_cast<uintptr_t>(vector.Data()) % alignof(Element) == 0;
}

/// Fails unless `name` is of sensible length; `what` says whose it is.
Check checkName(const flatbuffers::String *name, const char *what);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_MODELCHECKS_H
