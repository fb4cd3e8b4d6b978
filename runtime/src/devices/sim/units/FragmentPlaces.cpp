#include "runtime/src/devices/sim/units/FragmentPlaces.h"

#include "runtime/src/devices/sim/SharedMemory.h"
#include "runtime/src/devices/sim/units/Fragments.h"

#include <algorithm>

using namespace effc;
using namespace effc::rt;

static constexpr uint32_t kRows = 16, kColumns = 8, kMostDepth = 16;

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

static void gather(std::span<const FragmentPlaces *const> places, bool isTf32,
                   Lines &a, Lines &b) {
  // Of tf32 the second place of a register is none.
  uint32_t each = isTf32 ? 2 : 1;
  for (uint32_t lane = 0; lane < places.size(); ++lane) {
    auto ofA = [&](uint32_t i, uint32_t row, uint32_t depth) {
      a.at[row][depth] = places[lane]->a[each * i];
    };
    auto ofB = [&](uint32_t i, uint32_t depth, uint32_t column) {
      b.at[column][depth] = places[lane]->b[each * i];
    };
    isTf32 ? eachWhole(lane, ofA, ofB) : eachHalf(lane, ofA, ofB);
  }
}

/// Where an element would lie if its row were not swizzled. Shared memory begins
/// at a multiple of the pattern.
static int64_t placeOf(const uint8_t *address, bool isSwizzled) {
  auto at = reinterpret_cast<uintptr_t>(address);
  return static_cast<int64_t>(isSwizzled ? swizzled(at) : at);
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
  gather(places, isTf32, a, b);
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
