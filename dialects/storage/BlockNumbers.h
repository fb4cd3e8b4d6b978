// What the bytes of a block stand for, and blocks for given numbers: the slow
// evaluator that all other code for `!storage.block` is compared with.
#ifndef EFFC_DIALECTS_STORAGE_BLOCKNUMBERS_H
#define EFFC_DIALECTS_STORAGE_BLOCKNUMBERS_H

#include "dialects/storage/rounding/Rounding.h"

namespace effc::storage {

/// The number of element `element` of a block, rounded to f32 once.
float blockNumber(BlockType type, llvm::ArrayRef<uint8_t> block,
                  int64_t element);

/// Whether encodeBlock() can do without a rule of the type's own: codes are integers
/// around 0, and the block has one scale of a floating-point type, with nothing
/// added.
bool hasEncoding(BlockType type);

/// Writes the block that stands for `numbers`, as many as the type has elements. By
/// `rounding`; where that is null, the scale is the largest magnitude over the
/// largest code that has a negative, and codes are rounded to nearest, halves away
/// from zero. False where a number or a scale is not finite.
bool encodeBlock(BlockType type, Rounding rounding,
                 llvm::ArrayRef<float> numbers, const Importance &importance,
                 llvm::MutableArrayRef<uint8_t> block);

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_BLOCKNUMBERS_H
