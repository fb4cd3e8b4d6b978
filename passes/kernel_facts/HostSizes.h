// Sizes of a host's items, and what a host is taken for.
//
// A file has one plan for all levels of the host's instruction set, and the machine is
// not known when a model is compiled. So these are no functions of `vector` and
// `registers`: they suit the lowest level, and code of a higher one runs the same items
// (codegen/host/VectorShape.h sizes loops and register blocks by the level).
#ifndef EFFC_PASSES_KERNELFACTS_HOSTSIZES_H
#define EFFC_PASSES_KERNELFACTS_HOSTSIZES_H

#include "dialects/storage/Panels.h"

namespace effc {

/// The cores that a host is taken for, since its record does not say.
inline constexpr int64_t kUsualCores = 8;

/// Rows of a product that pass by an item's weights together: those of a register
/// block, which all levels have four of.
inline constexpr int64_t kHostRows = 4;
/// Outputs of an item: a multiple of the three, or six, that a register block of a
/// level has. Few where rows pass by, so that their weights stay close to the core;
/// where none do, longer items cost less.
inline constexpr int64_t kHostPassedOutputs = 12, kHostOutputs = 24;
/// The same by weights in panels, of which an item has two: rows of digits come from
/// the second cache for every item, and so are read half as often as for one.
inline constexpr int64_t kHostPanelOutputs = 2 * storage::kPanelRows;

/// Queries of a window's block: four times the rows that a product takes at once, so
/// that a key is read from the cache once for all of them. Its keys: 8 KiB where they
/// are 64 wide, a quarter of the first cache.
inline constexpr int64_t kHostQueries = 4 * kHostRows, kHostWindowKeys = 32;

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_HOSTSIZES_H
