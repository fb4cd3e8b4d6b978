// Every mixer of class `linear`, with operands that put its gates to the test.
//
// Keys are of length 1 for rank-one corrections with rates in [0, 2];
// log-decays are mild, or mix 0, mild ones, -2, -20 and -1e4 in every chunk; in
// every head where a decay is a constant of the head.
#ifndef EFFC_TEST_UNIT_CONTRACT_LINEARCASES_H
#define EFFC_TEST_UNIT_CONTRACT_LINEARCASES_H

#include "test/unit/contract/LinearCase.h"

namespace effc::test {

const std::vector<LinearCase> &linearCases();

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_LINEARCASES_H
