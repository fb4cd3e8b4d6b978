#include "test/unit/dialects/storage/PublishedBlocks.h"

#include "dialects/storage/Formats.h"

#include <cmath>
#include <cstring>

using namespace effc;
using namespace effc::test;

// By the compiler's own type, not by effc's conversion.
static float half(const uint8_t *at) {
  _Float16 value;
  std::memcpy(&value, at, 2);
  return float(value);
}

static void decodeQ4_0(const uint8_t *block, float *y) {
  for (int j = 0; j < 16; ++j) {
    y[j] = half(block) * float((block[2 + j] & 15) - 8);
    y[j + 16] = half(block) * float((block[2 + j] >> 4) - 8);
  }
}

static void decodeQ4_1(const uint8_t *block, float *y) {
  for (int j = 0; j < 16; ++j) {
    y[j] = half(block) * float(block[4 + j] & 15) + half(block + 2);
    y[j + 16] = half(block) * float(block[4 + j] >> 4) + half(block + 2);
  }
}

static int fifthBit(const uint8_t *bits, int element) {
  return bits[element / 8] >> element % 8 & 1;
}

static void decodeQ5_0(const uint8_t *block, float *y) {
  for (int j = 0; j < 16; ++j) {
    int low = (block[6 + j] & 15) | fifthBit(block + 2, j) << 4;
    int high = block[6 + j] >> 4 | fifthBit(block + 2, j + 16) << 4;
    y[j] = half(block) * float(low - 16);
    y[j + 16] = half(block) * float(high - 16);
  }
}

static void decodeQ5_1(const uint8_t *block, float *y) {
  for (int j = 0; j < 16; ++j) {
    int low = (block[8 + j] & 15) | fifthBit(block + 4, j) << 4;
    int high = block[8 + j] >> 4 | fifthBit(block + 4, j + 16) << 4;
    y[j] = half(block) * float(low) + half(block + 2);
    y[j + 16] = half(block) * float(high) + half(block + 2);
  }
}

static void decodeQ8_0(const uint8_t *block, float *y) {
  for (int j = 0; j < 32; ++j)
    y[j] = half(block) * float(int8_t(block[2 + j]));
}

static void decodeQ2_K(const uint8_t *block, float *y) {
  float d = half(block + 80), least = half(block + 82);
  for (int part = 0; part < 2; ++part)
    for (int shift = 0; shift < 8; shift += 2)
      for (int l = 0; l < 32; ++l) {
        int group = part * 8 + shift / 2 * 2 + l / 16;
        int code = block[16 + part * 32 + l] >> shift & 3;
        *y++ = d * float(block[group] & 15) * float(code) -
               least * float(block[group] >> 4);
      }
}

static void decodeQ3_K(const uint8_t *block, float *y) {
  const uint8_t *scales = block + 96;
  for (int part = 0; part < 2; ++part)
    for (int quarter = 0; quarter < 4; ++quarter)
      for (int l = 0; l < 32; ++l) {
        int group = part * 8 + quarter * 2 + l / 16;
        int low = group < 8 ? scales[group] & 15 : scales[group - 8] >> 4;
        int high = scales[8 + group % 4] >> group / 4 * 2 & 3;
        int scale = (low | high << 4) - 32;
        int code = block[32 + part * 32 + l] >> quarter * 2 & 3;
        bool whole = block[l] >> (part * 4 + quarter) & 1;
        *y++ = half(block + 108) * float(scale) * float(code - (whole ? 0 : 4));
      }
}

// Six bits each of a scale and of a least number, for eight groups in 12 bytes.
static std::pair<int, int> scaleOfGroup(const uint8_t *q, int group) {
  if (group < 4)
    return {q[group] & 63, q[group + 4] & 63};
  return {(q[group + 4] & 15) | q[group - 4] >> 6 << 4,
          q[group + 4] >> 4 | q[group] >> 6 << 4};
}

static void decodeQ4_K(const uint8_t *block, float *y) {
  for (int group = 0; group < 8; ++group)
    for (int l = 0; l < 32; ++l) {
      auto [scale, least] = scaleOfGroup(block + 4, group);
      int byte = block[16 + group / 2 * 32 + l];
      int code = group % 2 ? byte >> 4 : byte & 15;
      *y++ = half(block) * float(scale) * float(code) -
             half(block + 2) * float(least);
    }
}

static void decodeQ5_K(const uint8_t *block, float *y) {
  for (int group = 0; group < 8; ++group)
    for (int l = 0; l < 32; ++l) {
      auto [scale, least] = scaleOfGroup(block + 4, group);
      int byte = block[48 + group / 2 * 32 + l];
      int code = (group % 2 ? byte >> 4 : byte & 15) |
                 (block[16 + l] >> group & 1) << 4;
      *y++ = half(block) * float(scale) * float(code) -
             half(block + 2) * float(least);
    }
}

static void decodeQ6_K(const uint8_t *block, float *y) {
  for (int part = 0; part < 2; ++part)
    for (int quarter = 0; quarter < 4; ++quarter)
      for (int l = 0; l < 32; ++l) {
        int byte = block[part * 64 + quarter % 2 * 32 + l];
        int low = quarter < 2 ? byte & 15 : byte >> 4;
        int high = block[128 + part * 32 + l] >> quarter * 2 & 3;
        auto scale = int8_t(block[192 + part * 8 + quarter * 2 + l / 16]);
        *y++ = half(block + 208) * float(scale) * float((low | high << 4) - 32);
      }
}

static constexpr int kNonlinear[16] = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

static void decodeIQ4_NL(const uint8_t *block, float *y) {
  for (int j = 0; j < 16; ++j) {
    y[j] = half(block) * float(kNonlinear[block[2 + j] & 15]);
    y[j + 16] = half(block) * float(kNonlinear[block[2 + j] >> 4]);
  }
}

static void decodeIQ4_XS(const uint8_t *block, float *y) {
  int high = block[2] | block[3] << 8;
  for (int group = 0; group < 8; ++group) {
    int scale = (block[4 + group / 2] >> group % 2 * 4 & 15) |
                (high >> group * 2 & 3) << 4;
    for (int j = 0; j < 32; ++j) {
      int byte = block[8 + group * 16 + j % 16];
      int code = kNonlinear[j < 16 ? byte & 15 : byte >> 4];
      *y++ = half(block) * float(scale - 32) * float(code);
    }
  }
}

static void decodeMXFP4(const uint8_t *block, float *y) {
  static constexpr float kValues[8] = {0, .5f, 1, 1.5f, 2, 3, 4, 6};
  double power = std::ldexp(1.0, block[0] - 127);
  for (int j = 0; j < 32; ++j) {
    int code = j < 16 ? block[1 + j] & 15 : block[1 + j - 16] >> 4;
    double magnitude = power * kValues[code & 7];
    y[j] = float(code & 8 && magnitude != 0 ? -magnitude : magnitude);
  }
}

const std::vector<PublishedBlock> &effc::test::publishedBlocks() {
  static const std::vector<PublishedBlock> blocks = {
      {"q4_0", decodeQ4_0, {0}},     {"q4_1", decodeQ4_1, {0, 2}},
      {"q5_0", decodeQ5_0, {0}},     {"q5_1", decodeQ5_1, {0, 2}},
      {"q8_0", decodeQ8_0, {0}},     {"q2_k", decodeQ2_K, {80, 82}},
      {"q3_k", decodeQ3_K, {108}},   {"q4_k", decodeQ4_K, {0, 2}},
      {"q5_k", decodeQ5_K, {0, 2}},  {"q6_k", decodeQ6_K, {208}},
      {"iq4_nl", decodeIQ4_NL, {0}}, {"iq4_xs", decodeIQ4_XS, {0}},
      {"mxfp4", decodeMXFP4, {}}};
  return blocks;
}

storage::BlockType effc::test::typeOf(const PublishedBlock &block,
                                      mlir::MLIRContext &context) {
  context.loadDialect<storage::StorageDialect>();
  return llvm::dyn_cast_if_present<storage::BlockType>(
      storage::formatOf(block.name, &context));
}

std::vector<uint8_t> effc::test::randomBlocks(const PublishedBlock &block,
                                              size_t bytes, size_t count,
                                              std::mt19937_64 &random,
                                              float scale) {
  std::vector<uint8_t> all(bytes * count);
  for (uint8_t &byte : all)
    byte = uint8_t(random()) & block.codeBits;
  std::normal_distribution<float> scales(0, scale);
  for (size_t i = 0; i < count; ++i) {
    uint8_t *at = all.data() + i * bytes;
    for (int offset : block.halves) {
      auto value = _Float16(random() % 16 == 0 ? 0x1p-20f : scales(random));
      std::memcpy(at + offset, &value, 2);
    }
    for (int offset : block.brains) {
      float value = scales(random);
      std::memcpy(at + offset, reinterpret_cast<char *>(&value) + 2, 2);
    }
    for (int offset : block.singles) {
      float value = scales(random) * block.unit;
      std::memcpy(at + offset, &value, 4);
    }
    if (block.halves.empty() && block.brains.empty() &&
        block.singles.empty()) // a power of two
      at[0] = uint8_t(127 + std::ilogb(scale) + int(random() % 3));
  }
  return all;
}
