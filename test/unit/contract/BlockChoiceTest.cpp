// Attention over chosen blocks, and over the means of blocks: the ops agree with the
// formulas of BlockChoiceCase, compiled kernels with the ops' definitions, and the
// bits of kernels do not depend on how sequences are packed and cut.
//
// The model of the kernels is an embedding whose rows hold a token's query, key and
// value, the ops, and a choice of rows. Where scores are equal, they are so exactly:
// numbers are whole then, and blocks have a power of two of positions.
#include "passes/seq/Passes.h"
#include "test/unit/contract/BlockChoiceCase.h"
#include "test/unit/contract/RelativeError.h"
#include "test/unit/contract/Sequences.h"
#include "test/unit/dialects/seq/Program.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace effc;
using namespace effc::test;
using seq::reference::Datum;
using seq::reference::Tensor;

namespace {

constexpr int64_t kTableRows = 97;

std::string n(int64_t number) { return std::to_string(number); }

//===- the definitions ----------------------------------------------------===//

std::string functionText(const BlockChoiceCase &s, int64_t tokens) {
  std::string arguments, states, names,
      y = WindowCase::type(n(tokens), {s.H, s.V});
  for (auto &[name, shape] : s.tokens())
    arguments += "%" + name + ": " + WindowCase::type(n(tokens), shape) + ", ";
  arguments += "%p: tensor<" + n(tokens) + "xi32>";
  for (auto &[name, shape] : s.states()) {
    std::string type = WindowCase::type("", shape);
    arguments += ", %" + name + ": " + type;
    states += ", " + type;
    names += ", %next_" + name;
  }
  return "func.func @f(" + arguments + ") -> (" + y + ", " + y + states +
         ") {\n" + s.opText(n(tokens)) + "  return %y, %z" + names + " : " + y +
         ", " + y + states + "\n}\n";
}

/// What a case's tokens bring, and what the formulas make of it.
struct Numbers {
  Numbers(const BlockChoiceCase &s, int64_t tokens, Random &random) {
    for (auto &[name, shape] : s.tokens()) {
      llvm::SmallVector<int64_t> all = {tokens};
      llvm::append_range(all, shape);
      Tensor<double> &tensor = operands.emplace_back(all);
      for (double &element : tensor.elements())
        element = s.element(random);
    }
    BlockChoiceFormula formula(s, operands[0], operands[1], operands[2]);
    for (int64_t p = 0; p < tokens; ++p) {
      llvm::append_range(overChosen, formula.overChosen(p));
      llvm::append_range(overMeans, formula.overMeans(p));
    }
  }
  std::vector<Tensor<double>> operands;
  std::vector<double> overChosen, overMeans;
};

/// A form, and its chunk.
using Form = std::pair<FormChoice, int64_t>;

/// Both results of all tokens, in pieces that hand on the states; attention in a form,
/// if one is given.
template <typename S>
std::pair<std::vector<float>, std::vector<float>>
evaluate(const BlockChoiceCase &s, const Numbers &all,
         llvm::ArrayRef<int64_t> pieces,
         std::optional<Form> form = std::nullopt) {
  std::vector<Datum<S>> states;
  for (auto &[name, shape] : s.states()) {
    Tensor<S> state(shape); // what no token has reached is anything
    std::fill(state.elements().begin(), state.elements().end(), S(1e3));
    states.push_back(state);
  }
  std::pair<std::vector<float>, std::vector<float>> found;
  int64_t at = 0;
  for (int64_t length : pieces) {
    std::vector<Datum<S>> inputs;
    for (const Tensor<double> &operand : all.operands) {
      llvm::SmallVector<int64_t> shape(operand.getShape());
      int64_t size = operand.size() / shape[0];
      shape[0] = length;
      auto part = operand.elements().slice(at * size, length * size);
      inputs.push_back(Tensor<S>(shape, {part.begin(), part.end()}));
    }
    Tensor<int32_t> positions({length});
    std::iota(positions.elements().begin(), positions.elements().end(), at);
    inputs.push_back(positions);
    llvm::append_range(inputs, states);
    seq::test::Program program(functionText(s, length));
    if (form) {
      mlir::PassManager manager(program.getContext());
      manager.addPass(createExpandFormPass({form->first, form->second}));
      EXPECT_TRUE(succeeded(manager.run(program.getModule())))
          << program.getDiagnostics().str();
      EXPECT_FALSE(program.find<seq::MixerOpInterface>());
    }
    auto results = program.evaluate<S>(inputs);
    llvm::append_range(found.first, seq::test::numbers(results[0]).elements());
    llvm::append_range(found.second, seq::test::numbers(results[1]).elements());
    states.assign(results.begin() + 2, results.end());
    at += length;
  }
  return found;
}

TEST(BlockChoiceDefinition, AgreesWithTheFormulas) {
  Random random(20261129);
  int64_t tied = 0, shared = 0;
  for (int i = 0; i < 200; ++i) {
    int64_t tokens = pick(random, 1, 60);
    BlockChoiceCase s = pickBlockChoice(random, tokens);
    SCOPED_TRACE(s.text() + ", " + n(tokens) + " tokens");
    tied += s.hasTies, shared += s.isShare;
    Numbers all(s, tokens, random);
    std::vector<int64_t> pieces;
    for (int64_t left = tokens; left > 0; left -= pieces.back())
      pieces.push_back(pick(random, 1, left));
    for (llvm::ArrayRef<int64_t> cut : {llvm::ArrayRef(tokens), {pieces}}) {
      auto inDouble = evaluate<double>(s, all, cut);
      // Results are handed over as f32.
      ASSERT_LE(errorOf(inDouble.first, all.overChosen), 1e-7);
      ASSERT_LE(errorOf(inDouble.second, all.overMeans), 1e-7);
      auto inFloat = evaluate<float>(s, all, cut);
      ASSERT_LE(errorOf(inFloat.first, all.overChosen), 1e-5);
      ASSERT_LE(errorOf(inFloat.second, all.overMeans), 1e-5);
    }
  }
  EXPECT_GE(tied, 40);
  EXPECT_GE(shared, 40);
}

// Every form of attention over chosen blocks, of a third of the cases: equations that
// share the masks by blocks and no code with the op's meaning.
TEST(BlockChoiceForms, AgreeWithTheFormulas) {
  Random random(20261130);
  for (int i = 0; i < 60; ++i) {
    int64_t tokens = pick(random, 1, 40);
    BlockChoiceCase s = pickBlockChoice(random, tokens);
    SCOPED_TRACE(s.text() + ", " + n(tokens) + " tokens");
    Numbers all(s, tokens, random);
    int64_t first = pick(random, 1, tokens);
    std::vector<int64_t> pieces = {first};
    if (first < tokens)
      pieces.push_back(tokens - first);
    for (Form form : {Form{FormChoice::Step, 0},
                      {FormChoice::Quadratic, 0},
                      {FormChoice::Chunkwise, pick(random, 1, 9)}}) {
      auto found = evaluate<double>(s, all, pieces, form);
      ASSERT_LE(errorOf(found.first, all.overChosen), 1e-7);
    }
  }
}

//===- the kernels --------------------------------------------------------===//

std::string modelText(const BlockChoiceCase &s) {
  int64_t width = 0;
  for (auto &[name, shape] : s.tokens())
    width += shape[0] * shape[1];
  std::string table = WindowCase::type("", {kTableRows, width}),
              packed = WindowCase::type("?", {width}), states, next,
              text = "seq.weight @table source(\"table\") : " + table +
                     "\nfunc.func @forward(%tokens: tensor<?xi32>, %rows: "
                     "tensor<?xi32>, %p: tensor<?xi32>";
  for (auto &[name, shape] : s.states()) {
    std::string type = WindowCase::type("", shape);
    text += ", %" + name + ": " + type + " {seq.state_name = \"" + name + "\"}";
    states += ", " + type;
    next += ", %next_" + name;
  }
  std::string out = WindowCase::type("?", {s.width()}),
              flat = WindowCase::type("?", {s.H * s.V}),
              mixed = WindowCase::type("?", {s.H, s.V});
  text += ") -> (" + out + states +
          ") {\n  %table = seq.parameter @table : " + table +
          "\n  %in = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
          ") -> " + packed + "\n";
  int64_t offset = 0;
  for (auto &[name, shape] : s.tokens()) {
    int64_t size = shape[0] * shape[1];
    std::string slice = WindowCase::type("?", {size});
    text += "  %" + name +
            "0 = seq.slice %in {axis = 1 : i64, offset = " + n(offset) +
            " : i64, size = " + n(size) + " : i64} : " + packed + " -> " +
            slice + "\n  %" + name + " = seq.reshape %" + name +
            "0 : " + slice + " -> " + WindowCase::type("?", shape) + "\n";
    offset += size;
  }
  return text + s.opText("?") + "  %y0 = seq.reshape %y : " + mixed + " -> " +
         flat + "\n  %z0 = seq.reshape %z : " + mixed + " -> " + flat +
         "\n  %both = seq.concat %y0, %z0 {axis = 1 : i64} : (" + flat + ", " +
         flat + ") -> " + out + "\n  %out = seq.select_rows %both, %rows : (" +
         out + ", tensor<?xi32>) -> " + out + "\n  return %out" + next + " : " +
         out + states + "\n}\n";
}

class BlockChoiceModel {
public:
  explicit BlockChoiceModel(const BlockChoiceCase &shape, uint64_t seed)
      : shape(shape), model(modelText(shape)) {
    Random random(seed);
    for (int64_t row = 0; row < kTableRows; ++row)
      for (auto &[name, dims] : shape.tokens())
        for (int64_t i = 0; i < dims[0] * dims[1]; ++i)
          weights["table"].push_back(float(shape.element(random)));
  }

  PlanRunner compile(bool bitStable) {
    return compileForThree(model, weights, bitStable);
  }

  /// The outputs of all tokens by the definitions.
  std::vector<double> expected(llvm::ArrayRef<int32_t> tokens) {
    int64_t count = tokens.size();
    Tensor<int32_t> rows = countFromZero(count);
    std::vector<Datum<double>> inputs = {Tensor<int32_t>({count}, tokens.vec()),
                                         rows, rows};
    for (auto &[name, dims] : shape.states())
      inputs.push_back(Tensor<double>(dims));
    auto results = model.evaluate(inputs, weights);
    return std::get<Tensor<double>>(results[0]).elements().vec();
  }

  BlockChoiceCase shape;
  TestModel model;

private:
  llvm::StringMap<std::vector<float>> weights;
};

/// Blocks of 1, 3, 4, 8, 16 and 32 positions: less than a kernel's block of keys, as
/// many and more; each head choosing, heads of a key together, and groups between; one
/// block chosen and more than a short sequence has; channels about a vector's lanes;
/// equal scores; more blocks than are scored together.
const BlockChoiceCase kCases[] = {
    {.H = 6, .G = 2, .M = 6, .K = 8, .V = 5, .C = 4, .U = 3, .W = 64},
    {.H = 6,
     .G = 2,
     .M = 2,
     .K = 16,
     .V = 20,
     .C = 4,
     .U = 4,
     .W = 64,
     .first = 1,
     .last = 2,
     .isShare = true},
    {.H = 4, .G = 1, .M = 2, .K = 7, .V = 9, .C = 8, .U = 2, .W = 64},
    {.H = 3,
     .G = 3,
     .M = 3,
     .K = 33,
     .V = 17,
     .C = 3,
     .U = 5,
     .W = 96,
     .first = 1},
    {.H = 2, .G = 1, .M = 2, .K = 12, .V = 11, .C = 16, .U = 1, .W = 64},
    {.H = 16,
     .G = 1,
     .M = 1,
     .K = 10,
     .V = 6,
     .C = 8,
     .U = 7,
     .W = 64,
     .first = 1,
     .last = 2,
     .isShare = true},
    {.H = 2, .G = 2, .M = 2, .K = 5, .V = 13, .C = 1, .U = 6, .W = 64},
    {.H = 4,
     .G = 2,
     .M = 4,
     .K = 9,
     .V = 8,
     .C = 4,
     .U = 5,
     .W = 64,
     .hasTies = true},
    {.H = 6,
     .G = 1,
     .M = 3,
     .K = 6,
     .V = 7,
     .C = 2,
     .U = 3,
     .W = 64,
     .last = 2,
     .hasTies = true},
    {.H = 2,
     .G = 1,
     .M = 1,
     .K = 64,
     .V = 48,
     .C = 32,
     .U = 2,
     .W = 96,
     .isShare = true}};

class BlockChoiceKernels : public testing::TestWithParam<BlockChoiceCase> {};

TEST_P(BlockChoiceKernels, AgreeWithTheDefinition) {
  BlockChoiceModel model(GetParam(), /*seed=*/5);
  PlanRunner runner = model.compile(/*bitStable=*/false);
  ASSERT_EQ(model.model.getErrors(), "");
  std::vector<Tokens> sequences = {tokensOf(2, 3, kTableRows),
                                   tokensOf(18, 5, kTableRows),
                                   tokensOf(46, 11, kTableRows)};
  auto outputs = runTogether(runner, sequences, model.shape.width());
  for (auto [tokens, found] : llvm::zip_equal(sequences, outputs))
    EXPECT_LE(errorOf(found, model.expected(tokens)), 1e-5);
}

TEST_P(BlockChoiceKernels, SameBitsInAnyPieces) {
  BlockChoiceModel model(GetParam(), /*seed=*/7);
  PlanRunner runner = model.compile(/*bitStable=*/true);
  ASSERT_EQ(model.model.getErrors(), "");
  expectSameBitsInAnyPieces(runner, tokensOf(47, 2, kTableRows),
                            tokensOf(9, 4, kTableRows), model.shape.width());
}

// 270 positions: several runs of scores, and on a GPU pieces of the keys of a step, most
// of which hold no chosen block. Each call of the prompt has 45 tokens; the last 9 come one
// by one.
TEST(LongBlockChoices, AgreeWithTheDefinition) {
  for (BlockChoiceCase shape :
       {BlockChoiceCase{
            .H = 4, .G = 2, .M = 4, .K = 9, .V = 8, .C = 16, .U = 3, .W = 288},
        BlockChoiceCase{.H = 2,
                        .G = 1,
                        .M = 1,
                        .K = 12,
                        .V = 5,
                        .C = 4,
                        .U = 4,
                        .W = 288,
                        .first = 1,
                        .last = 2,
                        .isShare = true}}) {
    SCOPED_TRACE(shape.text());
    BlockChoiceModel model(shape, /*seed=*/9);
    PlanRunner runner = model.compile(/*bitStable=*/false);
    ASSERT_EQ(model.model.getErrors(), "");
    Tokens tokens = tokensOf(279, 3, kTableRows);
    std::vector<float> found;
    int64_t at = 0;
    for (; at < 270; at += 45)
      llvm::append_range(found,
                         runner.prefill({segmentOf(1, tokens, at, at + 45)}));
    for (; at < 279; ++at)
      llvm::append_range(found,
                         runner.decode({segmentOf(1, tokens, at, at + 1)}));
    EXPECT_LE(errorOf(found, model.expected(tokens)), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, BlockChoiceKernels, testing::ValuesIn(kCases),
                         [](const auto &info) {
                           const BlockChoiceCase &s = info.param;
                           return "C" + n(s.C) + "_U" + n(s.U) + "_M" + n(s.M) +
                                  (s.isShare ? "_share" : "") +
                                  (s.hasTies ? "_ties" : "");
                         });

} // namespace
