#include "dialects/seq/BodyLength.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

LogicalResult effc::seq::verifyBodyLength(Operation *op, Block &body) {
  size_t ops = llvm::range_size(body.without_terminator());
  if (ops <= kMostBodyOps)
    return success();
  return op->emitOpError() << "expects a body of at most " << kMostBodyOps
                           << " ops, but got " << ops;
}
