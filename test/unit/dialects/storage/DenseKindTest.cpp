// The table of dense kinds against what MLIR says of their types, and types that
// nobody knows.
#include "dialects/storage/DenseKind.h"
#include "dialects/storage/Storage.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/APFloat.h"
#include <gtest/gtest.h>

using namespace effc::storage;

namespace {

class DenseKindTest : public testing::Test {
protected:
  /// In the order of the enumeration.
  std::vector<mlir::Type> types() {
    return {mlir::Float32Type::get(&context), mlir::BFloat16Type::get(&context),
            mlir::Float16Type::get(&context), integer(32), integer(64)};
  }
  mlir::Type integer(unsigned width) {
    return mlir::IntegerType::get(&context, width);
  }

  mlir::MLIRContext context;
};

TEST_F(DenseKindTest, SaysWhatMlirSays) {
  for (auto [i, type] : llvm::enumerate(types())) {
    auto kind = DenseKind(i);
    std::string name;
    llvm::raw_string_ostream(name) << type;
    EXPECT_EQ(denseKindOf(type), kind) << name;
    EXPECT_EQ(nameOf(kind), name);
    EXPECT_EQ(Storage::get(type).name(), name);
    EXPECT_EQ(denseKindNamed(name), kind);
    EXPECT_EQ(bytesOf(kind) * 8, type.getIntOrFloatBitWidth()) << name;
    if (auto floating = llvm::dyn_cast<mlir::FloatType>(type)) {
      EXPECT_EQ(largestOf(kind),
                llvm::APFloat::getLargest(floating.getFloatSemantics())
                    .convertToDouble())
          << name;
    }
  }
}

TEST_F(DenseKindTest, KnowsNoOthers) {
  mlir::Type strangers[] = {
      {},
      mlir::Float64Type::get(&context),
      mlir::FloatTF32Type::get(&context),
      mlir::Float8E4M3FNType::get(&context),
      integer(16),
      mlir::IntegerType::get(&context, 32, mlir::IntegerType::Unsigned)};
  for (mlir::Type type : strangers) {
    EXPECT_FALSE(denseKindOf(type));
    EXPECT_FALSE(Storage::of(type));
  }
  EXPECT_FALSE(denseKindNamed("q8_0"));
  EXPECT_FALSE(denseKindNamed("F32"));
}

using DenseKindDeathTest = DenseKindTest;

TEST_F(DenseKindDeathTest, EndsWhereATypeIsUnknown) {
  EXPECT_DEATH(getDenseKind(mlir::Float8E5M2Type::get(&context)),
               "numbers have bytes of their own, but got f8E5M2");
  uint8_t bytes[8] = {};
  EXPECT_DEATH(Storage::get(integer(64)).number(bytes, 0),
               "integers are not read as f32");
}

} // namespace
