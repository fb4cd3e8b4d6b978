// Files whose states have 16 or 8 bits: what is rounded when, and how much that may cost.
#include "test/unit/tools/effc-verify/VerifyFixture.h"

using namespace effc;
using namespace effc::test;
using namespace effc::verify;

namespace {
class StateTypes : public Verify {};
} // namespace

// A state in bf16 is rounded between calls alone: 24 tokens in one prefill owe
// as much as with states in f32, fed otherwise ten roundings of 2^-9.
TEST_F(StateTypes, NarrowStatesAreTolerableBetweenCallsAlone) {
  Report report =
      verify(compile("mamba2/f32_groups2", {"--state-dtype", "bf16"}));
  EXPECT_EQ(failures(report), Arguments());
  EXPECT_LT(find(report, "this file").tolerance, 1e-4);
  EXPECT_LT(find(report, "kernels step").tolerance, 1e-4);
  EXPECT_GT(find(report, "decode steps").error, 1e-4);
  EXPECT_DOUBLE_EQ(find(report, "decode steps").tolerance, 10.0 / 512);
}

// Keys and values in 16 and 8 bits are rounded when a token is made: fed in any way the
// bits are the same, and f16 is nearer than bf16.
TEST_F(StateTypes, NarrowKeysHaveTheSameBitsInAnyPieces) {
  std::vector<double> errors;
  std::map<std::string, double> tolerances = {
      {"bf16", 10.0 / 512}, {"f16", 10.0 / 4096}, {"int8", 10.0 / 254}};
  for (std::string type : {"int8", "bf16", "f16"}) {
    Report report =
        verify(compile("families/gemma3/text_linear",
                       {"--state-dtype", type, "--werror=fallback"}));
    EXPECT_EQ(failures(report), Arguments());
    for (const char *name : {"decode steps", "batch of 4, this sequence",
                             "saved and loaded halfway"}) {
      EXPECT_EQ(find(report, name).error, 0) << type << ", " << name;
      EXPECT_EQ(find(report, name).tolerance, 0) << type << ", " << name;
    }
    double error = find(report, "this file").error;
    EXPECT_DOUBLE_EQ(find(report, "this file").tolerance, tolerances[type]);
    EXPECT_GT(error, 1e-5) << type;
    errors.push_back(error);
  }
  EXPECT_LT(errors[1], errors[0]);
  EXPECT_LT(errors[2], errors[1] / 2);
}
