// Which bits of a block may be drawn at random, so that a model without weights can be
// measured: the runtime knows nothing of codes and scales.
#ifndef EFFC_CODEGEN_ARTIFACT_DRAWNBLOCKS_H
#define EFFC_CODEGEN_ARTIFACT_DRAWNBLOCKS_H

#include "dialects/storage/StorageDialect.h"

#include <vector>

namespace effc::codegen {

/// As artifact::Storage has them: `bytes` bytes each, without a bit in common.
struct DrawnBits {
  std::vector<uint8_t> drawn, set;
};

/// Codes are drawn, and integers of scales; other scales are a power of two times
/// what is drawn of their fractions, so that the largest numbers of a block are
/// about 2^-6, as those of other drawn weights are.
DrawnBits drawnBits(storage::BlockType type);

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_DRAWNBLOCKS_H
