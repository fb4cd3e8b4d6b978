//===- StateOrigin.h - Which tokens a state file's sequence has taken -----===//
//
// The optional section at the end of a state file, whose header says whether it is
// there (StateHeader.h).
//
//   offset  bytes  field
//        0     32  SHA-256 of a salt, or zeros: who may find the file
//       32      8  1: all tokens were taken by prefill; else 0
//       40      8  count of tokens, which is the header's position
//       48      4  each token
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_STATEORIGIN_H
#define EFFC_RUNTIME_SRC_STATEORIGIN_H

#include "runtime/src/Error.h"
#include "runtime/src/Sha256.h"

#include <vector>

namespace effc::rt {

struct StateOrigin {
  Sha256Digest salt = {};
  bool byPrefill = false;
  std::vector<int32_t> tokens;

  /// How many bytes it takes of a sequence at `position`.
  static uint64_t bytesAt(uint64_t position) { return 48 + 4 * position; }
  void append(std::vector<uint8_t> &bytes) const;
  /// Reads what append() wrote. EFFC_BAD_DATA: it is none of that position.
  static Result<StateOrigin> read(std::span<const uint8_t> bytes,
                                  uint64_t position);
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_STATEORIGIN_H
