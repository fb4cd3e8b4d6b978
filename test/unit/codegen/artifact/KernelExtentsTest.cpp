// What kernels reach of their operands is noted from their views, and found
// again by their names.
#include "codegen/artifact/KernelExtents.h"

#include "dialects/plan/SegmentRecord.h"
#include "dialects/tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::codegen;

namespace {
class KernelExtents : public testing::Test {
protected:
  KernelExtents() {
    context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect>();
  }
  /// The kernel "k" of a module with the given operands.
  artifact::KernelT record(const std::string &operands,
                           const std::string &more) {
    std::string text = "tile.kernel @k(%item, " + operands +
                       ") items(#tile.items<rows, tile = 3, times = 2>) " +
                       more + " {\n}\n";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    artifact::KernelT kernel;
    kernel.name = "k";
    if (module) {
      recordExtents(*module);
      fillExtents(*module, kernel);
    }
    return kernel;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
} // namespace

static void expectExtent(const artifact::OperandExtent *extent, uint64_t stride,
                         uint64_t bytes, uint32_t alignment) {
  EXPECT_EQ(extent->stride(), stride);
  EXPECT_EQ(extent->bytes(), bytes);
  EXPECT_EQ(extent->alignment(), alignment);
}

// Rows that a call counts begin `stride` apart, and of one row the last element
// is that of index (4, 11): 4 * 12 + 11, 60 elements of 4 bytes in all.
TEST_F(KernelExtents, AreThoseOfARowWhereACallCountsRows) {
  artifact::KernelT kernel =
      record("%s: !tile.view<?x5x12xf32, [64, 12, 1]>", "writes(0)");
  ASSERT_EQ(kernel.extents.size(), 1u);
  expectExtent(&kernel.extents[0], 64 * 4, 60 * 4, 4);
  ASSERT_TRUE(kernel.items);
  EXPECT_EQ(kernel.items->tile(), 3u);
  EXPECT_EQ(kernel.items->times(), 2u);
}

// A matrix of 7 rows of 9 bf16 that begin 16 apart ends 6 * 16 + 9 elements on.
TEST_F(KernelExtents, AreAWholeViewWhereNothingIsCounted) {
  artifact::KernelT kernel = record(
      "%s: !tile.view<?x3xf32, [3, 1]>, %w: !tile.view<7x9xbf16, [16, 1]>",
      "writes(0)");
  ASSERT_EQ(kernel.extents.size(), 2u);
  expectExtent(&kernel.extents[0], 12, 12, 4);
  expectExtent(&kernel.extents[1], 0, 105 * 2, 2);
}

TEST_F(KernelExtents, SayWhichOperandsAreAligned) {
  artifact::KernelT kernel = record(
      "%s: !tile.view<?x3xf32, [3, 1]>, %w: !tile.view<7x9xbf16, [16, 1]>",
      "writes(0) aligned(1)");
  ASSERT_EQ(kernel.extents.size(), 2u);
  EXPECT_EQ(kernel.extents[0].alignment(), 4u);
  EXPECT_EQ(kernel.extents[1].alignment(), 64u);
}

TEST_F(KernelExtents, AreUnknownOfAKernelThatWasNotThere) {
  record("%s: !tile.view<?x3xf32, [3, 1]>", "writes(0)");
  artifact::KernelT other;
  other.name = "other";
  fillExtents(*module, other);
  EXPECT_FALSE(other.items);
  EXPECT_TRUE(other.extents.empty());
}
