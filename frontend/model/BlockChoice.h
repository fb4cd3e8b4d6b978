// Blocks of keys that queries choose, and attention over the means of blocks.
#ifndef EFFC_FRONTEND_MODEL_BLOCKCHOICE_H
#define EFFC_FRONTEND_MODEL_BLOCKCHOICE_H

#include "frontend/model/ModelBuilder.h"

namespace effc::frontend {

/// How queries choose: the attributes and the shapes of `seq.choose_blocks`.
struct BlockChoice {
  /// Positions of a block.
  int64_t length = 1;
  /// Groups of heads that choose together, and how many blocks each chooses.
  int64_t groups = 1, count = 1;
  /// How many blocks are always among them: from the first on, and up to the token's own.
  int64_t first = 0, last = 1;
  seq::BlockScore score = seq::BlockScore::Mean;
  /// What products of queries and keys are multiplied with.
  double scale = 1;
};

/// The numbers of the chosen blocks [T, groups, count], by queries [T, H, K] and keys
/// [T, G, K]. The state is `name`.block_sums.
mlir::Value chooseBlocks(ModelBuilder &model, const std::string &name,
                         const BlockChoice &choice, mlir::Value query,
                         mlir::Value key);

/// Attention [T, H, V] over the mean keys and values of whole blocks, with values
/// [T, G, V]. The states are `name`.key_sums and `name`.value_sums.
mlir::Value mixBlockMeans(ModelBuilder &model, const std::string &name,
                          const BlockChoice &choice, mlir::Value query,
                          mlir::Value key, mlir::Value value);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_BLOCKCHOICE_H
