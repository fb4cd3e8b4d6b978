// Decoders of blocks of one scale, from what dialects/storage/GroupedCodes.h says of
// their bytes and from what the codes mean elsewhere: OCP 8-bit Floating Point 1.0,
// table 1, and the table of create_normal_map() in bitsandbytes' functional.py.
#include "test/unit/dialects/storage/PublishedBlocks.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace effc;
using namespace effc::test;

static float half(const uint8_t *at) {
  _Float16 value;
  std::memcpy(&value, at, 2);
  return float(value);
}

static float brain(const uint8_t *at) {
  return std::bit_cast<float>(uint32_t(at[0] | at[1] << 8) << 16);
}

static float single(const uint8_t *at) {
  float value;
  std::memcpy(&value, at, 4);
  return value;
}

// A scale, a zero, nibbles.
static void decodeInt4z(const uint8_t *block, float *y) {
  for (int i = 0; i < 128; ++i) {
    int byte = block[3 + i % 64], code = i < 64 ? byte & 15 : byte >> 4;
    y[i] = half(block) * float(code - block[2]);
  }
}

// A scale of bf16, nibbles around 8; 24 elements, which no panel has.
static void decodeInt4(const uint8_t *block, float *y) {
  for (int i = 0; i < 24; ++i) {
    int byte = block[2 + i % 12];
    y[i] = brain(block) * float((i < 12 ? byte & 15 : byte >> 4) - 8);
  }
}

// A scale of f16, nibbles around 8; halves of 10 elements, which no load of four fits.
static void decodeHalvesOf10(const uint8_t *block, float *y) {
  for (int i = 0; i < 20; ++i) {
    int byte = block[2 + i % 10];
    y[i] = half(block) * float((i < 10 ? byte & 15 : byte >> 4) - 8);
  }
}

// Three bits: a plane of two, a plane of the highest.
static void decodeInt3z(const uint8_t *block, float *y) {
  for (int i = 0; i < 64; ++i) {
    int low = block[3 + i / 8 % 2 * 8 + i % 8] >> (i / 32 * 4 + i / 16 % 2 * 2);
    int high = block[3 + 16 + i % 8] >>
               (i / 8 % 8 / 4 * 4 + i / 16 % 2 * 2 + i / 8 % 2);
    y[i] = half(block) * float((low & 3) + (high & 1) * 4 - block[2]);
  }
}

static void decodeInt8(const uint8_t *block, float *y) {
  for (int i = 0; i < 96; ++i)
    y[i] = single(block) * float(block[4 + i] - 128);
}

static void decodeInt8z(const uint8_t *block, float *y) {
  for (int i = 0; i < 32; ++i)
    y[i] = brain(block) * float(block[3 + i] - block[2]);
}

static float eighth(int bits, int fraction, int bias) {
  int exponent = (bits & 127) >> fraction, rest = bits & ((1 << fraction) - 1);
  double value = exponent == 0 ? std::ldexp(rest, 1 - bias - fraction)
                               : std::ldexp(rest + (1 << fraction),
                                            exponent - bias - fraction);
  return float(bits & 128 ? -value : value);
}

static void decodeE4M3(const uint8_t *block, float *y) {
  for (int i = 0; i < 128; ++i)
    y[i] = single(block) * eighth(block[4 + i], 3, 7);
}

static void decodeE5M2(const uint8_t *block, float *y) {
  for (int i = 0; i < 32; ++i)
    y[i] = brain(block) * eighth(block[2 + i], 2, 15);
}

static void decodeNF4(const uint8_t *block, float *y) {
  static constexpr float kTable[16] = {-1.0f,
                                       -0.6961928009986877f,
                                       -0.5250730514526367f,
                                       -0.39491748809814453f,
                                       -0.28444138169288635f,
                                       -0.18477343022823334f,
                                       -0.09105003625154495f,
                                       0,
                                       0.07958029955625534f,
                                       0.16093020141124725f,
                                       0.24611230194568634f,
                                       0.33791524171829224f,
                                       0.44070982933044434f,
                                       0.5626170039176941f,
                                       0.7229568362236023f,
                                       1};
  // The scale has 2^-27 of that of the table.
  float scale = std::ldexp(single(block), 27);
  for (int i = 0; i < 64; ++i) {
    int byte = block[4 + i % 32];
    y[i] = scale * kTable[i < 32 ? byte & 15 : byte >> 4];
  }
}

const std::vector<PublishedBlock> &effc::test::groupedBlocks() {
  static const std::vector<PublishedBlock> blocks = {
      {"int4z_128_f16", decodeInt4z, {0}},
      {"int4_24_bf16", decodeInt4, {}, {0}},
      {"int4_20_f16", decodeHalvesOf10, {0}},
      {"int3z_64_f16", decodeInt3z, {0}},
      {"int8_96_f32", decodeInt8, {}, {}, {0}},
      {"int8z_32_bf16", decodeInt8z, {}, {0}},
      // No NaN or infinity: without the lowest bit, or the lowest of the exponent.
      {"e4m3_128_f32", decodeE4M3, {}, {}, {0}, 0xfe},
      {"e5m2_32_bf16", decodeE5M2, {}, {0}, {}, 0xfb},
      {"nf4_64_f32", decodeNF4, {}, {}, {0}, 0xff, 0x1p-27f}};
  return blocks;
}
