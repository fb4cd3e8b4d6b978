// Products of warps (mma.sync).
#include "runtime/src/devices/sim/units/WarpProduct.h"

#include "runtime/src/devices/sim/SimBlock.h"
#include "runtime/src/devices/sim/units/Fragments.h"
#include "runtime/src/devices/sim/units/TensorCore.h"

#include <utility>

using namespace effc;
using namespace effc::rt;

static constexpr uint32_t kRows = 16, kColumns = kSumsTogether, kMostSteps = 16;
/// Of the chips that multiply so an A100 loses most.
static constexpr Adder kA100 = {8, 1};

/// The hardware reads the 19 upper bits.
static float fromTf32(uint32_t bits) { return fromBits(bits & 0xFFFFE000u); }

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

[[gnu::always_inline]] static inline void multiplyTiles(Tiles &tiles,
                                                        uint32_t steps) {
  for (uint32_t row = 0; row < kRows; ++row) {
    float sums[kColumns];
    std::memcpy(sums, tiles.c[row], sizeof sums);
    addProducts<kA100>(tiles.a[row], tiles.b, steps, sums);
    std::memcpy(tiles.c[row], sums, sizeof sums);
  }
}

static void multiplyPlainly(Tiles &tiles, uint32_t steps) {
  multiplyTiles(tiles, steps);
}
EFFC_WIDE static void multiplyWidely(Tiles &tiles, uint32_t steps) {
  multiplyTiles(tiles, steps);
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
  (hasWideVectors() ? multiplyWidely : multiplyPlainly)(tiles, steps);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 4; ++i)
      lanes[lane].d[i] = tiles.c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
}

void SimBlock::mma(SimThread &thread, uint32_t type, const MmaLane &lane,
                   const char *site) {
  workOf(thread).mma = lane;
  joinOp(thread, Op::Mma, type, site);
}

void SimBlock::multiplyWarp(Warp &warp, SimThread &last) {
  auto type = SimMma(warp.detail);
  MmaLane lanes[kWarpThreads];
  for (uint32_t lane = 0; lane < kWarpThreads; ++lane)
    lanes[lane] = warp.lanes[lane].mma;
  multiply(type, lanes);

  std::span<SimThread> group = std::span(threads).subspan(
      last.index / kWarpThreads * kWarpThreads, kWarpThreads);
  const FragmentPlaces *places[kWarpThreads];
  bool isKnown = true;
  for (uint32_t lane = 0; lane < kWarpThreads; ++lane) {
    isKnown &= std::exchange(group[lane].placesPassed, false);
    places[lane] = &group[lane].places;
  }
  if (isKnown)
    require(last, warp.site, checkPlaces(type, places, /*isDense=*/false));
}
