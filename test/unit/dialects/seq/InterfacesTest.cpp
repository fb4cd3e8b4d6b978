// What passes learn of an op through the interfaces, and what the interfaces
// demand of the author of a new one.
#include "test/unit/dialects/seq/Program.h"
#include "test/unit/dialects/seq/TestMixer.h"

#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::test;

namespace {

constexpr StringLiteral kSsd = R"(
func.func @ssd(%x: tensor<?x6x5xf32>, %dt: tensor<?x6xf32>,
               %b: tensor<?x2x3xf32>, %c: tensor<?x2x3xf32>, %a_log: tensor<6xf32>,
               %dt_bias: tensor<6xf32>, %d: tensor<6xf32>, %s: tensor<6x3x5xf32>) {
  %y, %next = seq.ssd %x, %dt, %b, %c parameters(%a_log, %dt_bias, %d) state(%s)
      {dt_max = 0.1 : f64}
      : (tensor<?x6x5xf32>, tensor<?x6xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>),
        (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>
  return
}
)";

constexpr StringLiteral kConvolution = R"(
func.func @convolution(%x: tensor<?x10xf32>, %w: tensor<4x10xf32>,
                       %b: tensor<10xf32>, %tail: tensor<3x10xf32>) {
  %y, %next = seq.short_convolution %x parameters(%w, %b) state(%tail)
      : tensor<?x10xf32>, (tensor<4x10xf32>, tensor<10xf32>), tensor<3x10xf32>
  return
}
)";

constexpr StringLiteral kAttention = R"(
func.func @attention(%q: tensor<?x6x4xf32>, %k: tensor<?x1x4xf32>, %v: tensor<?x6x5xf32>, %p: tensor<?xi32>,
                     %h: tensor<6xf32>, %keys: tensor<8x1x4xf32>, %values: tensor<8x6x5xf32>) {
  %y, %a, %b = seq.attention %q, %k, %v positions(%p) slopes(%h) states(%keys, %values)
      {window = 7 : i64, scale = 0.5 : f64}
      : (tensor<?x6x4xf32>, tensor<?x1x4xf32>, tensor<?x6x5xf32>, tensor<?xi32>, tensor<6xf32>, tensor<8x1x4xf32>,
         tensor<8x6x5xf32>) -> (tensor<?x6x5xf32>, tensor<8x1x4xf32>, tensor<8x6x5xf32>)
  return
}
)";

TEST(Interfaces, WindowOfAttention) {
  Program program(kAttention);
  auto op = program.find<MixerOpInterface>();
  WindowAttr record = op.getStructure().getWindow();
  ASSERT_TRUE(record);
  EXPECT_EQ(record.getWindow(), 7);
  EXPECT_EQ(record.getHeadsPerKey(), 6);
  EXPECT_EQ(record.getHeadsPerValue(), 1);
  EXPECT_TRUE(record.getSlopes());
  EXPECT_FALSE(record.getSinks());
  WindowTokens tokens =
      op.getWindowTokens(op.getOperandsOf(OperandRole::Token),
                         op.getOperandsOf(OperandRole::Parameter));
  EXPECT_EQ(tokens.query, op->getOperand(0));
  EXPECT_EQ(tokens.positions, op->getOperand(3));
  EXPECT_EQ(tokens.slopes, op->getOperand(4));
  EXPECT_FALSE(tokens.sinks);
  SmallVector<StateDescriptor> states = op.getStates();
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[tokens.keyState].operand, 5u);
  EXPECT_EQ(states[tokens.valueState].result, 2u);
  EXPECT_EQ(states[0].kind, StateKind::Window);
  EXPECT_EQ(states[0].growth, StateGrowth::Window);
  EXPECT_TRUE(states[0].positionDependent);
}

constexpr StringLiteral kFirstTokens = R"(
func.func @attention(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x5xf32>, %p: tensor<?xi32>, %d: tensor<?x3xf32>,
                     %keys: tensor<8x2x4xf32>, %values: tensor<8x2x5xf32>, %numbers: tensor<8x3xf32>,
                     %fk: tensor<7x2x4xf32>, %fv: tensor<7x2x5xf32>, %fd: tensor<7x3xf32>) {
  %y, %a, %b, %c, %e, %f, %g = seq.attention %q, %k, %v positions(%p) sink_query(%q) numbers(%d)
      states(%keys, %values, %numbers) sink_states(%fk, %fv, %fd)
      {window = 6 : i64, scale = 0.5 : f64, key_score = #seq.key_score<bias>}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x5xf32>, tensor<?xi32>, tensor<?x6x4xf32>, tensor<?x3xf32>,
         tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<8x3xf32>, tensor<7x2x4xf32>, tensor<7x2x5xf32>, tensor<7x3xf32>)
        -> (tensor<?x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>, tensor<8x3xf32>, tensor<7x2x4xf32>,
            tensor<7x2x5xf32>, tensor<7x3xf32>)
  return
}
)";

// The states of the first tokens follow those of all; they never move.
TEST(Interfaces, FirstTokensOfAttention) {
  Program program(kFirstTokens);
  auto op = program.find<MixerOpInterface>();
  ASSERT_TRUE(op) << program.getDiagnostics().str();
  EXPECT_EQ(op.getStructure().getWindow().getSinkTokens(), 7);
  WindowTokens tokens =
      op.getWindowTokens(op.getOperandsOf(OperandRole::Token),
                         op.getOperandsOf(OperandRole::Parameter));
  EXPECT_EQ(tokens.sinkQuery, op->getOperand(4));
  EXPECT_EQ(tokens.keyScore, op->getOperand(5));
  SmallVector<StateDescriptor> states = op.getStates();
  ASSERT_EQ(states.size(), 6u);
  EXPECT_EQ(states[tokens.keyScoreState].growth, StateGrowth::Window);
  ASSERT_EQ(tokens.firstSinkState, 3u);
  for (unsigned i = 3; i < 6; ++i) {
    EXPECT_EQ(states[i].operand, 6 + i);
    EXPECT_EQ(states[i].result, 1 + i);
    EXPECT_EQ(states[i].kind, StateKind::Growing);
    EXPECT_EQ(states[i].growth, StateGrowth::Fixed);
    EXPECT_EQ(states[i].type.getDimSize(0), 7);
  }
}

TEST(Interfaces, StatesOfSsd) {
  Program program(kSsd);
  auto op = program.find<StatefulOpInterface>();
  SmallVector<StateDescriptor> states = op.getStates();
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0].operand, 7u);
  EXPECT_EQ(states[0].result, 1u);
  EXPECT_EQ(states[0].kind, StateKind::Matrix);
  EXPECT_EQ(states[0].growth, StateGrowth::Fixed);
  EXPECT_EQ(states[0].type.getShape(), ArrayRef<int64_t>({6, 3, 5}));
  EXPECT_EQ(states[0].neutral, 0.0);
  EXPECT_FALSE(states[0].positionDependent);
}

TEST(Interfaces, StatesOfShortConvolution) {
  Program program(kConvolution);
  auto op = program.find<StatefulOpInterface>();
  SmallVector<StateDescriptor> states = op.getStates();
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0].operand, 3u);
  EXPECT_EQ(states[0].result, 1u);
  EXPECT_EQ(states[0].kind, StateKind::Tail);
  EXPECT_EQ(states[0].type.getShape(), ArrayRef<int64_t>({3, 10}));
  EXPECT_FALSE(isa<MixerOpInterface>(op.getOperation()));
}

TEST(Interfaces, RolesOfSsd) {
  Program program(kSsd);
  auto op = program.find<StatefulOpInterface>();
  auto arguments = program.getFunction().getArguments();
  EXPECT_EQ(op.getOperandsOf(OperandRole::Token),
            SmallVector<Value>(arguments.take_front(4)));
  EXPECT_EQ(op.getOperandsOf(OperandRole::Parameter),
            SmallVector<Value>(arguments.slice(4, 3)));
  EXPECT_EQ(op.getOperandsOf(OperandRole::State),
            SmallVector<Value>(arguments.take_back(1)));
  ASSERT_EQ(op.getTokenResults().size(), 1u);
  EXPECT_EQ(op.getTokenResults()[0].getResultNumber(), 0u);
}

TEST(Interfaces, RolesOfShortConvolution) {
  Program program(kConvolution);
  auto op = program.find<StatefulOpInterface>();
  EXPECT_EQ(op.getOperandsOf(OperandRole::Token).size(), 1u);
  EXPECT_EQ(op.getOperandsOf(OperandRole::Parameter).size(), 2u);
  EXPECT_EQ(op.getOperandsOf(OperandRole::State).size(), 1u);
}

// 6 heads in 2 groups: 3 heads share a query and a key.
TEST(Interfaces, StructureOfSsd) {
  Program program(kSsd);
  StructureAttr structure = program.find<MixerOpInterface>().getStructure();
  EXPECT_EQ(structure.getMixerClass(), MixerClass::Linear);
  LinearAttr linear = structure.getLinear();
  EXPECT_EQ(linear.getDecay(), DecayAxis::Head);
  EXPECT_EQ(linear.getField(), DecayField::Real);
  EXPECT_EQ(linear.getInputGate(), InputGate::Value);
  EXPECT_EQ(linear.getLowRank(), LowRankPair::None);
  EXPECT_EQ(linear.getRead(), ReadOrder::AfterWrite);
  EXPECT_FALSE(linear.getBonus());
  EXPECT_TRUE(linear.getFeedThrough());
  EXPECT_EQ(linear.getNormaliser(), Normaliser::None);
  EXPECT_EQ(linear.getStabiliser(), Stabiliser::None);
  EXPECT_EQ(linear.getHeadsPerGroup(), 3);
}

TEST(Interfaces, FormOfSsdCanBeSet) {
  Program program(kSsd);
  auto op = program.find<MixerOpInterface>();
  EXPECT_FALSE(op.getFormAttr());
  auto form = FormAttr::get(program.getContext(), FormKind::Chunkwise, 4);
  op.setFormAttr(form);
  EXPECT_EQ(op.getFormAttr(), form);
  EXPECT_TRUE(succeeded(verify(program.getModule())));
}

// The token map holds for a dynamic T and consists of what kernels can take in.
TEST(Interfaces, TokenMapOfSsdIsElementwiseForAnyLength) {
  Program program(kSsd);
  auto op = program.find<MixerOpInterface>();
  OpBuilder builder(op);
  CanonicalQuantities quantities = op.buildTokenMap(
      builder, op.getLoc(), op.getOperandsOf(OperandRole::Token),
      op.getOperandsOf(OperandRole::Parameter));
  Value y = op.buildReadOut(builder, op.getLoc(), {quantities.value, {}, {}},
                            quantities);
  EXPECT_TRUE(succeeded(verify(program.getModule())))
      << program.getDiagnostics().str();

  auto shape = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  constexpr int64_t any = ShapedType::kDynamic;
  EXPECT_EQ(shape(quantities.query), ArrayRef<int64_t>({any, 2, 3}));
  EXPECT_EQ(shape(quantities.key), ArrayRef<int64_t>({any, 2, 3}));
  EXPECT_EQ(shape(quantities.value), ArrayRef<int64_t>({any, 6, 5}));
  EXPECT_EQ(shape(quantities.logDecay), ArrayRef<int64_t>({any, 6}));
  EXPECT_EQ(shape(quantities.forReadOut[0]), ArrayRef<int64_t>({any, 6, 5}));
  EXPECT_EQ(shape(y), ArrayRef<int64_t>({any, 6, 5}));
  for (Operation &other : *op->getBlock())
    EXPECT_TRUE((isa<AddOp, NegOp, ExpOp, SoftplusOp, ClampOp, BroadcastOp,
                     ContractOp, SsdOp, func::ReturnOp>(other)))
        << other.getName().getStringRef().str();
}

//===- what the interfaces demand -----------------------------------------===//

// The diagnostics of a test mixer of the given operands, results and
// attributes.
std::string refusal(StringRef attributes, StringRef types) {
  Program program;
  program.getContext()->loadDialect<TestDialect>();
  return program.parseError(
      ("func.func @f(%x: tensor<7x6xf32>, %s: tensor<6x5xf32>) {\n"
       "  %y, %next = \"test.mixer\"(%x, %s) {" +
       attributes + "} : (tensor<7x6xf32>, tensor<6x5xf32>) -> " + types +
       "\n  return\n}")
          .str());
}

TEST(Interfaces, Stateful1NextStateOfOtherType) {
  EXPECT_EQ(refusal("", "(tensor<7x6xf32>, tensor<5x6xf32>)"),
            "'test.mixer' op expects state operand #1 and result #1 of type "
            "'tensor<6x5xf32>', but got 'tensor<6x5xf32>' and "
            "'tensor<5x6xf32>'");
}

TEST(Interfaces, Stateful2StateWithoutDescriptor) {
  EXPECT_EQ(refusal("undescribed", "(tensor<7x6xf32>, tensor<7x5xf32>)"),
            "'test.mixer' op expects a descriptor for each state operand and "
            "for no other, but got operand #1 without one");
}

TEST(Interfaces, Stateful3ResultOfOtherLength) {
  EXPECT_EQ(refusal("", "(tensor<8x6xf32>, tensor<6x5xf32>)"),
            "'test.mixer' op expects token operands and results with one "
            "leading T = 7, but got 'tensor<8x6xf32>'");
}

} // namespace
