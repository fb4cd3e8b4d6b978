// The order in which inputs of one group lie side by side.
#include "frontend/quantised/InputOrder.h"

#include <gtest/gtest.h>

using namespace effc::frontend;
using Numbers = std::vector<uint32_t>;

TEST(InputOrder, PutsInputsOfAGroupSideBySide) {
  EXPECT_EQ(orderByGroups(Numbers{1, 0, 2, 1, 0, 2}, /*each=*/2),
            (Numbers{1, 4, 0, 3, 2, 5}));
  // The last group may be shorter.
  EXPECT_EQ(orderByGroups(Numbers{1, 0, 1, 0, 2}, 2), (Numbers{1, 3, 0, 2, 4}));
}

TEST(InputOrder, IsNoneWhereGroupsDifferInSize) {
  EXPECT_EQ(orderByGroups(Numbers{0, 1, 0, 0}, 2), std::nullopt);
  // A group that no input has.
  EXPECT_EQ(orderByGroups(Numbers{0, 0, 2, 2}, 2), std::nullopt);
}
