#include "runtime/src/devices/sim/WarpProducts.h"

#include "runtime/abi/NarrowFloats.h"
#include "runtime/src/devices/sim/Fragments.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace effc;
using namespace effc::rt;

static constexpr uint32_t kRows = 16, kColumns = 8, kMostSteps = 16;

static float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// The hardware reads the 19 upper bits.
static float fromTf32(uint32_t bits) { return fromBits(bits & 0xFFFFE000u); }

static float fromBf16(uint32_t bits) { return fromBits(bits << 16); }

static float fromHalf(uint32_t bits) {
  return fromF16(static_cast<uint16_t>(bits));
}

namespace {
/// The operands of a product as matrices.
struct Tiles {
  float a[kRows][kMostSteps];
  float b[kMostSteps][kColumns];
  float c[kRows][kColumns];
};
} // namespace

static void gatherTf32(const MmaLane *lanes, Tiles &tiles) {
  for (uint32_t lane = 0; lane < 32; ++lane)
    eachWhole(
        lane,
        [&](uint32_t i, uint32_t row, uint32_t depth) {
          tiles.a[row][depth] = fromTf32(lanes[lane].a[i]);
        },
        [&](uint32_t i, uint32_t depth, uint32_t column) {
          tiles.b[depth][column] = fromTf32(lanes[lane].b[i]);
        });
}

static void gatherHalves(const MmaLane *lanes, float (*widen)(uint32_t),
                         Tiles &tiles) {
  auto half = [&](const uint32_t *registers, uint32_t i) {
    return widen(registers[i / 2] >> (i % 2 * 16) & 0xFFFF);
  };
  for (uint32_t lane = 0; lane < 32; ++lane)
    eachHalf(
        lane,
        [&](uint32_t i, uint32_t row, uint32_t depth) {
          tiles.a[row][depth] = half(lanes[lane].a, i);
        },
        [&](uint32_t i, uint32_t depth, uint32_t column) {
          tiles.b[depth][column] = half(lanes[lane].b, i);
        });
}

/// Products that a chip adds at once, and bits that it keeps behind an f32's.
struct Adder {
  uint32_t together, bits;
};
static constexpr Adder kA100 = {8, 1}, kH100 = {16, 2};

/// sums[column] += the sum over k of left[k] w[k][column], as a tensor core
/// does: products, which f32 holds, and the sum before are aligned to the
/// largest of them, cut off some bits behind its last place as an f32, added,
/// and cut off to an f32 again. Columns in which something is infinite or no
/// number, or all is below 2^-95, are added one by one.
template <Adder kAdder, uint32_t kPitch>
static void addProducts(const float *left, const float (*w)[kPitch],
                        uint32_t depth, uint32_t columns, float *sums) {
  // From the least exponent on, the last place is a normal number.
  constexpr uint32_t kTogether = kAdder.together, kBits = 23 + kAdder.bits,
                     kBias = 127, kExponent = 0x7F800000, kLeast = 32,
                     kMost = 254;
  for (uint32_t first = 0; first < depth; first += kTogether) {
    uint32_t largest[kPitch];
    int32_t total[kPitch];
    float scale[kPitch];
    for (uint32_t column = 0; column < columns; ++column)
      largest[column] = toBits(sums[column]) & kExponent;
    for (uint32_t k = first; k < first + kTogether; ++k)
      for (uint32_t column = 0; column < columns; ++column) {
        uint32_t exponent = toBits(left[k] * w[k][column]) & kExponent;
        largest[column] =
            exponent > largest[column] ? exponent : largest[column];
      }
    auto isCut = [&](uint32_t column) {
      uint32_t exponent = largest[column] >> 23;
      return kLeast <= exponent && exponent <= kMost;
    };
    for (uint32_t column = 0; column < columns; ++column) {
      uint32_t exponent = isCut(column) ? largest[column] >> 23 : kBias;
      scale[column] = fromBits((2 * kBias + kBits - exponent) << 23);
      total[column] = isCut(column)
                          ? static_cast<int32_t>(sums[column] * scale[column])
                          : 0;
    }
    for (uint32_t k = first; k < first + kTogether; ++k)
      for (uint32_t column = 0; column < columns; ++column)
        total[column] +=
            isCut(column)
                ? static_cast<int32_t>(left[k] * w[k][column] * scale[column])
                : 0;
    for (uint32_t column = 0; column < columns; ++column) {
      if (!isCut(column)) {
        for (uint32_t k = first; k < first + kTogether; ++k)
          sums[column] += left[k] * w[k][column];
        continue;
      }
      auto rounded = static_cast<float>(total[column]);
      bool away =
          std::abs(static_cast<int32_t>(rounded)) > std::abs(total[column]);
      float unit = fromBits(largest[column] - (kBits << 23));
      sums[column] = fromBits(toBits(rounded) - (away ? 1 : 0)) * unit;
    }
  }
}

void rt::multiply(SimMma type, const MmaLane *lanes) {
  Tiles tiles;
  uint32_t steps = type == SimMma::M16N8K8Tf32 ? 8 : 16;
  switch (type) {
  case SimMma::M16N8K8Tf32:
    gatherTf32(lanes, tiles);
    break;
  case SimMma::M16N8K16Bf16:
    gatherHalves(lanes, fromBf16, tiles);
    break;
  case SimMma::M16N8K16F16:
    gatherHalves(lanes, fromHalf, tiles);
    break;
  }
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 4; ++i)
      tiles.c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] = lanes[lane].c[i];
  for (uint32_t row = 0; row < kRows; ++row) {
    float sums[kColumns];
    std::memcpy(sums, tiles.c[row], sizeof sums);
    addProducts<kA100>(tiles.a[row], tiles.b, steps, kColumns, sums);
    std::memcpy(tiles.c[row], sums, sizeof sums);
  }
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 4; ++i)
      lanes[lane].d[i] = tiles.c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
}

void WarpGroupProduct::run() const {
  auto widen = type == SimMma::M16N8K16F16 ? fromHalf : fromBf16;
  float w[kDepth][kMostColumns];
  for (uint32_t column = 0; column < columns; ++column)
    for (uint32_t k = 0; k < kDepth; ++k)
      w[k][column] = widen(b[column][k]);
  for (uint32_t row = 0; row < kRows; ++row) {
    // Of a warp's 16 rows, a thread has one of the first eight and of the last.
    uint32_t first = row / 16 * 32 + row % 8 * 4, half = row / 8 % 2;
    float left[kDepth], sums[kMostColumns];
    for (uint32_t k = 0; k < kDepth; ++k) {
      uint32_t pair = a[first + k % 8 / 2][half + k / 8 * 2];
      left[k] = widen(pair >> k % 2 * 16 & 0xFFFF);
    }
    auto at = [&](uint32_t column) -> float & {
      return d[first + column % 8 / 2][column / 8 * 4 + half * 2 + column % 2];
    };
    for (uint32_t column = 0; column < columns; ++column)
      sums[column] = at(column);
    addProducts<kH100>(left, w, kDepth, columns, sums);
    for (uint32_t column = 0; column < columns; ++column)
      at(column) = sums[column];
  }
}

uint32_t rt::shuffleSource(SimShuffle kind, uint32_t self, uint32_t lane,
                           uint32_t clamp) {
  int32_t b = static_cast<int32_t>(lane & 31);
  int32_t bound = static_cast<int32_t>(clamp & 31);
  int32_t segments = static_cast<int32_t>(clamp >> 8 & 31);
  int32_t own = static_cast<int32_t>(self);
  int32_t first = own & segments;
  int32_t last = first | (bound & ~segments);
  int32_t source = own;
  bool inside = false;
  switch (kind) {
  case SimShuffle::Up:
    source = own - b;
    inside = source >= last;
    break;
  case SimShuffle::Down:
    source = own + b;
    inside = source <= last;
    break;
  case SimShuffle::Butterfly:
    source = own ^ b;
    inside = source <= last;
    break;
  case SimShuffle::Index:
    source = first | (b & ~segments);
    inside = source <= last;
    break;
  }
  return static_cast<uint32_t>(inside ? source : own);
}

const void *rt::matrixElement(const void *const *rows, uint32_t lane,
                              bool transposed, uint32_t i) {
  uint32_t group = lane / 4, place = lane % 4 * 2 + i;
  uint32_t row = transposed ? place : group,
           column = transposed ? group : place;
  return static_cast<const uint16_t *>(rows[row]) + column;
}

uint32_t rt::matrixRegister(const void *const *rows, uint32_t lane,
                            bool transposed) {
  uint16_t elements[2];
  for (uint32_t i = 0; i < 2; ++i)
    std::memcpy(&elements[i], matrixElement(rows, lane, transposed, i),
                sizeof elements[i]);
  return elements[0] | uint32_t(elements[1]) << 16;
}

/// Subnormal numbers become zeros of their sign.
static float flush(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

float rt::approximateExp2(float x) {
  return flush(static_cast<float>(std::exp2(static_cast<double>(flush(x)))));
}

float rt::approximateLog2(float x) {
  return static_cast<float>(std::log2(static_cast<double>(flush(x))));
}

float rt::approximateReciprocal(float x) {
  return flush(static_cast<float>(1.0 / static_cast<double>(flush(x))));
}

float rt::approximateTanh(float x) {
  float exact = static_cast<float>(std::tanh(static_cast<double>(x)));
  if (!std::isfinite(exact))
    return exact;
  // Ten bits behind the first, rounded to nearest.
  return fromBits((toBits(exact) + 0x1000u) & 0xFFFFE000u);
}
