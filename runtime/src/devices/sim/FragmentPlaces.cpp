#include "runtime/src/devices/sim/FragmentPlaces.h"

#include <algorithm>

using namespace effc;
using namespace effc::rt;

static constexpr uint32_t kRows = 16, kColumns = 8, kMostDepth = 16;

template <typename... Parts> static Fault say(const Parts &...parts) {
  return fail(EFFC_DEVICE_ERROR, parts...).message;
}

namespace {
/// Of each row of A or column of B, where its elements lie.
struct Lines {
  const uint8_t *at[kRows][kMostDepth];
  uint32_t count;
};

/// Along the depth, how far each element lies behind the first.
struct Steps {
  bool isKnown = false;
  int64_t to[kMostDepth];
};
} // namespace

/// As the PTX ISA has them: registers of one element.
static void gatherWhole(std::span<const FragmentPlaces *const> places, Lines &a,
                        Lines &b) {
  for (uint32_t lane = 0; lane < places.size(); ++lane) {
    uint32_t group = lane / 4, place = lane % 4;
    for (uint32_t i = 0; i < 4; ++i)
      a.at[group + i % 2 * 8][place + i / 2 * 4] = places[lane]->a[2 * i];
    for (uint32_t i = 0; i < 2; ++i)
      b.at[group][place + i * 4] = places[lane]->b[2 * i];
  }
}

/// Registers of two.
static void gatherHalves(std::span<const FragmentPlaces *const> places,
                         Lines &a, Lines &b) {
  for (uint32_t lane = 0; lane < places.size(); ++lane) {
    uint32_t group = lane / 4, place = lane % 4;
    for (uint32_t i = 0; i < 8; ++i)
      a.at[group + i / 2 % 2 * 8][place * 2 + i % 2 + i / 4 * 8] =
          places[lane]->a[i];
    for (uint32_t i = 0; i < 4; ++i)
      b.at[group][place * 2 + i % 2 + i / 2 * 8] = places[lane]->b[i];
  }
}

/// Where an element would lie if its row were not swizzled: address bits 4 to 6
/// are exchanged by bits 7 to 9. Shared memory begins at a multiple of that.
static int64_t placeOf(const uint8_t *address, bool isSwizzled) {
  auto at = reinterpret_cast<uintptr_t>(address);
  return static_cast<int64_t>(isSwizzled ? at ^ (at >> 7 & 7) << 4 : at);
}

/// The steps that all lines take; of lines of which something is not known,
/// nothing is. A fault: they differ.
static Fault commonSteps(const Lines &lines, uint32_t depth, bool isSwizzled,
                         Steps &common) {
  uint32_t first = 0; // that is known
  for (uint32_t line = 0; line < lines.count; ++line) {
    std::span at(lines.at[line], depth);
    if (std::ranges::find(at, nullptr) != at.end())
      continue;
    int64_t start = placeOf(at[0], isSwizzled);
    for (uint32_t k = 0; k < depth; ++k) {
      int64_t step = placeOf(at[k], isSwizzled) - start;
      if (!common.isKnown)
        common.to[k] = step;
      else if (common.to[k] != step)
        return say(" comes from places in shared memory that differ in their "
                   "steps: element ",
                   k, " in depth lies ", step,
                   " bytes behind element 0 of row ", line, " and ",
                   common.to[k], " bytes behind that of row ", first);
    }
    if (!common.isKnown)
      first = line;
    common.isKnown = true;
  }
  return {};
}

/// The steps of both are multiples of the same ones. Depth 1 is never depth 0.
static Fault compareSteps(const Steps &a, const Steps &b, uint32_t depth) {
  for (uint32_t k = 0; a.isKnown && b.isKnown && k < depth; ++k)
    if (a.to[k] * b.to[1] != b.to[k] * a.to[1])
      return say(" and B come from places in shared memory that do not belong "
                 "together: element ",
                 k, " in depth lies ", a.to[k],
                 " bytes behind element 0 in A, ", b.to[k],
                 " in B, but element 1 ", a.to[1], " and ", b.to[1]);
  return {};
}

Fault rt::checkPlaces(SimMma type,
                      std::span<const FragmentPlaces *const> places,
                      bool isDense) {
  Lines a, b;
  a.count = kRows;
  b.count = kColumns;
  bool isTf32 = type == SimMma::M16N8K8Tf32;
  uint32_t depth = isTf32 ? 8 : 16;
  isTf32 ? gatherWhole(places, a, b) : gatherHalves(places, a, b);
  // Nobody says which of the two lies in swizzled rows.
  Fault first;
  for (bool isSwizzledB : {false, true})
    for (bool isSwizzledA : {false, true}) {
      Steps ofA, ofB;
      Fault fault = commonSteps(a, depth, isSwizzledA, ofA);
      if (fault.empty() && isDense) {
        ofB.isKnown = true;
        for (uint32_t k = 0; k < depth; ++k)
          ofB.to[k] = k;
      }
      const char *operand = "A";
      if (fault.empty() && !isDense) {
        fault = commonSteps(b, depth, isSwizzledB, ofB);
        if (!fault.empty())
          operand = "B";
      }
      if (fault.empty())
        fault = compareSteps(ofA, ofB, depth);
      if (fault.empty())
        return {};
      if (first.empty())
        first = say("misplaced: ", operand, fault);
    }
  return first;
}
