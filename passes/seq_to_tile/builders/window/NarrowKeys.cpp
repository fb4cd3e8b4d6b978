// Keys and values of a call, which its states will have in 16 bits.
#include "passes/seq_to_tile/ScalarCode.h"
#include "passes/seq_to_tile/builders/window/Window.h"

using namespace mlir;
using namespace effc;

Value WindowKernel::asKept(Value rows, Value state) {
  Type stored = k.getContext().storedAs(state);
  if (k.isGpu() || !stored || stored.isF32())
    return rows;
  return k.map(cast<tile::TileType>(rows.getType()), {rows},
               [&](OpBuilder &builder, ValueRange e) {
                 return emitRounded(builder, k.loc(), e[0], stored);
               });
}
