// What each product unit answers, against the PTX ISA: shapes of mma.sync
// m16n8k16 and of wgmma.mma_async m64nNk16, N a multiple of 8 up to 256, and
// the 128-byte swizzling mode of matrix descriptors.
#include "dialects/tile/units/Units.h"

#include "dialects/tile/Distribution.h"
#include "test/unit/passes/tile/KernelText.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace effc::tile;

namespace {

class ProductUnitsTest : public testing::Test {
protected:
  ProductUnitsTest() {
    context.loadDialect<TileDialect>();
    warps = getMmaSync(&context);
    groups = getWgmma(&context);
  }

  Type f32() { return Float32Type::get(&context); }
  Type f16() { return Float16Type::get(&context); }
  Type bf16() { return BFloat16Type::get(&context); }
  Type tf32() { return FloatTF32Type::get(&context); }
  /// 128 x 192 times 192 x 64 with a B of bf16, given as columns in depth.
  DotShape shape() {
    return {/*rows=*/128,        /*columns=*/64, /*depth=*/192,
            /*transposeB=*/true, /*b=*/bf16(),   /*roundedTo=*/bf16(),
            /*copiesB=*/false};
  }
  TargetAttr target(StringRef text) {
    return cast<TargetAttr>(parseAttribute(
        ("#tile.target<nvptx, " + text +
         "block = <threads = 32, shared_bytes = 0>, core = <registers = 1, "
         "memory = 0, barrier = 0, product = 0, launch = 0, schedulers = 4>, "
         "vector = 32, registers = 255, step_rate = 1, dot_rate = 1, "
         "cores = 1, bandwidth = 140, rereads = 12>")
            .str(),
        &context));
  }

  MLIRContext context;
  ProductUnit warps, groups;
};

TEST_F(ProductUnitsTest, MultiplyByTypesOfB) {
  EXPECT_TRUE(groups.multiplies(bf16(), {}));
  EXPECT_TRUE(groups.multiplies(bf16(), tf32()));
  EXPECT_FALSE(groups.multiplies(f32(), {}));
  EXPECT_FALSE(groups.multiplies(f16(), bf16()));
  EXPECT_TRUE(groups.multiplies(f16(), f16()));
  EXPECT_FALSE(groups.multiplies(bf16(), f16()));
  EXPECT_TRUE(warps.multiplies(f32(), {}));
  EXPECT_TRUE(warps.multiplies(f16(), tf32()));
}

TEST_F(ProductUnitsTest, WarpGroupsFormWholePiecesAlone) {
  const int64_t all = 4;
  EXPECT_TRUE(groups.canForm(shape(), all, all));
  DotShape other = shape();
  other.rows = 96; // 64 rows are whole, and 32 are left
  EXPECT_FALSE(groups.canForm(other, all, all));
  other = shape();
  other.columns = 264;
  EXPECT_FALSE(groups.canForm(other, all, all));
  other.columns = 256;
  EXPECT_TRUE(groups.canForm(other, all, all));
  other = shape();
  other.depth = 160; // rows of B are panels of 64
  EXPECT_FALSE(groups.canForm(other, all, all));
  // Two warps along the columns are no group, two groups along them are.
  EXPECT_FALSE(groups.canForm(shape(), 4, 2));
  EXPECT_TRUE(groups.canForm(shape(), 8, 4));
  EXPECT_TRUE(warps.canForm(other, 4, 2));
}

TEST_F(ProductUnitsTest, WarpGroupsTakeBAcrossByOneGroupAlong) {
  DotShape across = shape();
  across.transposeB = false;
  EXPECT_TRUE(groups.canForm(across, 4, 4));
  EXPECT_FALSE(groups.canForm(across, 8, 4));
  across.depth = 24;
  EXPECT_FALSE(groups.canForm(across, 4, 4));
}

TEST_F(ProductUnitsTest, ACopyOfBBringsOnePanel) {
  DotShape copied = shape();
  copied.copiesB = true;
  EXPECT_FALSE(groups.canForm(copied, 4, 4));
  copied.depth = 64;
  EXPECT_TRUE(groups.canForm(copied, 4, 4));
}

TEST_F(ProductUnitsTest, OwnRowsAreThoseThatDescriptorsSay) {
  std::optional<SharedRows> rows = groups.getOwnRows(f16());
  ASSERT_TRUE(rows.has_value());
  EXPECT_TRUE(rows->swizzled);
  EXPECT_EQ(rows->stride * 16, 128 * 8); // bits
  EXPECT_FALSE(groups.getOwnRows(f32()).has_value());
  EXPECT_FALSE(warps.getOwnRows(f16()).has_value());
  EXPECT_TRUE(groups.readsOwnRows(DotOperand::B, /*transposed=*/false));
  EXPECT_TRUE(groups.readsOwnRows(DotOperand::A, /*transposed=*/true));
  EXPECT_FALSE(groups.readsOwnRows(DotOperand::A, /*transposed=*/false));
}

TEST_F(ProductUnitsTest, EachTakesRowsOfItsOwn) {
  for (bool swizzled : {false, true}) {
    auto layout = SharedAttr::get(&context, /*threads=*/128, /*offset=*/0,
                                  /*stride=*/swizzled ? kSwizzledRow : 72,
                                  /*slots=*/1, swizzled);
    EXPECT_EQ(groups.takesB(layout), swizzled);
    EXPECT_EQ(warps.takesB(layout), !swizzled);
    EXPECT_TRUE(groups.takesA(layout, /*transposed=*/true));
    EXPECT_EQ(groups.takesA(layout, /*transposed=*/false), !swizzled);
    EXPECT_EQ(warps.takesA(layout, /*transposed=*/true), !swizzled);
  }
}

TEST_F(ProductUnitsTest, ProductsNameThem) {
  test::KernelText text(128, R"mlir(
    %acc = tile.splat %f0 : !tile.tile<64x16xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
    %a = tile.splat %f0 : !tile.tile<64x64xf32, operand, #tile.mma<threads = 128, row_warps = 4>>
    %b = tile.load %w[%c0, %c0] sizes [16, 64] : !tile.view<16x64xbf16, [64, 1]>
        -> !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, offset = 0, stride = 72>>
    %d = tile.dot %acc, %a, %b transpose_b : !tile.tile<64x16xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>,
        !tile.tile<64x64xf32, operand, #tile.mma<threads = 128, row_warps = 4>>,
        !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, offset = 0, stride = 72>>
  )mlir");
  auto dot = text.op<DotOp>();
  MLIRContext *own = dot.getContext();
  EXPECT_EQ(productUnitOf(dot), getMmaSync(own));
  setProductUnit(dot, getWgmma(own));
  EXPECT_EQ(productUnitOf(dot), getWgmma(own));
  EXPECT_EQ(dot.getUnitAttr(), getWgmma(own));
  // A product of single warps names none.
  setProductUnit(dot, getMmaSync(own));
  EXPECT_FALSE(dot.getUnitAttr());
  EXPECT_EQ(productUnitOf(dot), getMmaSync(own));
}

// What lies in the group's own rows may be read beside the threads, loaded or from a ring,
// whoever reads it; the rows of a warp's product may not.
TEST_F(ProductUnitsTest, ProductsOfAKernelSayWhatIsReadBesideThreads) {
  test::KernelText text(128, R"mlir(
    %acc = tile.splat %f0 : !tile.tile<64x16xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
    %a = tile.splat %f0 : !tile.tile<64x64xf32, operand, #tile.mma<threads = 128, row_warps = 4>>
    %loaded = tile.load %w[%c0, %c0] sizes [16, 64] : !tile.view<16x64xbf16, [64, 1]>
        -> !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64>>
    %plain = tile.load %w[%c0, %c0] sizes [16, 64] : !tile.view<16x64xbf16, [64, 1]>
        -> !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, offset = 2048, stride = 72>>
    %idle = tile.load %w[%c0, %c0] sizes [16, 64] : !tile.view<16x64xbf16, [64, 1]>
        -> !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 8192, stride = 64>>
    %ring = tile.ring : !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 16384, stride = 64, slots = 2>>
    %arrived = tile.await %ring[%c0] pending 0
        : (!tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 16384, stride = 64, slots = 2>>)
          -> !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 16384, stride = 64>>
    %d = tile.dot %acc, %a, %loaded transpose_b by(#tile.wgmma)
        : !tile.tile<64x16xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>,
          !tile.tile<64x64xf32, operand, #tile.mma<threads = 128, row_warps = 4>>,
          !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64>>
    %e = tile.dot %d, %a, %arrived transpose_b by(#tile.wgmma)
        : !tile.tile<64x16xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>,
          !tile.tile<64x64xf32, operand, #tile.mma<threads = 128, row_warps = 4>>,
          !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 16384, stride = 64>>
    %f = tile.dot %e, %a, %plain transpose_b
        : !tile.tile<64x16xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>,
          !tile.tile<64x64xf32, operand, #tile.mma<threads = 128, row_warps = 4>>,
          !tile.tile<16x64xbf16, operand, #tile.shared<threads = 128, offset = 2048, stride = 72>>
  )mlir");
  EXPECT_TRUE(mayBeReadBesideThreads(text.op<LoadOp>(0).getResult()));
  EXPECT_FALSE(mayBeReadBesideThreads(text.op<LoadOp>(1).getResult()));
  EXPECT_TRUE(mayBeReadBesideThreads(text.op<LoadOp>(2).getResult()));
  EXPECT_TRUE(mayBeReadBesideThreads(text.op<RingOp>().getResult()));
  EXPECT_TRUE(mayBeReadBesideThreads(text.op<AwaitOp>().getResult(0)));
}

TEST_F(ProductUnitsTest, OfferTilesThatTheyCanForm) {
  for (bool isExact : {false, true})
    for (DotTile tile : groups.getTiles(isExact)) {
      DotShape whole = shape();
      whole.rows = tile.rows;
      whole.columns = tile.columns;
      EXPECT_TRUE(groups.canForm(whole, 4, 4));
      EXPECT_GT(tile.stepCycles, 0);
    }
  EXPECT_EQ(groups.getTiles(/*isExact=*/false).size(), 4u);
  EXPECT_EQ(groups.getTiles(/*isExact=*/true).size(), 2u);
}

TEST_F(ProductUnitsTest, TargetsSayWhichAreUsed) {
  auto used = [&](TargetAttr target) { return usableUnits(target, &context); };
  EXPECT_EQ(used({}), SmallVector<ProductUnit>{warps});
  EXPECT_EQ(used(target("")), SmallVector<ProductUnit>{warps});
  EXPECT_EQ(used(target("units = [#tile.wgmma, #tile.mma_sync], ")),
            (SmallVector<ProductUnit>{groups, warps}));
  // Groups of warps add in an order of their own.
  EXPECT_EQ(used(target("bit_stable = true, "
                        "units = [#tile.wgmma, #tile.mma_sync], ")),
            SmallVector<ProductUnit>{warps});
}

} // namespace
