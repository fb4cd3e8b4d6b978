//===- StateFile.h - The state of a sequence, apart from any device -------===//
//
// The bytes of a state file hold the logical state: each matrix, tail and sum
// as its descriptor says, in the type it was kept in, and of keys and values
// the tokens that are held, oldest first. They fit every artifact of the same
// model whose states have the same descriptors; element types may differ where
// they convert, and the room for tokens where it suffices. Layout:
// StateHeader.h.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_STATEFILE_H
#define EFFC_RUNTIME_SRC_STATEFILE_H

#include "runtime/schema/program_generated.h"
#include "runtime/src/CodeNames.h"
#include "runtime/src/Error.h"
#include "runtime/src/MappedFile.h"
#include "runtime/src/StateOrigin.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace effc::rt {

/// A sequence's position and the states in the layout of a slot.
struct SequenceState {
  uint64_t position = 0;
  Mapping slot;                           // committed where it holds something
  CodeNames codes;                        // by which it was computed
  std::optional<StateOrigin> origin = {}; // where the file says it
};

/// The bytes of a state file for a sequence whose slot is `slot`. At position 0
/// the slot is not looked at: states are neutral.
std::vector<uint8_t> encodeState(const artifact::Program &program,
                                 uint64_t position,
                                 std::span<const uint8_t> slot,
                                 const CodeNames &codes = {},
                                 const StateOrigin *origin = nullptr);

/// How many bytes that gives without tokens; they depend on the position alone.
uint64_t encodedBytes(const artifact::Program &program, uint64_t position);

/// Reads what encodeState() wrote, for this or another artifact of the model.
/// EFFC_BAD_DATA: is no state file, is cut short or damaged, holds a NaN or an
/// impossible position, or a sequence of another model or layout; what does not
/// fit is named. EFFC_UNSUPPORTED: a newer format (both numbers are named).
Result<SequenceState> decodeState(const artifact::Program &program,
                                  std::span<const uint8_t> bytes);

/// Reads the state file at `path`, which must be a regular file, into memory.
/// Nothing is allocated before its header fits `program`.
Result<std::vector<uint8_t>> readStateFile(const artifact::Program &program,
                                           const std::string &path);

/// Reads what the state file at `path` says of its tokens, and nothing else of its
/// body. EFFC_BAD_DATA: it says nothing; otherwise as readStateFile().
Result<StateOrigin> readStateOrigin(const artifact::Program &program,
                                    const std::string &path);

/// What a state file's model id is for `program`.
uint64_t modelIdOf(const artifact::Program &program);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_STATEFILE_H
