// The case of the contract that takes the place of all others.
#include "test/unit/contract/LinearCases.h"
#include "test/unit/contract/LinearDraws.h"

const std::vector<effc::test::LinearCase> &effc::test::linearCases() {
  static const std::vector<LinearCase> cases = {
      {.name = "leaky_average",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("gate", "TH", sigmoidGate(1))},
       .states = {operand("state", "HKV")}}};
  return cases;
}
