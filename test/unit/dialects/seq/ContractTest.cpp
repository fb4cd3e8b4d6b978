// The builder of seq.contract by letters.
#include "test/unit/dialects/seq/Program.h"

#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::test;

namespace {

class ContractTest : public testing::Test {
protected:
  // A contraction of values of the given shapes.
  ContractOp contract(ArrayRef<int64_t> lhs, StringRef lhsLetters,
                      ArrayRef<int64_t> rhs, StringRef rhsLetters,
                      StringRef outLetters) {
    OpBuilder builder(program.getModule().getBodyRegion());
    Type f32 = builder.getF32Type();
    auto function = func::FuncOp::create(
        builder, builder.getUnknownLoc(), "f",
        builder.getFunctionType(
            {RankedTensorType::get(lhs, f32), RankedTensorType::get(rhs, f32)},
            {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    auto op = ContractOp::create(
        builder, function.getLoc(), function.getArgument(0), lhsLetters,
        function.getArgument(1), rhsLetters, outLetters);
    func::ReturnOp::create(builder, function.getLoc());
    EXPECT_TRUE(succeeded(verify(program.getModule())))
        << program.getDiagnostics().str();
    return op;
  }

  AffineMap map(ArrayRef<unsigned> dims, unsigned space) {
    return AffineMap::getMultiDimMapWithTargets(space, dims,
                                                program.getContext());
  }

  Program program;
};

// The iteration space is (i, j, k): the letters of the result come first.
TEST_F(ContractTest, LettersGiveMapsAndResult) {
  ContractOp op = contract({7, 3}, "ik", {3, 5}, "kj", "ij");
  EXPECT_EQ(op.getOut().getType().getShape(), ArrayRef<int64_t>({7, 5}));
  EXPECT_EQ(op.getMaps()[0], map({0, 2}, 3));
  EXPECT_EQ(op.getMaps()[1], map({2, 1}, 3));
  EXPECT_EQ(op.getMaps()[2], map({0, 1}, 3));
}

TEST_F(ContractTest, DynamicTokensStayDynamic) {
  ContractOp op = contract({ShapedType::kDynamic, 6}, "th", {6}, "h", "th");
  EXPECT_EQ(op.getOut().getType().getShape(),
            ArrayRef<int64_t>({ShapedType::kDynamic, 6}));
}

} // namespace
