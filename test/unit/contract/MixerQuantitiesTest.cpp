// The canonical quantities that `--tap` computes in front of a mixer, token by token,
// are those of the mixer's token map on all tokens at once. The reference evaluates
// both; the forms of the contract hold the map itself to the mixer's definition.
#include "compiler/MixerQuantities.h"
#include "dialects/seq/CanonicalQuantities.h"
#include "test/unit/contract/LinearCases.h"
#include "test/unit/dialects/seq/Program.h"

#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace effc;
using namespace effc::seq;
using namespace effc::seq::test;
using namespace effc::test;

namespace {

constexpr struct {
  const char *name;
  Value CanonicalQuantities::*member;
} kQuantities[] = {
    {"query", &CanonicalQuantities::query},
    {"key", &CanonicalQuantities::key},
    {"value", &CanonicalQuantities::value},
    {"log_decay", &CanonicalQuantities::logDecay},
    {"value_log_decay", &CanonicalQuantities::valueLogDecay},
    {"turn", &CanonicalQuantities::turn},
    {"turn_imaginary", &CanonicalQuantities::turnImaginary},
    {"query_imaginary", &CanonicalQuantities::queryImaginary},
    {"key_imaginary", &CanonicalQuantities::keyImaginary},
    {"bonus_key", &CanonicalQuantities::bonusKey},
    {"probe", &CanonicalQuantities::probe},
    {"erase", &CanonicalQuantities::erase},
    {"erase_scale", &CanonicalQuantities::eraseScale},
    {"weight", &CanonicalQuantities::weight},
    {"sum_query", &CanonicalQuantities::sumQuery},
    {"sum_key", &CanonicalQuantities::sumKey},
    {"log_gate", &CanonicalQuantities::logGate},
};

/// Of a write behind the first, which is counted from 2 on.
constexpr struct {
  const char *name;
  Value LaterWrite::*member;
} kOfLaterWrites[] = {{"key_", &LaterWrite::key},
                      {"value_", &LaterWrite::value},
                      {"probe_", &LaterWrite::probe},
                      {"erase_scale_", &LaterWrite::eraseScale}};

/// A function of the mixer alone, for any number of tokens.
std::string mixerText(const LinearCase &mixer, Extents extents) {
  extents.T = 0;
  std::string arguments;
  for (auto [i, operand] : llvm::enumerate(mixer.operands()))
    arguments += (i ? ", %a" : "%a") + std::to_string(i) + ": " +
                 tensorType(extents.of(operand->letters), operand->element());
  return "func.func @mixer(" + arguments + ") -> " +
         tensorType(extents.of("THV")) + " {\n  " + mixer.opText(extents) +
         "\n  return %r#0 : " + tensorType(extents.of("THV")) + "\n}\n";
}

/// Makes the function give `values`.
void giveBack(Program &program, ArrayRef<Value> values) {
  func::FuncOp function = program.getFunction();
  Operation *end = function.getBody().front().getTerminator();
  end->setOperands(values);
  function.setType(FunctionType::get(program.getContext(),
                                     function.getArgumentTypes(),
                                     TypeRange(end->getOperandTypes())));
}

/// What does not vary with the token may lack T; then it is repeated for each.
Tensor<double> perToken(const Tensor<double> &tensor,
                        const Tensor<double> &like) {
  if (tensor.getRank() == like.getRank())
    return tensor;
  std::vector<double> rows;
  for (int64_t t = 0; t < like.getDim(0); ++t)
    llvm::append_range(rows, tensor.elements());
  SmallVector<int64_t> shape(tensor.getShape());
  shape.insert(shape.begin(), like.getDim(0));
  return Tensor<double>(shape, std::move(rows));
}

class MixerQuantities : public testing::TestWithParam<size_t> {};

} // namespace

TEST_P(MixerQuantities, AreThoseOfTheTokenMap) {
  const LinearCase &mixer = linearCases()[GetParam()];
  Extents extents = {/*T=*/11, /*H=*/6, /*G=*/mixer.grouped ? 3 : 6,
                     /*K=*/mixer.oneKey ? 1
                     : mixer.square     ? 4
                                        : 5,
                     /*V=*/4};
  Random random(std::hash<std::string>()(mixer.title()));
  std::vector<Datum<double>> inputs;
  for (const LinearOperand *operand : mixer.operands()) {
    Tensor<double> tensor = operand->pickTensor(random, Gates::Mild, extents);
    if (operand->isPositions)
      inputs.push_back(castTo<int32_t>(tensor));
    else
      inputs.push_back(std::move(tensor));
  }
  Program program(mixerText(mixer, extents));
  ASSERT_TRUE(program.isValid()) << program.getDiagnostics().str();
  Program whole(program);

  std::vector<std::string> names;
  SmallVector<Value> values;
  for (auto [name, value] :
       computeQuantities(program.find<MixerOpInterface>())) {
    names.push_back(name.str());
    values.push_back(value);
  }
  auto op = whole.find<MixerOpInterface>();
  if (op.getStructure().getMixerClass() != MixerClass::Linear) {
    EXPECT_TRUE(names.empty()); // before a pass has split its states
    return;
  }
  giveBack(program, values);
  ASSERT_TRUE(succeeded(verify(program.getModule())))
      << program.getDiagnostics().str();

  auto stateful = cast<StatefulOpInterface>(op.getOperation());
  OpBuilder builder(op);
  CanonicalQuantities map = op.buildTokenMap(
      builder, op->getLoc(), stateful.getOperandsOf(OperandRole::Token),
      stateful.getOperandsOf(OperandRole::Parameter));
  std::vector<std::string> expectedNames;
  SmallVector<Value> expectedValues;
  for (auto [name, member] : kQuantities) {
    Value quantity = map.*member;
    if (!quantity)
      continue;
    expectedNames.push_back(name);
    expectedValues.push_back(quantity);
  }
  for (auto [i, write] : llvm::enumerate(map.laterWrites))
    for (auto [name, member] : kOfLaterWrites)
      if (Value quantity = write.*member) {
        expectedNames.push_back(name + std::to_string(i + 2));
        expectedValues.push_back(quantity);
      }
  EXPECT_EQ(names, expectedNames);
  ASSERT_EQ(values.size(), expectedValues.size());
  giveBack(whole, expectedValues);

  auto found = program.evaluate<double>(inputs);
  auto expected = whole.evaluate<double>(inputs);
  ASSERT_EQ(found.size(), names.size());
  ASSERT_EQ(expected.size(), names.size());
  for (auto [name, a, b] : llvm::zip_equal(names, found, expected))
    // Sums of a head's channels may be added up in another order.
    EXPECT_LE(relativeError(numbers(a), perToken(numbers(b), numbers(a))),
              1e-15)
        << name;
}

INSTANTIATE_TEST_SUITE_P(Mixers, MixerQuantities,
                         testing::Range<size_t>(0, linearCases().size()),
                         [](const auto &info) {
                           return linearCases()[info.param].title();
                         });
