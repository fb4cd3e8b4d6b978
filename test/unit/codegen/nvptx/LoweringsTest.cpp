// One op alone, lowered to the code of one thread: what its operands stand for
// is put into the state by hand, and what it emits and leaves there is counted.
// Counts are those that the PTX ISA's shapes give: mma.sync m16n8k16 (k8 for
// tf32), wgmma m64nNk16, and how many bf16 are an f32 (three) or an f16 (two).
#include "codegen/nvptx/Lowerings.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "test/unit/passes/tile/KernelText.h"

#include <optional>

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::tile;

namespace {

class LoweringsTest : public testing::Test {
protected:
  /// A state for a kernel with `body` over `threads`.
  ThreadState &begin(int64_t threads, StringRef body) {
    text.emplace(threads, body);
    KernelOp kernel = text->get();
    MLIRContext *context = kernel.getContext();
    context->loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect,
                         math::MathDialect, scf::SCFDialect>();
    SmallVector<Type> parameters(kernel.getOperandArguments().size(),
                                 LLVM::LLVMPointerType::get(context, 1));
    parameters.append(3, IntegerType::get(context, 64)); // the counts
    OpBuilder b(context);
    function = LLVM::LLVMFuncOp::create(
        b, kernel.getLoc(), "thread",
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                    parameters));
    state.emplace(kernel, function->addEntryBlock(b), "memory",
                  /*overlapsLaunches=*/false);
    for (auto index : kernel.getBody().getOps<arith::ConstantOp>())
      (void)lowerOp(*index, *state);
    return *state;
  }
  /// Says that each thread holds `count` zeros of a tile.
  void hold(Value tile, size_t count) {
    state->tiles[tile].assign(count, state->f32(0));
  }
  template <typename Op> int64_t count() {
    int64_t found = 0;
    function->walk([&](Op) { ++found; });
    return found;
  }
  int64_t countLoads(Type type) {
    int64_t found = 0;
    function->walk([&](LLVM::LoadOp load) { found += load.getType() == type; });
    return found;
  }

  // The state goes before the code, and both before the context.
  std::optional<test::KernelText> text;
  OwningOpRef<LLVM::LLVMFuncOp> function;
  std::optional<ThreadState> state;
};

/// A product of 16 x 16 by 16 x 8 in shared memory, by one warp.
std::string warpProduct(StringRef a, StringRef b, StringRef how = "") {
  auto tile = [](StringRef shape, StringRef type, int64_t offset) {
    return ("!tile.tile<" + shape + "x" + type +
            ", operand, #tile.shared<threads = 32, offset = " +
            std::to_string(offset) + ", stride = 24>>")
        .str();
  };
  std::string acc = "!tile.tile<16x8xf32, accumulator, #tile.mma<threads = 32, "
                    "row_warps = 1>>";
  std::string ofA = tile("16x16", a, 0), ofB = tile("8x16", b, 4096);
  return "%acc = tile.splat %f0 : " + acc + "\n" +
         "%a = tile.load %w[%c0, %c0] sizes [16, 16] : "
         "!tile.view<16x64xbf16, [64, 1]> -> " +
         ofA + "\n" +
         "%b = tile.load %w[%c0, %c0] sizes [8, 16] : "
         "!tile.view<16x64xbf16, [64, 1]> -> " +
         ofB + "\n" + "%d = tile.dot %acc, %a, %b transpose_b " + how.str() +
         " : " + acc + ", " + ofA + ", " + ofB + "\n";
}

struct WarpProductCase {
  const char *a, *b, *how;
  int64_t products, matrices; // mma.sync, ldmatrix
};

class WarpProductTest : public LoweringsTest,
                        public testing::WithParamInterface<WarpProductCase> {};

TEST_P(WarpProductTest, FormsThoseOfTheParts) {
  const WarpProductCase &c = GetParam();
  ThreadState &t = begin(32, warpProduct(c.a, c.b, c.how));
  auto dot = text->op<DotOp>();
  hold(dot.getAcc(), 4);
  lower(dot, t);
  EXPECT_EQ(count<NVVM::MmaOp>(), c.products);
  EXPECT_EQ(count<NVVM::LdMatrixOp>(), c.matrices);
  EXPECT_EQ(count<WarpGroupDotOp>(), 0);
  EXPECT_EQ(t.tiles.lookup(dot.getResult()).size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(
    Types, WarpProductTest,
    testing::Values(
        // Of three parts by three those above 2^-23 of a term.
        WarpProductCase{"f32", "f32", "", 6, 0},
        WarpProductCase{"f32", "bf16", "", 3, 1},
        WarpProductCase{"f16", "f16", "", 4, 2},
        WarpProductCase{"bf16", "bf16", "", 1, 2},
        WarpProductCase{"f32", "f32", "rounded to bf16", 1, 0},
        WarpProductCase{"f16", "f16", "rounded to f16", 1, 2},
        WarpProductCase{"f32", "f32", "rounded to tf32", 2, 0}));

TEST_F(LoweringsTest, AProductOfAWarpGroupIsStartedFencedAndAwaited) {
  // 64 x 64 of f32 by 64 x 32: four times 16 deep, three parts of A each.
  ThreadState &t = begin(128, R"mlir(
    %acc = tile.splat %f0 : !tile.tile<64x32xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>
    %a = tile.splat %f0 : !tile.tile<64x64xf32, operand, #tile.mma<threads = 128, row_warps = 4>>
    %b = tile.load %w[%c0, %c0] sizes [32, 64] : !tile.view<16x64xbf16, [64, 1]>
        -> !tile.tile<32x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64>>
    %d = tile.dot %acc, %a, %b transpose_b by(#tile.wgmma) : !tile.tile<64x32xf32, accumulator, #tile.mma<threads = 128, row_warps = 4>>,
        !tile.tile<64x64xf32, operand, #tile.mma<threads = 128, row_warps = 4>>,
        !tile.tile<32x64xbf16, operand, #tile.shared<threads = 128, swizzled = true, offset = 0, stride = 64>>
  )mlir");
  auto dot = text->op<DotOp>();
  hold(dot.getAcc(), 64 * 32 / 128);
  hold(dot.getA(), 64 * 64 / 128);
  lower(dot, t);
  EXPECT_EQ(count<WarpGroupDotOp>(), 4 * 3);
  EXPECT_EQ(count<WarpGroupFenceOp>(), 4);
  EXPECT_EQ(count<NVVM::WgmmaGroupSyncAlignedOp>(), 1);
  EXPECT_EQ(count<NVVM::MmaOp>(), 0);
  // It runs until its block finishes it.
  EXPECT_EQ(count<WarpGroupWaitOp>(), 0);
  EXPECT_EQ(t.underWay.block, dot->getBlock());
  t.underWay.finish();
  EXPECT_EQ(count<WarpGroupWaitOp>(), 1);
  EXPECT_EQ(t.tiles.lookup(dot.getResult()).size(), 16u);
}

TEST_F(LoweringsTest, ALoadLeavesWhatTheThreadHolds) {
  // Eight rows of 16: a lane has a run of four columns of one row.
  ThreadState &t = begin(32, R"mlir(
    %x = tile.load %w[%c0, %c0] sizes [8, 16] : !tile.view<16x64xbf16, [64, 1]>
        -> !tile.tile<8x16xf32, operand, #tile.lin<threads = 32, lanes = 4, vector = 4>>
  )mlir");
  auto load = text->op<LoadOp>();
  lower(load, t);
  EXPECT_EQ(t.tiles.lookup(load.getResult()).size(), 4u);
  EXPECT_EQ(count<LLVM::LoadOp>(), 1);
  EXPECT_EQ(countLoads(VectorType::get({4}, t.b.getI16Type())), 1);
}

TEST_F(LoweringsTest, AMapComputesEachElementThatIsHeld) {
  ThreadState &t = begin(32, R"mlir(
    %x = tile.splat %f0 : !tile.tile<8x24xf32, operand, #tile.lin<threads = 32, lanes = 4, vector = 2>>
    %y = tile.map(%x) : (!tile.tile<8x24xf32, operand, #tile.lin<threads = 32, lanes = 4, vector = 2>>)
        -> !tile.tile<8x24xf32, operand, #tile.lin<threads = 32, lanes = 4, vector = 2>> {
    ^bb0(%e: f32):
      %square = arith.mulf %e, %e : f32
      tile.yield %square : f32
    }
  )mlir");
  auto map = text->op<MapOp>();
  hold(map.getInputs()[0], 6);
  lower(map, t);
  EXPECT_EQ(count<arith::MulFOp>(), 6);
  EXPECT_EQ(t.tiles.lookup(map.getResult()).size(), 6u);
}

TEST_F(LoweringsTest, RunsOfARowAreAddedUpOneAfterAnother) {
  // Of 6 x 64, 8 threads along the rows and 4 lanes: a row of two runs of 8 each, whose
  // 16 products go into two sums of each run.
  ThreadState &t = begin(32, R"mlir(
    %acc = tile.splat %f0 : !tile.tile<6x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 2>>
    %tile = tile.splat %f0 : !tile.tile<6x64xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 8>>
    %row = tile.splat %f0 : !tile.tile<64xf32, row, #tile.lin<threads = 32, lanes = 4, vector = 8>>
    %d = tile.dot_runs %acc, %tile, %row : !tile.tile<6x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 2>>,
        !tile.tile<6x64xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 8>>,
        !tile.tile<64xf32, row, #tile.lin<threads = 32, lanes = 4, vector = 8>>
  )mlir");
  auto dot = text->op<DotRunsOp>();
  hold(dot.getAcc(), 4);
  hold(dot.getTile(), 16);
  hold(dot.getRow(), 16);
  lower(dot, t);
  EXPECT_EQ(count<math::FmaOp>(), 16);
  const Elements &sums = t.tiles.lookup(dot.getResult());
  ASSERT_EQ(sums.size(), 4u);
  for (Value sum : sums) {
    int64_t terms = 0;
    for (auto fma = sum.getDefiningOp<math::FmaOp>(); fma;
         fma = fma.getC().getDefiningOp<math::FmaOp>())
      ++terms;
    EXPECT_EQ(terms, 4);
  }
}

TEST_F(LoweringsTest, AnOpIsLoweredByItsKindOrRefused) {
  ThreadState &t = begin(32, R"mlir(
    tile.barrier
    %y = arith.addf %f0, %f0 : f32
  )mlir");
  EXPECT_TRUE(succeeded(lowerOp(*text->op<BarrierOp>(), t)));
  EXPECT_EQ(count<NVVM::Barrier0Op>(), 1);
  EXPECT_TRUE(succeeded(lowerOp(*text->op<arith::AddFOp>(), t)));
  EXPECT_EQ(count<arith::AddFOp>(), 1);
  std::string message;
  ScopedDiagnosticHandler handler(t.b.getContext(),
                                  [&](Diagnostic &d) { message = d.str(); });
  EXPECT_TRUE(failed(lowerOp(*text->get(), t)));
  EXPECT_EQ(message, "'tile.kernel' op has no lowering to a GPU thread");
}

TEST_F(LoweringsTest, ABranchWithTwoSidesIsRefused) {
  ThreadState &t = begin(32, "");
  Value condition = arith::ConstantOp::create(t.b, t.b.getBoolAttr(true));
  auto branch = scf::IfOp::create(t.b, condition, /*withElseRegion=*/true);
  std::string message;
  ScopedDiagnosticHandler handler(t.b.getContext(),
                                  [&](Diagnostic &d) { message = d.str(); });
  EXPECT_TRUE(failed(lower(branch, t)));
  EXPECT_EQ(message, "'scf.if' op with an else region has no lowering to a GPU "
                     "thread");
}

} // namespace
