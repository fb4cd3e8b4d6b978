#include "codegen/host/VectorShape.h"

#include "dialects/tile/Tile.h"
#include "runtime/abi/HostIsas.h"

using namespace effc;
using namespace effc::host;

VectorShape VectorShape::of(mlir::Operation *op) {
  if (tile::TargetAttr target = tile::getTarget(op))
    return {target.getVector(), target.getRegisters()};
  const rt::HostIsa &isa = rt::baselineIsa();
  return {isa.lanes, isa.registers};
}
