// Which places of elements can be those of a product's fragments, by the tables
// of the PTX ISA.
#include "runtime/src/devices/sim/units/FragmentPlaces.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::rt;

namespace {

/// A product whose A has rows of 48 elements and whose B has columns of 80, of
/// two bytes.
class Fragments : public testing::Test {
protected:
  static constexpr uint64_t kPitchA = 96, kPitchB = 160, kB = 8192;
  alignas(1024) static inline uint8_t memory[16384];
  FragmentPlaces lanes[32];

  static const uint8_t *a(uint32_t row, uint32_t k) {
    return memory + row * kPitchA + k * 2;
  }
  static const uint8_t *b(uint32_t k, uint32_t column) {
    return memory + kB + column * kPitchB + k * 2;
  }

  /// "Matrix Fragments for mma.m16n8k16 with floating point type", of .bf16.
  void gatherHalves() {
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint32_t groupId = lane >> 2, inGroup = lane % 4;
      for (uint32_t i = 0; i < 8; ++i) {
        bool upper = i < 2 || (4 <= i && i < 6);
        lanes[lane].a[i] = a(upper ? groupId : groupId + 8,
                             inGroup * 2 + (i & 1) + (i < 4 ? 0 : 8));
      }
      for (uint32_t i = 0; i < 4; ++i)
        lanes[lane].b[i] = b(inGroup * 2 + (i & 1) + (i < 2 ? 0 : 8), groupId);
    }
  }

  /// "Matrix Fragments for mma.m16n8k8", of .tf32, which `depths` orders.
  void gatherTf32(const uint32_t (&depths)[8]) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint32_t groupId = lane >> 2, inGroup = lane % 4;
      uint32_t first = depths[inGroup], second = depths[inGroup + 4];
      lanes[lane] = {{a(groupId, first), nullptr, a(groupId + 8, first),
                      nullptr, a(groupId, second), nullptr,
                      a(groupId + 8, second), nullptr},
                     {b(first, groupId), nullptr, b(second, groupId), nullptr}};
    }
  }

  Fault check(SimMma type = SimMma::M16N8K16Bf16, bool isDense = false) const {
    const FragmentPlaces *places[32];
    for (uint32_t lane = 0; lane < 32; ++lane)
      places[lane] = &lanes[lane];
    return checkPlaces(type, places, isDense);
  }
  void forgetB() {
    for (FragmentPlaces &lane : lanes)
      for (const uint8_t *&place : lane.b)
        place = nullptr;
  }
  /// Rows 8 to 15 in place of depths 8 to 15.
  void exchangeRegistersOfA() {
    for (FragmentPlaces &lane : lanes)
      for (uint32_t i = 0; i < 2; ++i)
        std::swap(lane.a[2 + i], lane.a[4 + i]);
  }
};

} // namespace

TEST_F(Fragments, OfTheIsaAreRight) {
  gatherHalves();
  EXPECT_EQ(check(), "");
  forgetB();
  EXPECT_EQ(check(), "");
  EXPECT_EQ(check(SimMma::M16N8K16F16, /*isDense=*/true), "");
  gatherTf32({0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(check(SimMma::M16N8K8Tf32), "");
}

// Which depth comes first makes no difference, if it is the same in A and B.
TEST_F(Fragments, MayOrderTheDepth) {
  gatherTf32({0, 2, 4, 6, 1, 3, 5, 7});
  EXPECT_EQ(check(SimMma::M16N8K8Tf32), "");
  FragmentPlaces ordered[32];
  std::ranges::copy(lanes, ordered);
  gatherTf32({0, 1, 2, 3, 4, 5, 6, 7});
  for (uint32_t lane = 0; lane < 32; ++lane)
    std::ranges::copy(ordered[lane].a, lanes[lane].a);
  EXPECT_NE(check(SimMma::M16N8K8Tf32).find("do not belong together"),
            std::string::npos);
}

TEST_F(Fragments, ExchangedRegisters) {
  gatherHalves();
  exchangeRegistersOfA();
  EXPECT_NE(check().find("misplaced: A and B"), std::string::npos) << check();
  forgetB();
  EXPECT_NE(
      check(SimMma::M16N8K16Bf16, /*isDense=*/true).find("misplaced: A and B"),
      std::string::npos);
}

TEST_F(Fragments, OneLaneReadsTheNextColumn) {
  gatherHalves();
  for (const uint8_t *&place : lanes[13].a)
    place += 2;
  EXPECT_NE(check().find("misplaced: A comes from places"), std::string::npos)
      << check();
  EXPECT_NE(check().find("of row 3"), std::string::npos) << check();
  gatherHalves();
  for (const uint8_t *&place : lanes[6].b)
    place += 2;
  EXPECT_NE(check().find("misplaced: B comes from places"), std::string::npos)
      << check();
}

// Every row begins somewhere else in the pattern.
TEST_F(Fragments, InSwizzledRows) {
  gatherHalves();
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 8; ++i) {
      bool upper = i < 2 || (4 <= i && i < 6);
      uint64_t row = (lane >> 2) + (upper ? 0 : 8);
      uint64_t at = row * 128 + (lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8)) * 2;
      lanes[lane].a[i] = memory + (at ^ (row & 7) << 4);
    }
  EXPECT_EQ(check(), "");
  exchangeRegistersOfA();
  EXPECT_NE(check(), "");
}

// Of a row of which something is not known nothing is.
TEST_F(Fragments, NotKnown) {
  gatherHalves();
  lanes[8].a[0] = nullptr; // of row 2, where the fault is
  lanes[9].a[0] += 2;
  EXPECT_EQ(check(), "");
  lanes[8].a[0] = a(2, 0);
  EXPECT_NE(check(), "");
}
