// Rows of blocks in the order that a GPU's loads want: of some neighbouring blocks all
// codes, then all scales.
#ifndef EFFC_DIALECTS_STORAGE_BUNDLES_H
#define EFFC_DIALECTS_STORAGE_BUNDLES_H

#include "dialects/storage/FieldBits.h"
#include "dialects/storage/StorageDialect.h"

#include <vector>

namespace effc::storage {

/// What a bundle, and what lies in it, begins at a multiple of, in bytes: the widest
/// load of a GPU's thread. Codes of one bit fill it with so many elements.
inline constexpr int64_t kBundleAlignment = 16, kBundleElements = 128;

/// Whether there are bundles of such blocks of at most `most` elements: a block is no
/// longer, its fields are whole bytes or narrower than one, and elements that share one
/// field share each field of more elements.
bool canBundle(BlockType block, int64_t most);

/// The blocks of the longest bundle of rows with `columns` elements: a power of two, of
/// at most `most` elements. 0: there is none, since blocks cannot be bundled or rows are
/// no multiples of kBundleElements.
int64_t blocksOfBundle(BlockType block, int64_t columns, int64_t most);

/// A bundle of `blocks` as one block: of all elements the codes, in planes of 16, 8, 4, 2
/// or 1 bits, each of whose neighbours follow one another; then the factors and zeros,
/// first those of the most elements. Those of as many elements lie beside one another,
/// in whole bytes.
BlockType bundleOf(BlockType block, int64_t blocks);

/// Whether the codes of neighbours follow one another, as they do in a bundle, so that
/// one load brings those of kBundleRun.
bool liesInRuns(BlockType block);
inline constexpr int64_t kBundleRun = 8;

/// Moves the bits of rows between the two orders. `bytes` are whole bundles.
class BundleOrder {
public:
  BundleOrder(BlockType block, int64_t blocks);

  std::vector<uint8_t> pack(llvm::ArrayRef<uint8_t> bytes) const;
  std::vector<uint8_t> unpack(llvm::ArrayRef<uint8_t> bytes) const;

private:
  void add(FieldAttr from, FieldAttr to, int64_t step);

  BlockType block, bundle;
  std::vector<BitRun> runs; ///< of a bundle; `from` is in the blocks one by one
};

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_BUNDLES_H
