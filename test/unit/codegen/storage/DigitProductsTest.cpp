// Products of rows of digits with weights in panels, on the host: to the bit what the
// formula of codegen/host/PanelDots.cpp says, written here number by number, for every
// level of the instruction set, in prefill and in decode.
#include "dialects/storage/Storage.h"
#include "runtime/abi/NarrowFloats.h"
#include "test/unit/codegen/host/HeadModel.h"
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/dialects/storage/PublishedBlocks.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace effc;
using namespace effc::test;

namespace {

/// A row of a matrix: its codes, and what they are scaled and moved by. Groups have 16
/// columns, of kinds with fewer scales the same for neighbours.
struct CodedRow {
  std::vector<int64_t> codes;
  std::vector<float> scales, added; ///< of each 16 columns
  int64_t group;                    ///< columns that share one
};

float half(const uint8_t *at) {
  uint16_t bits;
  std::memcpy(&bits, at, 2);
  return rt::fromF16(bits);
}

// From the public layouts of ggml, for five kinds that differ: plain codes, codes of
// eight bits, a least number, a table, groups of 16 and of 32 in blocks of 256.
CodedRow decodeQ4_1(const uint8_t *at, int64_t blocks) {
  CodedRow row{{}, {}, {}, 32};
  for (; blocks-- > 0; at += 20) {
    for (int64_t i = 0; i < 32; ++i)
      row.codes.push_back(i < 16 ? at[4 + i] & 15 : at[4 + i - 16] >> 4);
    row.scales.push_back(half(at));
    row.added.push_back(half(at + 2));
  }
  return row;
}

CodedRow decodeQ8_0(const uint8_t *at, int64_t blocks) {
  CodedRow row{{}, {}, {}, 32};
  for (; blocks-- > 0; at += 34) {
    for (int64_t i = 0; i < 32; ++i)
      row.codes.push_back(int8_t(at[2 + i]));
    row.scales.push_back(half(at));
  }
  return row;
}

CodedRow decodeIQ4_NL(const uint8_t *at, int64_t blocks) {
  static constexpr int kTable[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                     1,    13,   25,  38,  53,  69,  89,  113};
  CodedRow row{{}, {}, {}, 32};
  for (; blocks-- > 0; at += 18) {
    for (int64_t i = 0; i < 32; ++i)
      row.codes.push_back(
          kTable[i < 16 ? at[2 + i] & 15 : at[2 + i - 16] >> 4]);
    row.scales.push_back(half(at));
  }
  return row;
}

CodedRow decodeQ6_K(const uint8_t *at, int64_t blocks) {
  CodedRow row{{}, {}, {}, 16};
  for (; blocks-- > 0; at += 210)
    for (int64_t i = 0; i < 256; ++i) {
      int64_t part = i / 128, quarter = i / 32 % 4, l = i % 32;
      int byte = at[part * 64 + quarter % 2 * 32 + l];
      int low = quarter < 2 ? byte & 15 : byte >> 4;
      int high = at[128 + part * 32 + l] >> quarter * 2 & 3;
      row.codes.push_back((low | high << 4) - 32);
      if (i % 16 == 0)
        row.scales.push_back(half(at + 208) * float(int8_t(at[192 + i / 16])));
    }
  return row;
}

CodedRow decodeQ5_K(const uint8_t *at, int64_t blocks) {
  CodedRow row{{}, {}, {}, 32};
  for (; blocks-- > 0; at += 176)
    for (int64_t i = 0; i < 256; ++i) {
      int64_t group = i / 32, l = i % 32;
      int byte = at[48 + group / 2 * 32 + l];
      row.codes.push_back((group % 2 ? byte >> 4 : byte & 15) |
                          (at[16 + l] >> group & 1) << 4);
      if (l > 0)
        continue;
      const uint8_t *q = at + 4;
      int scale = group < 4 ? q[group] & 63
                            : (q[group + 4] & 15) | q[group - 4] >> 6 << 4;
      int least = group < 4 ? q[group + 4] & 63
                            : q[group + 4] >> 4 | q[group] >> 6 << 4;
      row.scales.push_back(half(at) * float(scale));
      row.added.push_back(-(half(at + 2) * float(least)));
    }
  return row;
}

/// 32 numbers as integers of `count` digits.
struct Digits {
  float scale;
  int64_t high[32], low[32];
};

Digits digitsOf(int64_t count, const float *x) {
  float largest = 0;
  for (int64_t i = 0; i < 32; ++i)
    largest = std::max(largest, std::fabs(x[i]));
  Digits digits;
  float inverse;
  if (count == 3) {
    // The least power of two, 2^-102 on, by which all are at most 0x7f7f7f.
    int exponent = -102;
    while (double(largest) / std::ldexp(1.0, exponent) > 0x7f7f7f)
      ++exponent;
    digits.scale = std::ldexp(1.0f, exponent);
    inverse = std::ldexp(1.0f, -exponent);
  } else {
    digits.scale = largest / (count == 2 ? 0x7f7f : 0x7f);
    inverse = digits.scale > 0 ? 1 / digits.scale : 0;
  }
  for (int64_t i = 0; i < 32; ++i) {
    auto whole = int64_t(std::nearbyint(x[i] * inverse));
    digits.low[i] = count == 3 ? int8_t(uint8_t(whole)) : 0;
    digits.high[i] = count == 3 ? (whole - digits.low[i]) / 256 : whole;
  }
  return digits;
}

float productOf(int64_t count, const CodedRow &row, const float *x) {
  float y = 0;
  for (size_t first = 0; first < row.codes.size(); first += 32) {
    Digits digits = digitsOf(count, x + first);
    auto combined = [&](int64_t high, int64_t low) {
      return count == 3 ? std::fma(256.0f, float(high), float(low))
                        : float(high);
    };
    for (int64_t at = 0; at < 32; at += row.group) {
      int64_t high = 0, low = 0, sumHigh = 0, sumLow = 0;
      for (int64_t i = at; i < at + row.group; ++i) {
        high += row.codes[first + i] * digits.high[i];
        low += row.codes[first + i] * digits.low[i];
        sumHigh += digits.high[i];
        sumLow += digits.low[i];
      }
      size_t group = (first + at) / row.group;
      y = std::fma(row.scales[group] * digits.scale, combined(high, low), y);
      if (!row.added.empty())
        y = std::fma(row.added[group], combined(sumHigh, sumLow) * digits.scale,
                     y);
    }
  }
  return y;
}

// Blocks of GroupedCodes.h: their zero is of the code. Groups of 32, for which the rows
// have a scale.
CodedRow decodeInt4z(const uint8_t *at, int64_t blocks) {
  CodedRow row{{}, {}, {}, 32};
  for (; blocks-- > 0; at += 67)
    for (int64_t i = 0; i < 128; ++i) {
      int byte = at[3 + i % 64];
      row.codes.push_back((i < 64 ? byte & 15 : byte >> 4) - at[2]);
      if (i % 32 == 0)
        row.scales.push_back(half(at));
    }
  return row;
}

CodedRow decodeInt8z(const uint8_t *at, int64_t blocks) {
  CodedRow row{{}, {}, {}, 32};
  for (; blocks-- > 0; at += 35) {
    for (int64_t i = 0; i < 32; ++i)
      row.codes.push_back(at[3 + i] - at[2]);
    row.scales.push_back(
        std::bit_cast<float>(uint32_t(at[0] | at[1] << 8) << 16));
  }
  return row;
}

struct Kind {
  const char *name;
  CodedRow (*decode)(const uint8_t *row, int64_t blocks);
};
const Kind kKinds[] = {
    {"q4_1", decodeQ4_1},          {"q8_0", decodeQ8_0},
    {"iq4_nl", decodeIQ4_NL},      {"q6_k", decodeQ6_K},
    {"q5_k", decodeQ5_K},          {"int4z_128_f16", decodeInt4z},
    {"int8z_32_bf16", decodeInt8z}};

using Case = std::tuple<Kind, int>;
class DigitProducts : public testing::TestWithParam<Case> {
protected:
  static const PublishedBlock &published(const char *name) {
    for (const auto *blocks : {&publishedBlocks(), &groupedBlocks()})
      for (const PublishedBlock &block : *blocks)
        if (std::string_view(block.name) == name)
          return block;
    llvm_unreachable("every kind is published");
  }
};

// 43 outputs: two panels and a rest of 11, two items.
TEST_P(DigitProducts, HaveTheBitsOfTheFormula) {
  if (testTarget().device != tile::Device::Host)
    GTEST_SKIP() << "rows are digits on the host alone";
  auto [kind, count] = GetParam();
  mlir::MLIRContext context;
  storage::BlockType type = typeOf(published(kind.name), context);
  std::string spelling;
  llvm::raw_string_ostream(spelling) << type;
  constexpr int64_t kVocabulary = 7, kOutputs = 43;
  int64_t width =
      type.getElements() == 32 ? 160 : 768; // 6 or 3 blocks of others
  TestModel text(headModel(spelling, kVocabulary, width, kOutputs));
  ASSERT_EQ(text.getErrors(), "");
  PipelineOptions options;
  options.prefillRows = {16};
  options.decodeRows = {1, 3};
  options.products = count == 1   ? Products::Int8
                     : count == 2 ? Products::Int16
                                  : Products::Exact;
  PlanRunner runner(text, options, /*slots=*/3);
  std::mt19937_64 random(11 + count);
  std::normal_distribution<float> normal(0, 1);
  int64_t blocks = width / type.getElements();
  auto bytes = randomBlocks(published(kind.name), type.getBytes(),
                            kOutputs * blocks, random, 0.01f);
  runner.setStoredWeight("matrix", bytes);
  std::vector<float> table(kVocabulary * width);
  for (float &number : table)
    number = normal(random);
  // A row of extremes, one with a spike, one of zeros, one that is hardly there.
  for (int64_t i = 0; i < width; ++i) {
    table[i] = i % 2 ? 8355711.0f : -8355711.0f;
    table[2 * width + i] = 0;
    table[3 * width + i] *= 0x1p-100f;
  }
  table[width + 5] = 1e4f;
  runner.setWeight("table", table);
  std::vector<CodedRow> rows;
  for (int64_t i = 0; i < kOutputs; ++i)
    rows.push_back(
        kind.decode(bytes.data() + i * blocks * type.getBytes(), blocks));
  auto check = [&](const std::vector<float> &found,
                   const std::vector<int32_t> &tokens) {
    ASSERT_EQ(found.size(), tokens.size() * kOutputs);
    for (size_t t = 0; t < tokens.size(); ++t)
      for (int64_t i = 0; i < kOutputs; ++i) {
        float expected =
            productOf(count, rows[i], table.data() + tokens[t] * width);
        ASSERT_EQ(found[t * kOutputs + i], expected)
            << "token " << tokens[t] << ", output " << i;
      }
  };
  std::vector<int32_t> tokens = {3, 0, 6, 1, 2, 5, 4, 0, 1};
  check(runner.prefill({{.tokens = tokens}}), tokens);
  for (int32_t token = 0; token < kVocabulary; ++token)
    check(runner.decode({{.tokens = {token}}}), {token});
  check(runner.decode({{.slot = 0, .tokens = {6}},
                       {.slot = 1, .tokens = {0}},
                       {.slot = 2, .tokens = {4}}}),
        {6, 0, 4});
}

INSTANTIATE_TEST_SUITE_P(Kinds, DigitProducts,
                         testing::Combine(testing::ValuesIn(kKinds),
                                          testing::Values(1, 2, 3)),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) +
                                  "_" + std::to_string(std::get<1>(info.param));
                         });

} // namespace
