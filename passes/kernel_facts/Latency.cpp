#include "passes/kernel_facts/Latency.h"

using namespace mlir;
using namespace effc;

double effc::latencyOf(double terms, int64_t barriers, mlir::Type roundedTo) {
  double products = !roundedTo ? 6 : roundedTo.isTF32() ? 2 : 1;
  return kMemoryCycles + double(barriers) * kBarrierCycles +
         terms / 16 * products * kProductCycles;
}

double effc::chunkLatency(int64_t readers, int64_t keys, int64_t chunk,
                          mlir::Type roundedTo) {
  return latencyOf(double((1 + readers) * (keys + chunk)), /*barriers=*/10,
                   roundedTo);
}
