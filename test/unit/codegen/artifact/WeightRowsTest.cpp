// Rows as the artifact holds them: conversion, transposition, padding, and
// which weights may stay where the checkpoint has them.
#include "codegen/artifact/WeightRows.h"

#include "dialects/storage/Formats.h"

#include "mlir/IR/Builders.h"
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace effc;
using namespace effc::codegen;

namespace {

class WeightRowsTest : public testing::Test {
protected:
  WeightRowsTest() : builder(&context) {
    context.loadDialect<seq::SeqDialect>();
    module = mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
  }
  seq::WeightOp weight(llvm::ArrayRef<int64_t> shape, mlir::Type element,
                       bool transposed = false) {
    return seq::WeightOp::create(builder, builder.getUnknownLoc(), "w", "t",
                                 mlir::RankedTensorType::get(shape, element),
                                 /*further=*/nullptr, /*stored=*/nullptr,
                                 /*rows=*/nullptr, /*derived=*/nullptr,
                                 transposed, /*computed=*/nullptr);
  }
  template <typename T>
  static SourceTensor source(mlir::Type type, llvm::ArrayRef<uint64_t> shape,
                             llvm::ArrayRef<T> elements) {
    return {storage::Storage::get(type),
            shape,
            {reinterpret_cast<const uint8_t *>(elements.data()),
             elements.size() * sizeof(T)}};
  }
  /// The 16-bit patterns that one row of `values` becomes, without padding.
  llvm::Expected<std::vector<uint16_t>> narrow(llvm::ArrayRef<float> values,
                                               mlir::Type element) {
    uint64_t shape[] = {1, values.size()};
    WeightRows rows = llvm::cantFail(
        WeightRows::create(weight({1, int64_t(values.size())}, element),
                           source<float>(builder.getF32Type(), shape, values)));
    auto row = rows.row(0);
    if (!row)
      return row.takeError();
    std::vector<uint16_t> bits(values.size());
    std::memcpy(bits.data(), row->data(), bits.size() * 2);
    return bits;
  }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace

// Expected patterns follow from IEEE 754: binary16 has 10 bits after the point,
// its smallest number is 2^-24, its largest 65504; ties go to the even
// neighbour.
TEST_F(WeightRowsTest, RoundsToHalf) {
  const std::pair<float, uint16_t> cases[] = {
      {0.0f, 0x0000},
      {-0.0f, 0x8000},
      {1.0f, 0x3c00},
      {-2.5f, 0xc100},
      {65504.0f, 0x7bff},
      {65519.0f, 0x7bff},            // below the tie at 65520
      {1.0f + 0x1p-11f, 0x3c00},     // a tie, down to even
      {1.0f + 0x3p-11f, 0x3c02},     // a tie, up to even
      {1.0f + 0x1.002p-11f, 0x3c01}, // just above the tie
      {0x1p-14f, 0x0400},            // the smallest normal
      {0x1p-24f, 0x0001},
      {0x1p-25f, 0x0000}, // a tie, down to zero
      {0x1.8p-25f, 0x0001},
      {0x1.8p-24f, 0x0002},
      {0x1.ff8p-15f, 0x03ff}, // the largest subnormal
      {0x1.ffcp-15f, 0x0400}, // a tie, up to a normal
      {-0x1p-24f, 0x8001},
      {INFINITY, 0x7c00},
      {-INFINITY, 0xfc00}};
  std::vector<float> values;
  std::vector<uint16_t> expected;
  for (auto [value, bits] : cases) {
    values.push_back(value);
    expected.push_back(bits);
  }
  EXPECT_EQ(llvm::cantFail(narrow(values, builder.getF16Type())), expected);
  auto nan = llvm::cantFail(narrow({NAN}, builder.getF16Type()));
  EXPECT_GT(nan[0] & 0x7fff, 0x7c00);
}

TEST_F(WeightRowsTest, RefusesWhatHalfCannotHold) {
  auto found = narrow({1.0f, 65520.0f}, builder.getF16Type());
  ASSERT_FALSE(bool(found));
  EXPECT_EQ(llvm::toString(found.takeError()),
            "tensor 't' has the element 65520 at row 0, column 1, which is "
            "beyond f16's largest number, 65504");
  found = narrow({-1e30f}, builder.getF16Type());
  EXPECT_FALSE(bool(found));
  llvm::consumeError(found.takeError());
  EXPECT_EQ(llvm::cantFail(narrow({65520.0f}, builder.getBF16Type()))[0],
            0x4780); // 65536, which bf16 has
  found = narrow({1.0f, -3.4e38f}, builder.getBF16Type());
  ASSERT_FALSE(bool(found));
  EXPECT_EQ(llvm::toString(found.takeError()),
            "tensor 't' has the element -3.4e+38 at row 0, column 1, which is "
            "beyond bf16's largest number, 3.38953e+38");
}

// Two blocks in a row, and nothing behind them.
TEST_F(WeightRowsTest, WritesBlocks) {
  context.loadDialect<storage::StorageDialect>();
  mlir::Type type = storage::formatOf("q8_0", &context);
  std::vector<float> values(3 * 64);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(int(i % 255) - 127) / 64;
  uint64_t shape[] = {3, 64};
  seq::WeightOp op = weight({3, 64}, type);
  SourceTensor tensor = source<float>(builder.getF32Type(), shape, values);
  WeightRows rows = llvm::cantFail(WeightRows::create(op, tensor));
  ASSERT_EQ(rows.rows(), 3u);
  for (uint64_t r = 0; r < 3; ++r) {
    llvm::ArrayRef<uint8_t> row = llvm::cantFail(rows.row(r));
    ASSERT_EQ(row.size(), 2 * 34u);
    for (size_t i = 0; i < 64; ++i)
      EXPECT_NEAR(storage::Storage::get(type).number(row, i),
                  values[r * 64 + i], 2.0 / 127 * 0.51);
  }
  EXPECT_EQ(whyNotReferenced(op, tensor),
            "its elements are stored as f32 and used as q8_0");
}

// A block cannot hold what is not finite: the tensor and the place are named.
TEST_F(WeightRowsTest, RefusesBlocksOfWhatIsNotFinite) {
  context.loadDialect<storage::StorageDialect>();
  uint64_t shape[] = {2, 64};
  auto second = [&](const char *kind, float number) {
    std::vector<float> values(2 * 64, 0.25f);
    values[64 + 37] = number;
    seq::WeightOp op = weight({2, 64}, storage::formatOf(kind, &context));
    WeightRows rows = llvm::cantFail(WeightRows::create(
        op, source<float>(builder.getF32Type(), shape, values)));
    (void)llvm::cantFail(rows.row(0));
    return llvm::toString(rows.row(1).takeError());
  };
  EXPECT_EQ(second("q4_0", NAN),
            "tensor 't' has the element nan at row 1, column 37, and blocks of "
            "q4_0 hold finite numbers alone");
  EXPECT_EQ(second("q5_1", -INFINITY),
            "tensor 't' has the element -inf at row 1, column 37, and blocks "
            "of q5_1 hold finite numbers alone");
  EXPECT_EQ(second("q4_0", 1e12f),
            "tensor 't' has a block at row 1, column 32 whose largest number "
            "no scale of q4_0 stands for");
}

// Two rows of 32: ramps of whole steps are exact but for two numbers, whose errors
// are known.
TEST_F(WeightRowsTest, MeasuresWhatIsLost) {
  context.loadDialect<storage::StorageDialect>();
  std::vector<float> values(2 * 32);
  double squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = float(int(i % 32) * 8 - 127) / 127; // the scale is 1 / 127
    values[i] = i % 32 == 0 ? -1 : values[i];
  }
  auto scale = double(float(_Float16(1.0f / 127)));
  double errorSquares = 0, largest = 0;
  for (float value : values) {
    double error = std::round(double(value) * 127) * scale - double(value);
    squares += double(value) * double(value);
    errorSquares += error * error;
    largest = std::max(largest, std::fabs(error));
  }
  uint64_t shape[] = {2, 32};
  auto measured = [&](const char *kind) {
    WeightRows rows = llvm::cantFail(
        WeightRows::create(weight({2, 32}, storage::formatOf(kind, &context)),
                           source<float>(builder.getF32Type(), shape, values)));
    EXPECT_FALSE(rows.getLoss());
    rows.measure();
    for (uint64_t row = 0; row < 2; ++row)
      (void)llvm::cantFail(rows.row(row));
    return *rows.getLoss();
  };
  WeightLoss loss = measured("q8_0");
  EXPECT_EQ(loss.elements, 64u);
  EXPECT_EQ(loss.bitsPerElement(), 8.5);
  EXPECT_NEAR(loss.relative(), std::sqrt(errorSquares / squares), 1e-9);
  EXPECT_NEAR(loss.largest(), largest / std::sqrt(squares / 64), 1e-9);
  WeightLoss none = measured("f32");
  EXPECT_EQ(none.relative(), 0);
  EXPECT_EQ(none.largest(), 0);
  EXPECT_NEAR(none.squares, squares, 1e-6);
}

// Of three dimensions, each matrix has the importance of its own columns, and its rows
// are rounded one by one.
TEST_F(WeightRowsTest, RoundsByTheImportanceOfColumns) {
  context.loadDialect<storage::StorageDialect>();
  storage::Storage storage =
      storage::Storage::get(storage::formatOf("q4_0", &context));
  std::vector<float> values(2 * 3 * 64), importance(2 * 64);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(float(i * i)) * float(1 + i / 64);
  for (size_t i = 0; i < importance.size(); ++i)
    importance[i] = float(i % 7 * i % 5);
  std::vector<uint8_t> expected(storage.bytes(int64_t(values.size())));
  auto encoder = storage::Encoder::of(storage);
  for (size_t row = 0; row < 6; ++row)
    ASSERT_FALSE(encoder->encodeRow(
        llvm::ArrayRef(values).slice(row * 64, 64),
        llvm::ArrayRef(importance).slice(row / 3 * 64, 64),
        llvm::MutableArrayRef(expected).slice(row * 36, 36)));
  uint64_t shape[] = {2, 3, 64};
  SourceTensor tensor = source<float>(builder.getF32Type(), shape, values);
  auto written = [&] {
    WeightRows rows = llvm::cantFail(
        WeightRows::create(weight({2, 3, 64}, storage.type()), tensor));
    rows.measure();
    std::vector<uint8_t> bytes;
    for (uint64_t row = 0; row < rows.rows(); ++row)
      llvm::append_range(bytes, llvm::cantFail(rows.row(row)));
    return std::pair{bytes, *rows.getLoss()};
  };
  auto [plain, plainLoss] = written();
  tensor.importance = importance;
  auto [important, loss] = written();
  EXPECT_EQ(important, expected);
  EXPECT_NE(plain, expected);
  EXPECT_EQ(plainLoss.importantSquares, 0);
  double errors = 0, squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double counts = importance[i / 192 * 64 + i % 64];
    double error = double(storage.number(expected, i)) - double(values[i]);
    squares += counts * double(values[i]) * double(values[i]);
    errors += counts * error * error;
  }
  EXPECT_NEAR(loss.importantRelative(), std::sqrt(errors / squares), 1e-9);
}

// Every half there is becomes the f32 of its value: sign, exponent - 15 and
// fraction by the definition, in double.
TEST_F(WeightRowsTest, WidensEveryHalf) {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i)
    halves[i] = static_cast<uint16_t>(i);
  uint64_t shape[] = {256, 256};
  WeightRows rows = llvm::cantFail(WeightRows::create(
      weight({256, 256}, builder.getF32Type()),
      source<uint16_t>(builder.getF16Type(), shape, halves)));
  for (uint64_t r = 0; r < 256; ++r) {
    float found[256];
    std::memcpy(found, llvm::cantFail(rows.row(r)).data(), sizeof found);
    for (uint64_t c = 0; c < 256; ++c) {
      uint16_t half = static_cast<uint16_t>(r * 256 + c);
      int exponent = half >> 10 & 31, fraction = half & 1023;
      double value = exponent == 0 ? std::ldexp(fraction, -24)
                                   : std::ldexp(1024 + fraction, exponent - 25);
      if (exponent == 31)
        value = fraction ? NAN : INFINITY;
      value = half & 0x8000 ? -value : value;
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(found[c])) << half;
      else
        EXPECT_EQ(found[c], value) << half;
    }
  }
}

// Three rows of two, stored as two rows of three; 8 bytes of 64 are used.
TEST_F(WeightRowsTest, TransposesAndPads) {
  const float stored[] = {1, 2, 3, 4, 5, 6};
  uint64_t shape[] = {2, 1, 3};
  WeightRows rows = llvm::cantFail(
      WeightRows::create(weight({3, 2}, builder.getF32Type(), true),
                         source<float>(builder.getF32Type(), shape, stored)));
  EXPECT_EQ(rows.rows(), 3u);
  for (uint64_t r = 0; r < 3; ++r) {
    llvm::ArrayRef<uint8_t> row = llvm::cantFail(rows.row(r));
    ASSERT_EQ(row.size(), 64u);
    float found[16];
    std::memcpy(found, row.data(), 64);
    EXPECT_EQ(found[0], stored[r]);
    EXPECT_EQ(found[1], stored[3 + r]);
    for (int i = 2; i < 16; ++i)
      EXPECT_EQ(found[i], 0);
  }
}

// Tables of positions, of which the checkpoint has one row, or no more than a
// vector: row p is element p.
TEST_F(WeightRowsTest, TransposesSingleRows) {
  const float stored[] = {7, 5, 3};
  const uint64_t row[] = {1, 3}, vector[] = {3};
  for (llvm::ArrayRef<uint64_t> shape : {llvm::ArrayRef(row), {vector}}) {
    WeightRows rows = llvm::cantFail(
        WeightRows::create(weight({3, 1}, builder.getF32Type(), true),
                           source<float>(builder.getF32Type(), shape, stored)));
    ASSERT_EQ(rows.rows(), 3u);
    for (uint64_t r = 0; r < 3; ++r) {
      float found;
      std::memcpy(&found, llvm::cantFail(rows.row(r)).data(), 4);
      EXPECT_EQ(found, stored[r]);
    }
  }
}

// Two blocks of three outputs from two inputs, stored with a row per input.
TEST_F(WeightRowsTest, TransposesEachBlock) {
  const float stored[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  uint64_t shape[] = {2, 2, 3};
  WeightRows rows = llvm::cantFail(
      WeightRows::create(weight({2, 3, 2}, builder.getF32Type(), true),
                         source<float>(builder.getF32Type(), shape, stored)));
  ASSERT_EQ(rows.rows(), 2u);
  const float expected[2][6] = {{1, 4, 2, 5, 3, 6}, {7, 10, 8, 11, 9, 12}};
  for (uint64_t h = 0; h < 2; ++h) {
    llvm::ArrayRef<uint8_t> row = llvm::cantFail(rows.row(h));
    ASSERT_EQ(row.size(), 64u);
    EXPECT_EQ(std::memcmp(row.data(), expected[h], sizeof expected[h]), 0);
  }
  auto failed =
      WeightRows::create(weight({2, 2, 3}, builder.getF32Type(), true),
                         source<float>(builder.getF32Type(), shape, stored));
  ASSERT_FALSE(bool(failed));
  EXPECT_EQ(llvm::toString(failed.takeError()),
            "tensor 't' expects shape 2x3x2 (dimensions of 1 aside), but got "
            "2x2x3");
}

TEST_F(WeightRowsTest, SaysWhatCannotBeReferenced) {
  uint64_t shape[] = {5, 32};
  auto why = [&](seq::WeightOp op, mlir::Type type, uint64_t offset) {
    SourceTensor tensor{storage::Storage::get(type), shape, {}, 0, offset};
    return whyNotReferenced(op, tensor).value_or("nothing");
  };
  mlir::Type f32 = builder.getF32Type(), bf16 = builder.getBF16Type(),
             f16 = builder.getF16Type();
  // 32 elements of two bytes are 64.
  EXPECT_EQ(why(weight({5, 32}, bf16), bf16, 106), "nothing");
  EXPECT_EQ(why(weight({5, 32}, f16), f16, 106), "nothing");
  EXPECT_EQ(why(weight({5, 16}, f32), f32, 108), "nothing");
  EXPECT_EQ(why(weight({5, 16}, f32), f32, 106),
            "it starts at byte 106 of its file, which is no multiple of its "
            "elements' 4");
  EXPECT_EQ(why(weight({5, 32}, bf16), bf16, 107),
            "it starts at byte 107 of its file, which is no multiple of its "
            "elements' 2");
  EXPECT_EQ(why(weight({5, 31}, bf16), bf16, 106),
            "its rows have 62 bytes, and kernels read rows at multiples of 64");
  EXPECT_EQ(why(weight({5, 32}, bf16), f32, 106),
            "its elements are stored as f32 and used as bf16");
  EXPECT_EQ(why(weight({5, 32}, f16), bf16, 106),
            "its elements are stored as bf16 and used as f16");
  EXPECT_EQ(why(weight({32, 16}, f32, true), f32, 108),
            "the checkpoint holds its transpose");
  EXPECT_EQ(why(weight({32}, f32), f32, 108), "it is a vector");
  // A block of 4 x 8 elements is a row.
  EXPECT_EQ(why(weight({5, 4, 8}, bf16), bf16, 106), "nothing");
  EXPECT_EQ(why(weight({5, 3, 7}, bf16), bf16, 106),
            "its rows have 42 bytes, and kernels read rows at multiples of 64");
  EXPECT_EQ(why(weight({5, 4, 8}, bf16, true), bf16, 106),
            "the checkpoint holds its transpose");
}
