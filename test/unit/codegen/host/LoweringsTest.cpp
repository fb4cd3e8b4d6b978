// One op alone, lowered to the host's loops and vectors: what its operands stand
// for is put into the state by hand, and what it emits and leaves there is
// counted. A target without a record has vectors of 8 f32.
#include "codegen/host/Lowerings.h"

#include "dialects/storage/StorageDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <optional>

using namespace mlir;
using namespace effc;
using namespace effc::host;
using namespace effc::tile;

namespace {

class HostLoweringsTest : public testing::Test {
protected:
  HostLoweringsTest() {
    context.loadDialect<TileDialect, storage::StorageDialect,
                        arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                        vector::VectorDialect, LLVM::LLVMDialect>();
  }

  /// A state for a kernel with `body`, which may use %x and %y, 3 x 16 f32, %c0
  /// and %f0.
  KernelState &begin(StringRef body) {
    std::string text =
        "tile.kernel @k(%item, %x: !tile.view<3x16xf32, [16, 1]>, "
        "%y: !tile.view<3x16xf32, [16, 1]>) items(#tile.items<one, tile = 1, "
        "times = 1>) writes(1) {\n"
        "  %c0 = arith.constant 0 : index\n  %f0 = arith.constant 0.0 : f32\n" +
        body.str() + "}";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    kernel = *module->getOps<KernelOp>().begin();
    Type pointer = LLVM::LLVMPointerType::get(&context);
    Type i64 = IntegerType::get(&context, 64);
    OpBuilder b(&context);
    function = LLVM::LLVMFuncOp::create(
        b, kernel.getLoc(), "items",
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context),
                                    {pointer, pointer, i64, i64}));
    state.emplace(kernel, function->addEntryBlock(b));
    for (auto constant : kernel.getBody().getOps<arith::ConstantOp>())
      (void)lowerOp(constant, *state);
    before = count<Operation *>();
    return *state;
  }
  template <typename Op> Op op(int64_t number = 0) {
    auto ops = kernel.getBody().getOps<Op>();
    return *std::next(ops.begin(), number);
  }
  template <typename Op> int64_t count() {
    int64_t found = 0;
    function->walk([&](Op) { ++found; });
    return found;
  }
  /// Ops that were emitted since the beginning.
  int64_t emitted() { return count<Operation *>() - before; }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  KernelOp kernel;
  OwningOpRef<LLVM::LLVMFuncOp> function;
  std::optional<KernelState> state;
  int64_t before = 0;
};

TEST_F(HostLoweringsTest, ALoadIsAWindowWhereItIsUsed) {
  KernelState &s = begin(R"mlir(
    %t = tile.load %x[%c0, %c0] sizes [3, 16] : !tile.view<3x16xf32, [16, 1]>
        -> !tile.tile<3x16xf32, operand>
  )mlir");
  auto load = op<LoadOp>();
  lower(load, s);
  EXPECT_EQ(count<LLVM::StoreOp>(), 0);
  EXPECT_EQ(count<LLVM::AllocaOp>(), 0);
  EXPECT_EQ(s.places.lookup(load.getResult()).rowStride, 16);
  EXPECT_EQ(s.stackUsed, 0);
}

TEST_F(HostLoweringsTest, AScalarThatIsSpreadEmitsNothing) {
  KernelState &s =
      begin("%t = tile.splat %f0 : !tile.tile<3x16xf32, accumulator>\n");
  lower(op<SplatOp>(), s);
  EXPECT_EQ(emitted(), 0);
  EXPECT_TRUE(s.splats.contains(op<SplatOp>().getResult()));
}

TEST_F(HostLoweringsTest, AScanAddsOnceInALoop) {
  KernelState &s = begin(R"mlir(
    %t = tile.splat %f0 : !tile.tile<11xf32, column>
    %r = tile.scan %t : !tile.tile<11xf32, column>
  )mlir");
  lower(op<SplatOp>(), s);
  lower(op<ScanOp>(), s);
  EXPECT_EQ(count<arith::AddFOp>(), 1);
  // Two columns of 11, each in 16 f32 of the stack.
  EXPECT_EQ(s.stackUsed, 2 * 16 * 4);
}

TEST_F(HostLoweringsTest, AProductOfRowsHasAVectorForEachOfItsElements) {
  KernelState &s = begin(R"mlir(
    %acc = tile.splat %f0 : !tile.tile<2x3xf32, accumulator>
    %a = tile.load %x[%c0, %c0] sizes [2, 16] : !tile.view<3x16xf32, [16, 1]>
        -> !tile.tile<2x16xf32, operand>
    %b = tile.load %x[%c0, %c0] sizes [3, 16] : !tile.view<3x16xf32, [16, 1]>
        -> !tile.tile<3x16xf32, operand>
    %d = tile.dot %acc, %a, %b transpose_b : !tile.tile<2x3xf32, accumulator>,
        !tile.tile<2x16xf32, operand>, !tile.tile<3x16xf32, operand>
  )mlir");
  lower(op<SplatOp>(), s);
  lower(op<LoadOp>(0), s);
  lower(op<LoadOp>(1), s);
  EXPECT_TRUE(succeeded(lower(op<DotOp>(), s)));
  EXPECT_EQ(count<vector::FMAOp>(), 2 * 3);
  // Of 8 lanes: two vectors that hold four sums, one of them, and its halves; two sums
  // in one vector, its halves and theirs. Then two runs for each of two rows.
  EXPECT_EQ(count<arith::AddFOp>(), (2 + 1 + 1) + (1 + 1 + 1) + 2 * 2);
}

TEST_F(HostLoweringsTest, AProductOfDigitsNeedsPanels) {
  KernelState &s = begin(R"mlir(
    %acc = tile.splat %f0 : !tile.tile<2x3xf32, accumulator>
    %a = tile.splat %f0 : !tile.tile<2x16xf32, operand>
    %b = tile.splat %f0 : !tile.tile<3x16xf32, operand>
    %d = tile.dot %acc, %a, %b transpose_b rounded to !storage.digits<3> :
        !tile.tile<2x3xf32, accumulator>, !tile.tile<2x16xf32, operand>, !tile.tile<3x16xf32, operand>
  )mlir");
  for (int64_t i = 0; i < 3; ++i)
    lower(op<SplatOp>(i), s);
  std::string message;
  ScopedDiagnosticHandler handler(&context,
                                  [&](Diagnostic &d) { message = d.str(); });
  EXPECT_TRUE(failed(lower(op<DotOp>(), s)));
  EXPECT_EQ(message, "'tile.dot' op expects rows rounded to digits and a "
                     "matrix in panels on the host, but got "
                     "'!storage.digits<3>' and 'f32'");
}

TEST_F(HostLoweringsTest, AMapAndAStoreShareALoop) {
  KernelState &s = begin(R"mlir(
    %t = tile.load %x[%c0, %c0] sizes [3, 16] : !tile.view<3x16xf32, [16, 1]>
        -> !tile.tile<3x16xf32, operand>
    %u = tile.map(%t) : (!tile.tile<3x16xf32, operand>) -> !tile.tile<3x16xf32, operand> {
    ^bb0(%e: f32):
      %square = arith.mulf %e, %e : f32
      tile.yield %square : f32
    }
    tile.store %u, %y[%c0, %c0] sizes [3, 16]
        : !tile.tile<3x16xf32, operand>, !tile.view<3x16xf32, [16, 1]>
  )mlir");
  lower(op<LoadOp>(), s);
  joinGroup(s, op<MapOp>());
  joinGroup(s, op<StoreOp>());
  EXPECT_EQ(count<arith::MulFOp>(), 0);
  flushGroup(s);
  EXPECT_TRUE(s.group.empty());
  // What only the store reads is never in memory.
  EXPECT_EQ(s.stackUsed, 0);
  // Each run of columns has one loop over the rows, and each op once in it.
  ColumnBlocks runs = ColumnBlocks::cut(16, s.memory.shape);
  EXPECT_EQ(runs.mainCount, 0);
  auto loops = static_cast<int64_t>(runs.rest.size());
  EXPECT_EQ(count<scf::ForOp>(), loops);
  EXPECT_EQ(count<arith::MulFOp>(), loops);
}

} // namespace
