// How many registers a thread may have where a launch's blocks shall come in waves of
// equal size.
#ifndef EFFC_CODEGEN_NVPTX_WHOLEWAVES_H
#define EFFC_CODEGEN_NVPTX_WHOLEWAVES_H

#include "dialects/tile/Tile.h"

namespace effc::nvptx {

/// Of a kernel whose threads pass over a weight in registers, for a few rows; 0: the
/// assembler decides. It knows neither how many blocks a launch has nor that they wait
/// for memory.
///
/// As many as leave a core room for the blocks of a wave, in the fewest waves that threads
/// have registers enough for. So no wave is a few blocks that a whole launch waits for, and
/// where waves are small, more loads are under way.
int64_t registersOfWholeWaves(tile::KernelOp scheduled);

} // namespace effc::nvptx

#endif // EFFC_CODEGEN_NVPTX_WHOLEWAVES_H
