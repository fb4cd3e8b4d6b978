// What the simulated ops compute, against the tables of the PTX ISA.

#include "runtime/src/devices/sim/WarpOps.h"
#include "test/unit/runtime/sim/SimTrial.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace effc;
using namespace effc::test;
using namespace effc::rt;

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

namespace {
/// The operands of a product, and the fragments that the ISA makes of them.
struct Product {
  double a[16][16] = {}, b[16][8] = {}, c[16][8] = {};
  struct Lane {
    uint32_t a[4], b[2];
    float c[4], d[4];
  } lanes[32] = {};

  void fill(uint32_t steps, double (*draw)(std::mt19937 &)) {
    std::mt19937 random(7);
    for (auto &row : a)
      for (uint32_t k = 0; k < steps; ++k)
        row[k] = draw(random);
    for (uint32_t k = 0; k < steps; ++k)
      for (double &cell : b[k])
        cell = draw(random);
    for (auto &row : c)
      for (double &cell : row)
        cell = draw(random);
  }
  double expected(uint32_t row, uint32_t column) const {
    double sum = c[row][column];
    for (uint32_t k = 0; k < 16; ++k)
      sum += a[row][k] * b[k][column];
    return sum;
  }
};
} // namespace

/// "Matrix Fragments for mma.m16n8k8 / m16n8k16": where element i of C lies.
static uint32_t rowOfC(uint32_t lane, uint32_t i) {
  uint32_t groupId = lane >> 2;
  return i < 2 ? groupId : groupId + 8;
}
static uint32_t columnOfC(uint32_t lane, uint32_t i) {
  return (lane % 4) * 2 + (i & 1);
}

static void gatherC(Product &product) {
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 4; ++i)
      product.lanes[lane].c[i] =
          static_cast<float>(product.c[rowOfC(lane, i)][columnOfC(lane, i)]);
}

/// .f16 and .bf16 of m16n8k16.
static void gatherHalves(Product &product, uint32_t (*narrow)(double)) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t groupId = lane >> 2, inGroup = lane % 4;
    for (uint32_t i = 0; i < 8; ++i) {
      bool upper = (0 <= int(i) && i < 2) || (4 <= i && i < 6);
      uint32_t row = upper ? groupId : groupId + 8;
      uint32_t column = inGroup * 2 + (i & 1) + (i < 4 ? 0 : 8);
      product.lanes[lane].a[i / 2] |= narrow(product.a[row][column])
                                      << (i % 2 ? 16 : 0);
    }
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t row = inGroup * 2 + (i & 1) + (i < 2 ? 0 : 8);
      product.lanes[lane].b[i / 2] |= narrow(product.b[row][groupId])
                                      << (i % 2 ? 16 : 0);
    }
  }
}

/// .tf32 of m16n8k8; the lower 13 bits are nothing that is read.
static void gatherTf32(Product &product) {
  auto narrow = [](double value) {
    return bitsOf(static_cast<float>(value)) | 0x1FFF;
  };
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t groupId = lane >> 2, inGroup = lane % 4;
    Product::Lane &to = product.lanes[lane];
    to.a[0] = narrow(product.a[groupId][inGroup]);
    to.a[1] = narrow(product.a[groupId + 8][inGroup]);
    to.a[2] = narrow(product.a[groupId][inGroup + 4]);
    to.a[3] = narrow(product.a[groupId + 8][inGroup + 4]);
    to.b[0] = narrow(product.b[inGroup][groupId]);
    to.b[1] = narrow(product.b[inGroup + 4][groupId]);
  }
}

static void expectProduct(Product &product, SimMma type, double tolerance) {
  gatherC(product);
  SimTrial trial(32, 0);
  trial.operand(product.lanes, sizeof product.lanes, true, "the arena");
  trial.counts[0] = int64_t(type);
  ASSERT_EQ(trial.run([](const SimCalls *calls, SimThread *self,
                         const void *const *operands, const int64_t *counts) {
    auto *lanes = static_cast<Product::Lane *>(const_cast<void *>(operands[0]));
    Product::Lane &lane = lanes[Thread(calls, self).index];
    calls->mma(self, uint32_t(counts[0]), lane.a, lane.b, lane.c, lane.d,
               "dot");
  }),
            "");
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 4; ++i)
      EXPECT_NEAR(product.lanes[lane].d[i],
                  product.expected(rowOfC(lane, i), columnOfC(lane, i)),
                  tolerance)
          << "lane " << lane << ", element " << i;
}

/// Sixteenths up to 8: seven bits, exact in all three types, and so are the
/// sums.
static double fewBits(std::mt19937 &random) {
  return (static_cast<double>(random() % 255) - 127) / 16;
}

TEST(SimOps, MultipliesBf16) {
  Product product;
  product.fill(16, fewBits);
  gatherHalves(product, [](double value) {
    return bitsOf(static_cast<float>(value)) >> 16;
  });
  expectProduct(product, SimMma::M16N8K16Bf16, 0);
}

static uint32_t toF16(double value) {
  if (value == 0)
    return 0;
  int exponent;
  double fraction = std::frexp(std::fabs(value), &exponent); // in [0.5, 1)
  auto mantissa = static_cast<uint32_t>(fraction * 2048) & 1023;
  return (value < 0 ? 0x8000u : 0u) |
         static_cast<uint32_t>(exponent + 14) << 10 | mantissa;
}

TEST(SimOps, MultipliesF16) {
  Product product;
  product.fill(16, fewBits);
  gatherHalves(product, toF16);
  expectProduct(product, SimMma::M16N8K16F16, 0);
}

TEST(SimOps, MultipliesTf32) {
  Product product;
  product.fill(8, fewBits);
  gatherTf32(product);
  expectProduct(product, SimMma::M16N8K8Tf32, 0);
}

// Bits below the tenth are cut off, not rounded; the sum is rounded to f32.
TEST(SimOps, CutsTf32) {
  auto draw = [](std::mt19937 &random) {
    return 1 + static_cast<double>(random() % 1024) / 1024;
  };
  Product product;
  product.fill(8, draw);
  gatherTf32(product); // sets all bits that are not read
  expectProduct(product, SimMma::M16N8K8Tf32, 8 * 36 * 0x1p-24);
}

// Subnormal numbers, infinities and the smallest normal one.
TEST(SimOps, ReadsEveryF16) {
  struct {
    uint32_t bits;
    float value;
  } const cases[] = {{0x0001, 0x1p-24f},  {0x03FF, 1023 * 0x1p-24f},
                     {0x0400, 0x1p-14f},  {0x3C00, 1},
                     {0x7BFF, 65504},     {0x7C00, INFINITY},
                     {0xFC00, -INFINITY}, {0x8001, -0x1p-24f}};
  for (const auto &[bits, value] : cases) {
    uint32_t a[4] = {bits, 0, 0, 0}, none[4] = {}, one[2] = {0x3C00, 0};
    float c[4] = {}, d[32][4];
    MmaLane lanes[32];
    for (uint32_t lane = 0; lane < 32; ++lane)
      lanes[lane] = {lane ? none : a, lane ? none : one, c, d[lane]};
    multiply(SimMma::M16N8K16F16, lanes); // row 0 of A times column 0 of B
    EXPECT_EQ(d[0][0], value) << bits;
  }
}

// Sixteen equal products and a sum before them: what is more than one bit
// behind the sum's last place is cut off each of them, what is there counts,
// and nothing is rounded up. Of themselves they lose nothing.
TEST(SimOps, CutsSumsOff) {
  struct {
    float before, product, expected;
  } const cases[] = {{1, 0x1.8p-25f, 1},
                     {-1, -0x1.8p-25f, -1},
                     {1, -0x1.8p-25f, 1},
                     {1, 0x1p-24f, 1 + 0x1p-20f},
                     {1, 0x1.8p-24f, 1 + 0x1p-20f},
                     {0, 0x1.8p-24f, 0x1.8p-20f},
                     {0x1p-100f, 0, 0x1p-100f},
                     {0x1.4p-110f, 0x1p-120f, 0x1.44p-110f},
                     {0x1.8p127f, 0x1p126f, INFINITY},
                     {1, INFINITY, INFINITY}};
  for (const auto &[before, product, expected] : cases) {
    uint32_t half = bitsOf(product) >> 16, pair = half << 16 | half;
    uint32_t a[4] = {pair, 0, pair, 0}, none[4] = {}, one[2];
    one[0] = one[1] = 0x3F803F80;
    float c[4] = {before, 0, 0, 0}, d[32][4];
    MmaLane lanes[32];
    for (uint32_t lane = 0; lane < 32; ++lane) // row 0 of A, column 0 of B
      lanes[lane] = {lane < 4 ? a : none, lane < 4 ? one : none, c, d[lane]};
    multiply(SimMma::M16N8K16Bf16, lanes);
    EXPECT_EQ(d[0][0], expected) << before << " and " << product;
  }
}

// Groups of warps keep two bits, of sixteen products at a time; what is
// infinite or no number in one column changes no other.
TEST(SimOps, CutsSumsOfGroupsOff) {
  struct {
    float before, product, expected;
  } const cases[] = {{1, 0x1.8p-26f, 1},
                     {1, 0x1p-25f, 1 + 0x1p-21f},
                     {1, 0x1.8p-25f, 1 + 0x1p-21f},
                     {1, INFINITY, INFINITY},
                     {0x1.4p-110f, 0x1p-120f, 0x1.44p-110f},
                     {NAN, 1, NAN},
                     {-1, -0x1.8p-26f, -1},
                     {0, 0x1.8p-24f, 0x1.8p-20f}};
  WarpGroupProduct product;
  product.columns = 8;
  float d[WarpGroupProduct::kThreads][4] = {};
  uint32_t ones[4] = {0x3F803F80, 0x3F803F80, 0x3F803F80, 0x3F803F80};
  for (uint32_t thread = 0; thread < WarpGroupProduct::kThreads; ++thread) {
    product.a[thread] = ones;
    product.d[thread] = d[thread];
  }
  for (uint32_t column = 0; column < 8; ++column) {
    for (uint32_t k = 0; k < WarpGroupProduct::kDepth; ++k)
      product.b[column][k] = bitsOf(cases[column].product) >> 16;
    d[column / 2][column % 2] = cases[column].before; // row 0
  }
  product.run();
  for (uint32_t column = 0; column < 8; ++column) {
    float found = d[column / 2][column % 2], expected = cases[column].expected;
    EXPECT_TRUE(found == expected ||
                (std::isnan(found) && std::isnan(expected)))
        << "column " << column << ": " << found << " for " << expected;
  }
}

// shfl.sync of the ISA: which lane each of the 32 reads.
TEST(SimOps, Shuffles) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(shuffleSource(SimShuffle::Butterfly, lane, 5, 31), lane ^ 5);
    EXPECT_EQ(shuffleSource(SimShuffle::Index, lane, 9, 31), 9u);
    // Below and above the warp a lane keeps its own.
    EXPECT_EQ(shuffleSource(SimShuffle::Up, lane, 3, 0),
              lane < 3 ? lane : lane - 3);
    EXPECT_EQ(shuffleSource(SimShuffle::Down, lane, 3, 31),
              lane > 28 ? lane : lane + 3);
    // Segments of eight lanes: mask 0b11000, clamp 7 or 0.
    EXPECT_EQ(shuffleSource(SimShuffle::Down, lane, 1, 0x1807),
              lane % 8 == 7 ? lane : lane + 1);
    EXPECT_EQ(shuffleSource(SimShuffle::Up, lane, 1, 0x1800),
              lane % 8 == 0 ? lane : lane - 1);
    EXPECT_EQ(shuffleSource(SimShuffle::Index, lane, 2, 0x181F),
              lane / 8 * 8 + 2);
  }
}

TEST(SimOps, SumsAWarp) {
  float sums[64] = {};
  SimTrial trial;
  trial.operand(sums, sizeof sums, true, "the arena");
  EXPECT_EQ(trial.run([](const SimCalls *calls, SimThread *self,
                         const void *const *operands, const int64_t *) {
    Thread t(calls, self);
    float sum = float(t.index);
    for (uint32_t distance = 16; distance > 0; distance /= 2) {
      uint32_t bits =
          t.shuffle(SimShuffle::Butterfly, bitsOf(sum), distance, 31, "sum");
      float other;
      std::memcpy(&other, &bits, 4);
      sum += other;
    }
    auto *out = static_cast<float *>(const_cast<void *>(operands[0]));
    t.write(out + t.index, sum, "store");
  }),
            "");
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(sums[i], i < 32 ? 496 : 496 + 32 * 32); // 0 + ... + 31
}

// ldmatrix of the ISA: lane l gets row l / 4, elements 2 (l % 4) and the next;
// transposed, column l / 4.
TEST(SimOps, LoadsMatrices) {
  struct Result {
    uint32_t plain[4], transposed[2];
  } results[32] = {};
  SimTrial trial(32, 4 * 128);
  trial.operand(results, sizeof results, true, "the arena");
  EXPECT_EQ(trial.run([](const SimCalls *calls, SimThread *self,
                         const void *const *operands, const int64_t *) {
    Thread t(calls, self);
    // Matrix m, row r, column c holds 64 m + 8 r + c.
    for (uint32_t i = t.index; i < 4 * 64; i += 32)
      t.writeShared(t.shared<uint16_t>() + i, uint16_t(i), "store");
    t.barrier("between");
    auto &out = static_cast<Result *>(const_cast<void *>(operands[0]))[t.index];
    const void *row = t.shared<uint16_t>(t.index * 16);
    calls->loadMatrix(self, row, 4, 0, out.plain, "fragment");
    calls->loadMatrix(self, row, 2, 1, out.transposed, "turned");
  }),
            "");
  auto pair = [](uint32_t low, uint32_t high) { return low | high << 16; };
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t row = lane / 4, column = lane % 4 * 2;
    for (uint32_t m = 0; m < 4; ++m)
      EXPECT_EQ(results[lane].plain[m],
                pair(64 * m + 8 * row + column, 64 * m + 8 * row + column + 1));
    for (uint32_t m = 0; m < 2; ++m)
      EXPECT_EQ(results[lane].transposed[m],
                pair(64 * m + 8 * column + row, 64 * m + 8 * column + 8 + row));
  }
}

// A copy happens when it is waited for, no sooner; the groups behind go on.
TEST(SimOps, CopiesAsLateAsAllowed) {
  alignas(16) float data[64 * 4];
  for (int i = 0; i < 64 * 4; ++i)
    data[i] = float(i);
  uint32_t seen[64] = {};
  SimTrial trial(64, 2 * 1024);
  trial.operand(data, sizeof data, false, "weight 'w'")
      .operand(seen, sizeof seen, true, "the arena");
  EXPECT_EQ(trial.run([](const SimCalls *calls, SimThread *self,
                         const void *const *operands, const int64_t *) {
    Thread t(calls, self);
    auto *from = static_cast<const float *>(operands[0]) + t.index * 4;
    float *first = t.shared<float>(t.index * 16);
    float *second = t.shared<float>(1024 + t.index * 16);
    calls->copyAsync(self, first, from, 16, 16, "first");
    calls->commitGroup(self, "commit");
    calls->copyAsync(self, second, from, 16, 8, "second");
    calls->commitGroup(self, "commit");
    bool late = std::isnan(first[0]) && std::isnan(second[0]);
    calls->waitGroup(self, 1, "wait");
    late &= first[3] == from[3] && std::isnan(second[0]);
    calls->waitGroup(self, 0, "wait");
    // What is not taken is zero.
    late &= second[1] == from[1] && second[2] == 0 && second[3] == 0;
    auto *out = static_cast<uint32_t *>(const_cast<void *>(operands[1]));
    t.write(out + t.index, uint32_t(late), "store");
  }),
            "");
  for (uint32_t late : seen)
    EXPECT_EQ(late, 1u);
}

// The errors that the ISA grants: 2^-22 (ex2; lg2, absolute around 1), 1 unit
// in the last place (rcp), 2^-11 (tanh).
TEST(SimOps, Approximates) {
  for (float x = -140; x < 128; x += 0.37f) {
    double exact = std::exp2(static_cast<double>(x));
    float found = approximateExp2(x);
    if (exact < 0x1p-126)
      EXPECT_EQ(found, 0.0f) << x;
    else
      EXPECT_NEAR(found / exact, 1, 0x1p-22) << x;
  }
  for (float x = 0x1p-20f; x < 1e6f; x *= 1.31f) {
    double log = std::log2(static_cast<double>(x));
    EXPECT_NEAR(approximateLog2(x), log,
                0x1p-22 * std::fmax(1, std::fabs(log)));
    EXPECT_NEAR(approximateReciprocal(x) * static_cast<double>(x), 1, 0x1p-23);
  }
  for (float x = -6; x < 6; x += 0.013f) {
    double exact = std::tanh(static_cast<double>(x));
    EXPECT_NEAR(approximateTanh(x), exact, std::fabs(exact) * 0x1p-11) << x;
  }
  EXPECT_EQ(approximateExp2(-INFINITY), 0);
  EXPECT_EQ(approximateExp2(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(approximateTanh(NAN)));
  EXPECT_EQ(approximateLog2(0), -INFINITY);
  EXPECT_EQ(approximateReciprocal(0x1p-130f), INFINITY); // flushed
}
