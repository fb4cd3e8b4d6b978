// Rows by several threads are those that one gives, row by row.
#include "codegen/artifact/RowThreads.h"

#include "dialects/storage/Formats.h"

#include "mlir/IR/Builders.h"
#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace effc;
using namespace effc::codegen;

namespace {

class RowThreads : public testing::Test {
protected:
  RowThreads() : builder(&context) {
    context.loadDialect<seq::SeqDialect>();
    module = mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
  }
  /// Rows of `numbers`, drawn once, as `type`.
  WeightRows rowsOf(llvm::StringRef type, bool panels, bool transposed) {
    auto weight = seq::WeightOp::create(
        builder, builder.getUnknownLoc(), "w", "t",
        mlir::RankedTensorType::get({kRows, kColumns},
                                    storage::formatOf(type, &context)),
        /*further=*/nullptr, /*stored=*/nullptr, /*rows=*/nullptr,
        /*derived=*/nullptr, transposed, /*computed=*/nullptr);
    weight.setPanels(panels);
    if (transposed)
      std::swap(shape[0], shape[1]);
    return llvm::cantFail(WeightRows::create(
        weight, {storage::Storage::get(builder.getF32Type()),
                 shape,
                 {reinterpret_cast<const uint8_t *>(numbers.data()),
                  numbers.size() * sizeof(float)}}));
  }
  static std::vector<float> draw() {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> drawn(kRows * kColumns);
    for (float &number : drawn)
      number = normal(random);
    return drawn;
  }

  // 31 panels, the last of 3 rows, and more than few bytes in each storage.
  static constexpr int64_t kRows = 483, kColumns = 512;
  std::vector<float> numbers = draw();
  uint64_t shape[2] = {kRows, kColumns};
  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

struct Case {
  const char *type;
  bool panels, transposed;
};

} // namespace

TEST_F(RowThreads, GiveTheBytesOfOne) {
  for (Case one : {Case{"q8_0", true, false},
                   {"q4_k", false, false},
                   {"q4_k", true, false},
                   {"bf16", false, false},
                   {"f16", false, true},
                   {"f32", false, true}}) {
    WeightRows rows = rowsOf(one.type, one.panels, one.transposed);
    std::vector<uint8_t> expected;
    for (uint64_t row = 0; row < rows.rows(); ++row)
      llvm::append_range(expected, llvm::cantFail(rows.row(row)));
    ASSERT_EQ(expected.size(), rows.rows() * rows.bytesPerRow());
    for (unsigned threads : {1, 2, 3, 7, 16, 600}) {
      std::vector<uint8_t> found;
      llvm::cantFail(makeRows(
          rows,
          [&](llvm::ArrayRef<uint8_t> bytes) {
            llvm::append_range(found, bytes);
            return llvm::Error::success();
          },
          threads));
      EXPECT_TRUE(found == expected) << one.type << " " << threads;
    }
    if (one.transposed)
      std::swap(shape[0], shape[1]);
  }
}

// The first of two numbers that cannot be stored, whichever thread meets its own first.
TEST_F(RowThreads, TellOfTheFirstError) {
  numbers[200 * kColumns + 3] = INFINITY;
  numbers[482 * kColumns] = NAN;
  for (unsigned threads : {1, 2, 16}) {
    uint64_t taken = 0;
    llvm::Error error = makeRows(
        rowsOf("q8_0", false, false),
        [&](llvm::ArrayRef<uint8_t> bytes) {
          taken += bytes.size();
          return llvm::Error::success();
        },
        threads);
    EXPECT_EQ(llvm::toString(std::move(error)),
              "tensor 't' has the element inf at row 200, column 3, and "
              "blocks of q8_0 hold finite numbers alone");
    // None of what comes behind.
    EXPECT_LE(taken, 200u * (kColumns / 32 * 34));
  }
}

// What `take` says ends it.
TEST_F(RowThreads, EndWhereRowsCannotBeTaken) {
  int calls = 0;
  llvm::Error error = makeRows(
      rowsOf("q4_k", true, false),
      [&](llvm::ArrayRef<uint8_t>) {
        ++calls;
        return llvm::createStringError("the disk is full");
      },
      4);
  EXPECT_EQ(llvm::toString(std::move(error)), "the disk is full");
  EXPECT_EQ(calls, 1);
}
