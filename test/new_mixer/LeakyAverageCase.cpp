// The case of the contract that takes the place of all others.
#include "test/new_mixer/LeakyAverage.h"
#include "test/unit/contract/LinearCases.h"
#include "test/unit/contract/LinearDraws.h"

const std::vector<effc::test::LinearCase> &effc::test::linearCases() {
  static const std::vector<LinearCase> cases = {
      caseOf<seq::LeakyAverageOp>({{"gate", sigmoidGate(1)}})};
  return cases;
}
