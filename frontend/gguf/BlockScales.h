// Whether the scales of stored blocks are numbers. A block whose scale is not
// gives no numbers either, and every product that it has a part in.
#ifndef EFFC_FRONTEND_GGUF_BLOCKSCALES_H
#define EFFC_FRONTEND_GGUF_BLOCKSCALES_H

#include "frontend/gguf/Types.h"

namespace effc::frontend {

/// The first block, by its number, of which a scale of 16 bits is infinite or
/// NaN, or one of 8 bits is 0xff; none where all are numbers.
std::optional<uint64_t> findBadScale(const GgufType &type,
                                     llvm::ArrayRef<uint8_t> blocks);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_BLOCKSCALES_H
