// Registration of the tile dialect and the verifiers of its attributes.
#include "dialects/tile/Tile.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace effc::tile;

#include "dialects/tile/TileDialect.cpp.inc"
#include "dialects/tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tile/TileAttributes.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/tile/TileAttributes.cpp.inc"
      >();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialects/tile/TileOps.cpp.inc"
      >();
}

LogicalResult ItemsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                Count count, int64_t tile, int64_t times) {
  if (tile < 1 || times < 1) // items1
    return emitError() << "expects 'tile' and 'times' of at least 1, but got "
                       << tile << " and " << times;
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t threads, int64_t sharedBytes) {
  if (threads < 32 || threads > 1024 || threads % 32 != 0) // schedule1
    return emitError()
           << "expects 'threads' to be a multiple of 32 in 32..1024, but got "
           << threads;
  if (sharedBytes < 0) // schedule2
    return emitError() << "expects 'shared_bytes' of at least 0, but got "
                       << sharedBytes;
  return success();
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t threads, int64_t lanes,
                                 int64_t vector) {
  if (threads < 1 || lanes < 1 || vector < 1) // lin1
    return emitError()
           << "expects positive 'threads', 'lanes' and 'vector', but got "
           << threads << ", " << lanes << " and " << vector;
  if (threads % lanes != 0) // lin2
    return emitError()
           << "expects 'threads' to be a multiple of 'lanes', but got "
           << threads << " and " << lanes;
  return success();
}
