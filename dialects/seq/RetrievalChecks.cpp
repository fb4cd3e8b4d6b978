#include "dialects/seq/RetrievalChecks.h"

#include "mlir/IR/Diagnostics.h"

#include <cmath>

using namespace mlir;

namespace effc::seq {

LogicalResult verifyProductKeys(Operation *op, int64_t keys, int64_t topK) {
  // The largest number whose square an i32 holds.
  constexpr int64_t kMostKeys = 46340;
  if (keys > kMostKeys)
    return op->emitOpError()
           << "expects an S of at most " << kMostKeys
           << ", so that numbers of rows are i32, but got " << keys;
  if (topK < 1 || topK > keys * keys)
    return op->emitOpError()
           << "expects 'top_k' from 1 to S * S = " << keys * keys
           << ", but got " << topK;
  return success();
}

LogicalResult verifyReachable(Operation *op, StringRef name, int64_t rows,
                              int64_t keys) {
  if (rows >= keys * keys)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError()
                                  << "expects '" << name
                                  << "' with at least S * S = " << keys * keys
                                  << " rows, but got " << rows;
  diagnostic.attachNote() << "of a number of rows that is no square, only "
                          << "those up to the next lower square, "
                          << static_cast<int64_t>(std::sqrt(double(rows)))
                          << " keys on each axis, can be reached";
  return diagnostic;
}

} // namespace effc::seq
