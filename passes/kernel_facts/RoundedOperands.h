// What is rounded of a product's operands, and the room that they take then.
#ifndef EFFC_PASSES_KERNELFACTS_ROUNDEDOPERANDS_H
#define EFFC_PASSES_KERNELFACTS_ROUNDEDOPERANDS_H

#include "dialects/seq/SeqAttributes.h"
#include "dialects/tile/Distribution.h"

namespace effc {

/// Whether products keep what they multiply as 16 bits in a GPU's shared
/// memory: what is rounded to tf32 takes the place of an f32.
bool areOperandsNarrow(tile::Device device, mlir::Type roundedTo);

/// Bytes of what products multiply, where a kernel keeps it: of what it is rounded to
/// where that is narrow, else of f32.
int64_t operandBytes(tile::Device device, mlir::Type roundedTo);

/// The terms that a tensor core takes at once. A product of fewer is no faster
/// rounded: what repeats a number stays exact.
inline constexpr int64_t kLeastRoundedTerms = tile::kPieceDepth;

/// Whether `target`, which rounds products, reads the rows of `product`
/// (`seq::isDenseOp`) as the nearest of what it rounds to. On the host `weight`, null
/// where the matrix is none, has to be stored so.
bool roundsRows(mlir::Operation *product, seq::EntryAttr entry,
                tile::TargetAttr target, mlir::Type weight);

/// Whether a GPU's kernels hand on as bf16 what tolerates rounding (`seq::RoundingTolerance`):
/// where products round to bf16, and no token's bits have to be the same however ops
/// are fused. In f16 numbers beyond 65504 would be infinite, which no rounding is.
bool handsOnRounded(tile::TargetAttr target);

/// The most keys of a block of a window's kernel: on a GPU a score for each lane of a
/// warp. Narrow ones take half the room there, and a block's barriers and sums are
/// then for twice the products.
int64_t mostWindowKeys(tile::TargetAttr target);

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_ROUNDEDOPERANDS_H
