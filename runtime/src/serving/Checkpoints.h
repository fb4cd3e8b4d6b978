//===- Checkpoints.h - Where a prompt's states are kept -------------------===//
//
// Pure logic. Positions of a prompt at which a copy of its states is worth having:
//
//   what the caller has marked
//   where it leaves what other prompts have in common with it, so that the next of
//     their kind goes on from there
//   every so many tokens
//   behind its last token but one, for the same prompt once more: the last one has
//     to be fed for its logits
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_SERVING_CHECKPOINTS_H
#define EFFC_RUNTIME_SRC_SERVING_CHECKPOINTS_H

#include <cstdint>
#include <span>
#include <vector>

namespace effc::rt {

struct CheckpointRules {
  /// Positions are multiples of it.
  uint64_t grid = 1;
  /// 0: not for their number alone.
  uint64_t every = 0;
};

/// The most that a prompt of so many tokens has, `marks` of them marked.
uint64_t mostCheckpoints(const CheckpointRules &rules, uint64_t tokens,
                         uint64_t marks);

/// In ascending order, behind `from`, where the prompt of `tokens` tokens begins to
/// be fed. `matched`: of how many tokens others have the same.
std::vector<uint64_t> checkpointsOf(const CheckpointRules &rules,
                                    uint64_t tokens, uint64_t from,
                                    uint64_t matched,
                                    std::span<const uint64_t> marks);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SERVING_CHECKPOINTS_H
