#include "runtime/src/devices/sim/WarpOps.h"

#include <bit>
#include <cmath>

using namespace effc;
using namespace effc::rt;

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
  return std::bit_cast<float>((std::bit_cast<uint32_t>(exact) + 0x1000u) &
                              0xFFFFE000u);
}
