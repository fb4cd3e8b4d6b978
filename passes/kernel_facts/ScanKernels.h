// Which linear recurrences have a kernel that takes pieces of a sequence beside
// one another, and the tokens of a piece one after another.
#ifndef EFFC_PASSES_KERNELFACTS_SCANKERNELS_H
#define EFFC_PASSES_KERNELFACTS_SCANKERNELS_H

#include "dialects/seq/SeqAttributes.h"
#include "dialects/tile/Tile.h"

namespace effc {

/// Why none does, as a reader of the record sees it; empty where one does. A
/// piece hands on what its tokens do to the state before them: any decay is a
/// number for each element at most, a correction a matrix. On the host threads
/// are few, and each has heads and channels enough.
std::string scanObstacle(seq::LinearAttr linear, tile::Device device);

/// What a scan's cost must count: each token is looked at in both launches.
inline constexpr int64_t kScanLaunches = 2;

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_SCANKERNELS_H
