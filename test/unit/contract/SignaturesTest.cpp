// What a mixer's signature says holds of its op: the verifier asks each value
// for its shape, groups are whole, and every operand has its role.
#include "test/unit/contract/LinearCases.h"
#include "test/unit/dialects/seq/Program.h"

#include "gtest/gtest.h"

using namespace effc::seq;
using namespace effc::seq::test;
using namespace effc::test;

namespace {

/// Seven tokens; extents differ, so that no letter stands for another.
Extents extentsOf(const LinearCase &mixer) {
  return {7, 6, mixer.grouped ? 2 : 6, mixer.oneKey ? 1 : 3, 5};
}

std::string programText(const LinearCase &mixer, const Extents &extents,
                        const std::string &mixed = "THV") {
  std::string arguments, op = mixer.opText(extents);
  for (auto [i, operand] : llvm::enumerate(mixer.operands()))
    arguments += (i ? ", %a" : "%a") + std::to_string(i) + ": " +
                 tensorType(extents.of(operand->letters), operand->element());
  std::string y = tensorType(extents.of("THV"));
  op.replace(op.rfind("-> (" + y) + 4, y.size(), tensorType(extents.of(mixed)));
  return "func.func @mixer(" + arguments + ") {\n  " + op + "\n  return\n}\n";
}

void expectRefusal(const std::string &text, const std::string &words) {
  std::string error = Program().parseError(text);
  EXPECT_NE(error.find(words), error.npos) << words << "\n" << error;
}

/// "expects 'q' of shape T,H,K"; other words where a constraint of the values'
/// types comes first.
std::string expectation(const LinearCase &mixer, const LinearOperand &operand) {
  if (operand.isPositions)
    return "must be 1-D i32 tensor";
  if (mixer.name == "ssd" && (operand.name == "x" || operand.name == "y"))
    return "{x, y} have same type";
  std::string letters;
  for (char letter : operand.letters)
    letters += (letters.empty() ? "" : ",") + std::string(1, letter);
  return "expects '" + operand.name + "' of shape " + letters;
}

class Signatures : public testing::TestWithParam<LinearCase> {};
class GroupedSignatures : public testing::TestWithParam<LinearCase> {};

TEST_P(Signatures, GiveEachValueItsShape) {
  const LinearCase &mixer = GetParam();
  Extents extents = extentsOf(mixer);
  for (size_t i = 0; i < mixer.operands().size(); ++i) {
    LinearCase wrong = mixer;
    const_cast<LinearOperand *>(wrong.operands()[i])->letters += "V";
    expectRefusal(programText(wrong, extents),
                  expectation(mixer, *mixer.operands()[i]));
  }
  expectRefusal(programText(mixer, extents, "THVV"),
                expectation(mixer, {"y", "THV", {}}));
}

TEST_P(GroupedSignatures, AskForWholeGroups) {
  Extents extents = extentsOf(GetParam());
  extents.G = 4;
  expectRefusal(programText(GetParam(), extents),
                "expects G to divide H = 6, but got 4");
}

TEST_P(Signatures, GiveEachOperandItsRole) {
  const LinearCase &mixer = GetParam();
  Program program(programText(mixer, extentsOf(mixer)));
  ASSERT_TRUE(program.isValid()) << program.getDiagnostics().str();
  auto op = program.find<MixerOpInterface>();
  auto stateful = llvm::cast<StatefulOpInterface>(op.getOperation());
  EXPECT_EQ(stateful.getOperandsOf(OperandRole::Token).size(),
            mixer.tokens.size());
  EXPECT_EQ(stateful.getOperandsOf(OperandRole::Parameter).size(),
            mixer.parameters.size());
  ASSERT_EQ(stateful.getStates().size(), mixer.states.size());
  for (auto [index, state] : llvm::enumerate(stateful.getStates())) {
    EXPECT_EQ(state.operand,
              mixer.tokens.size() + mixer.parameters.size() + index);
    EXPECT_EQ(state.result, 1 + index);
  }
  EXPECT_GE(op.getSignature().size(), mixer.operands().size());
}

/// The cases whose op has a signature, or those with groups in it.
std::vector<LinearCase> signedCases(bool isGrouped = false) {
  std::vector<LinearCase> cases;
  for (const LinearCase &mixer : linearCases())
    if (!mixer.body && (mixer.grouped || !isGrouped))
      cases.push_back(mixer);
  return cases;
}

std::string titleOf(const testing::TestParamInfo<LinearCase> &info) {
  return info.param.title();
}

INSTANTIATE_TEST_SUITE_P(Mixers, Signatures, testing::ValuesIn(signedCases()),
                         titleOf);
INSTANTIATE_TEST_SUITE_P(Mixers, GroupedSignatures,
                         testing::ValuesIn(signedCases(/*isGrouped=*/true)),
                         titleOf);

} // namespace
