// What the reference rounds as a GPU's products do.
#include "compiler/Reference.h"
#include "test/unit/compiler/StoredCheckpoint.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;

namespace {

const std::vector<int32_t> kTokens = {3, 17, 29, 5, 3, 41};

std::vector<double> logitsOf(const StoredModel &model,
                             const ReferenceRequest &request) {
  return llvm::cantFail(evaluateReference(model, kTokens, request));
}

/// The largest difference, relative to the largest number.
double distance(llvm::ArrayRef<double> found, llvm::ArrayRef<double> expected) {
  double difference = 0, magnitude = 0;
  for (auto [a, b] : llvm::zip_equal(found, expected)) {
    difference = std::fmax(difference, std::fabs(a - b));
    magnitude = std::fmax(magnitude, std::fabs(b));
  }
  return difference / magnitude;
}

} // namespace

// Values, keys and queries, gates and what norms read. Of f16 nothing is handed on so.
TEST(ReferenceRounding, RoundsWhatKernelsHandOn) {
  for (const char *golden : {"mamba2/f32_plain", "families/gla/plain"}) {
    SCOPED_TRACE(golden);
    StoredCheckpoint checkpoint(std::string(EFFC_GOLDENS "/") + golden);
    std::vector<double> exact = logitsOf(checkpoint.get(), {});
    ReferenceRequest request = {.rows = Products::BF16, .ofGpu = true};
    std::vector<double> rows = logitsOf(checkpoint.get(), request);
    request.narrowResults = true;
    std::vector<double> results = logitsOf(checkpoint.get(), request);
    EXPECT_GT(distance(rows, exact), 1e-4);
    EXPECT_GT(distance(results, rows), 1e-4);
    EXPECT_LT(distance(results, exact), 0.1);

    request.rows = Products::F16;
    std::vector<double> half = logitsOf(checkpoint.get(), request);
    request.narrowResults = false;
    EXPECT_EQ(half, logitsOf(checkpoint.get(), request));
  }
}
