// Products with semiseparable matrices: every form agrees with the sum over the
// matrix's elements, and state-space duality is one of them.
#include "passes/seq/Passes.h"
#include "test/unit/contract/LinearCase.h"
#include "test/unit/dialects/seq/Program.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::seq;
using namespace effc::seq::test;
using namespace effc::test;

namespace {

/// A factor of a matrix: how it is built, and from which tensors.
struct Part {
  const char *name; ///< of its tensors
  enum Kind { Mask, Toeplitz, Rank, RowRepeat, ColumnRepeat, Band } kind;
};
/// The matrices that are tried: products of factors.
struct Case {
  const char *name;
  std::vector<Part> parts;

  bool hasBand() const {
    return llvm::any_of(parts,
                        [](const Part &p) { return p.kind == Part::Band; });
  }
};
const Case kCases[] = {
    {"mask", {{"g", Part::Mask}}},
    {"toeplitz", {{"g", Part::Toeplitz}}},
    {"rank", {{"r", Part::Rank}}},
    {"dual", {{"r", Part::Rank}, {"g", Part::Mask}}},
    {"row_repeat", {{"b", Part::RowRepeat}, {"g", Part::Toeplitz}}},
    {"column_repeat", {{"c", Part::ColumnRepeat}}},
    {"both_repeats", {{"b", Part::RowRepeat}, {"c", Part::ColumnRepeat}}},
    {"all",
     {{"g", Part::Mask},
      {"r", Part::Rank},
      {"k", Part::Toeplitz},
      {"b", Part::RowRepeat}}},
    {"band", {{"w", Part::Band}}},
    {"band_rank", {{"w", Part::Band}, {"r", Part::Rank}}},
    {"band_mask", {{"g", Part::Mask}, {"w", Part::Band}}},
    {"band_toeplitz",
     {{"w", Part::Band}, {"c", Part::ColumnRepeat}, {"k", Part::Toeplitz}}},
    {"band_all",
     {{"g", Part::Mask},
      {"r", Part::Rank},
      {"w", Part::Band},
      {"k", Part::Toeplitz},
      {"b", Part::RowRepeat}}},
};

/// The tensors of a part, as operands that can be drawn.
std::vector<LinearOperand> operandsOf(const Part &part) {
  auto number = [](Random &random, Gates) { return pickReal(random, -1, 1); };
  auto logDecay = [](Random &random, Gates gates) -> double {
    double mild = -pickReal(random, 0.01, 1);
    return gates == Gates::Mild
               ? mild
               : std::array{
                     0.0, mild, mild, -2.0, -20.0, -1e4}[pick(random, 0, 5)];
  };
  std::string name = part.name;
  switch (part.kind) {
  case Part::Mask:
    return {{name, "TH", logDecay}};
  case Part::Toeplitz:
    return {{name, "H", logDecay}};
  case Part::Rank:
    return {{name + "c", "THK", number}, {name + "b", "THK", number}};
  case Part::RowRepeat:
  case Part::ColumnRepeat:
    return {{name, "TH1", number}};
  case Part::Band:
    break;
  }
  return {};
}

std::string matrixType(int64_t heads, int64_t rank, const std::string &decay,
                       int64_t band) {
  return "!seq.semiseparable<heads = " + std::to_string(heads) +
         ", rank = " + std::to_string(rank) + ", decay = " + decay +
         (band ? ", band = " + std::to_string(band) : "") + ">";
}

/// @forward of the factors' tensors, x and the state; with a band of x,
/// positions and the states.
std::string programText(const Case &matrix, const Extents &e, int64_t band) {
  std::string arguments, text, whole;
  std::string decay = "none", wholeType;
  int64_t rank = 1, count = 0, wholeBand = 0;
  for (const Part &part : matrix.parts) {
    std::vector<std::string> names, types;
    for (const LinearOperand &operand : operandsOf(part)) {
      names.push_back("%" + operand.name);
      types.push_back(tensorType(e.of(operand.letters)));
      arguments += names.back() + ": " + types.back() + ", ";
    }
    std::string name = "%m" + std::to_string(count), type;
    text += "  " + name + " = ";
    bool decays = part.kind == Part::Mask || part.kind == Part::Toeplitz;
    std::string own = part.kind == Part::Mask       ? "head"
                      : part.kind == Part::Toeplitz ? "head_constant"
                                                    : "none";
    int64_t ownBand = part.kind == Part::Band ? band : 0;
    wholeBand = std::max(wholeBand, ownBand);
    type = matrixType(e.H, part.kind == Part::Rank ? e.K : 1, own, ownBand);
    if (part.kind == Part::Band)
      text += "seq.band_matrix";
    else if (decays)
      text += "seq.decay_matrix " + names[0] + " : " + types[0];
    else if (part.kind == Part::Rank)
      text += "seq.rank_matrix rows(" + names[0] + " : " + types[0] +
              ") columns(" + names[1] + " : " + types[1] + ")";
    else
      text += std::string("seq.rank_matrix ") +
              (part.kind == Part::RowRepeat ? "columns(" : "rows(") + names[0] +
              " : " + types[0] + ")";
    text += " -> " + type + "\n";
    if (part.kind == Part::Rank)
      rank = e.K;
    if (decay != "head" && own != "none")
      decay = own;
    if (count == 0) {
      whole = name;
      wholeType = type;
    } else {
      std::string product = "%p" + std::to_string(count);
      std::string productType = matrixType(e.H, rank, decay, wholeBand);
      text += "  " + product + " = seq.hadamard " + whole + ", " + name +
              " : " + wholeType + ", " + type + " -> " + productType + "\n";
      whole = product;
      wholeType = productType;
    }
    ++count;
  }
  std::string x = tensorType(e.of("THV")), s = tensorType({e.H, rank, e.V});
  if (band) {
    std::string p = "tensor<" + std::to_string(e.T) + "xi32>",
                keys = tensorType({e.H, rank, band}),
                values = tensorType({e.H, band, e.V});
    return "func.func @forward(" + arguments + "%x: " + x + ", %p: " + p +
           ", %keys: " + keys + ", %values: " + values + ") -> (" + x + ", " +
           keys + ", " + values + ") {\n" + text +
           "  %y, %m, %n = seq.apply_band " + whole +
           ", %x positions(%p) states(%keys, %values) : " + wholeType + ", " +
           x + ", " + p + ", " + keys + ", " + values +
           "\n  return %y, %m, %n : " + x + ", " + keys + ", " + values +
           "\n}\n";
  }
  return "func.func @forward(" + arguments + "%x: " + x + ", %s: " + s +
         ") -> (" + x + ", " + s + ") {\n" + text + "  %y, %n = seq.apply " +
         whole + ", %x state(%s) : " + wholeType + ", " + x + ", " + s +
         "\n  return %y, %n : " + x + ", " + s + "\n}\n";
}

std::vector<Datum<double>> pickInputs(Random &random, const Case &matrix,
                                      const Extents &e, Gates gates,
                                      int64_t band) {
  std::vector<Datum<double>> inputs;
  std::string rank = "1";
  for (const Part &part : matrix.parts) {
    for (const LinearOperand &operand : operandsOf(part))
      inputs.push_back(operand.pickTensor(random, gates, e));
    if (part.kind == Part::Rank)
      rank = "K";
  }
  auto number = [](Random &random, Gates) { return pickReal(random, -1, 1); };
  inputs.push_back(
      LinearOperand{"x", "THV", number}.pickTensor(random, gates, e));
  if (!band) {
    inputs.push_back(LinearOperand{"s", "H" + rank + "V", number}.pickTensor(
        random, gates, e));
    return inputs;
  }
  Tensor<int32_t> positions({e.T});
  std::iota(positions.elements().begin(), positions.elements().end(),
            pick(random, 0, 2 * band));
  inputs.push_back(positions);
  for (std::array<int64_t, 3> shape :
       {std::array{e.H, rank == "K" ? e.K : 1, band},
        std::array{e.H, band, e.V}}) {
    Tensor<double> state(shape);
    for (double &element : state.elements())
      element = pickReal(random, -1, 1);
    inputs.push_back(state);
  }
  return inputs;
}

template <typename S>
std::vector<Datum<S>> convert(const std::vector<Datum<double>> &inputs) {
  std::vector<Datum<S>> data;
  for (const Datum<double> &input : inputs) {
    if (const auto *tensor = std::get_if<Tensor<double>>(&input))
      data.push_back(castTo<S>(*tensor));
    else
      data.push_back(std::get<Tensor<int32_t>>(input));
  }
  return data;
}

class Semiseparable : public testing::TestWithParam<size_t> {};

TEST_P(Semiseparable, EveryFormIsTheMatrix) {
  constexpr int64_t kChunks[] = {1, 7, 16, 64, 100};
  const Case &matrix = kCases[GetParam()];
  Random random(20261122 + GetParam());
  double worst = 0, worstFloat = 0;
  for (int shape = 0; shape < 200; ++shape) {
    Extents e{pick(random, 1, 40), pick(random, 1, 4), 1, pick(random, 2, 9),
              pick(random, 2, 9)};
    if (shape % 8 == 0)
      e.T = pick(random, 101, 130);
    Gates gates = shape % 2 ? Gates::Adversarial : Gates::Mild;
    SCOPED_TRACE(e.text());
    // Bands narrower than most of the sequences, and of one token.
    int64_t band = matrix.hasBand() ? pick(random, 1, 24) : 0;
    std::vector<Datum<double>> inputs =
        pickInputs(random, matrix, e, gates, band);
    Program program(programText(matrix, e, band));
    ASSERT_TRUE(program.isValid()) << program.getDiagnostics().str();
    auto expected = program.evaluate<double>(convert<double>(inputs));
    for (FormChoice form :
         {FormChoice::Step, FormChoice::Quadratic, FormChoice::Chunkwise}) {
      Program derived(program);
      PassManager passes(derived.getContext());
      passes.addPass(createApplyMatricesPass());
      passes.addPass(
          createExpandFormPass({form, kChunks[shape % std::size(kChunks)]}));
      ASSERT_TRUE(succeeded(passes.run(derived.getModule())))
          << derived.getDiagnostics().str();
      double error = worstError(
          derived.evaluate<double>(convert<double>(inputs)), expected);
      double errorFloat =
          worstError(derived.evaluate<float>(convert<float>(inputs)), expected);
      EXPECT_LE(error, 1e-12);
      EXPECT_LE(errorFloat, 1e-5);
      worst = std::fmax(worst, error);
      worstFloat = std::fmax(worstFloat, errorFloat);
    }
  }
  std::printf("%-14s largest relative error over 200 shapes: %.1e, f32 %.1e\n",
              matrix.name, worst, worstFloat);
}

INSTANTIATE_TEST_SUITE_P(Matrices, Semiseparable,
                         testing::Range<size_t>(0, std::size(kCases)),
                         [](const testing::TestParamInfo<size_t> &info) {
                           return kCases[info.param].name;
                         });

// seq.ssd is the product with a mask times a matrix of rank N: log-decays
// -dt exp(a_log), tokens dt x, and d x beside it.
TEST(Semiseparable, StateSpaceDualityIsTheNamedCase) {
  Random random(4);
  Extents e{19, 6, 6, 3, 5};
  auto draw = [&](std::string letters) {
    return LinearOperand{
        "", letters,
        [](Random &random, Gates) { return pickReal(random, -1, 1); }}
        .pickTensor(random, Gates::Mild, e);
  };
  Tensor<double> x = draw("THV"), before = draw("TH"), b = draw("THK"),
                 c = draw("THK"), aLog = draw("H"), bias = draw("H"),
                 d = draw("H"), state = draw("HKV");
  Program ssd(
      "func.func @forward(%x: tensor<19x6x5xf32>, %dt: tensor<19x6xf32>,"
      " %b: tensor<19x6x3xf32>, %c: tensor<19x6x3xf32>, %a: "
      "tensor<6xf32>, %z: tensor<6xf32>, %d: tensor<6xf32>, %s: "
      "tensor<6x3x5xf32>) -> (tensor<19x6x5xf32>, tensor<6x3x5xf32>) {"
      "%y, %n = seq.ssd %x, %dt, %b, %c parameters(%a, %z, %d) "
      "state(%s) : (tensor<19x6x5xf32>, tensor<19x6xf32>, "
      "tensor<19x6x3xf32>, tensor<19x6x3xf32>), (tensor<6xf32>, "
      "tensor<6xf32>, tensor<6xf32>), tensor<6x3x5xf32>\n"
      "return %y, %n : tensor<19x6x5xf32>, tensor<6x3x5xf32> }");
  ASSERT_TRUE(ssd.isValid()) << ssd.getDiagnostics().str();
  auto expected = ssd.evaluate<double>(
      convert<double>({x, before, b, c, aLog, bias, d, state}));

  Tensor<double> g({19, 6}), scaled({19, 6, 5});
  for (int64_t t = 0; t < e.T; ++t)
    for (int64_t h = 0; h < e.H; ++h) {
      double dt = std::log1p(std::exp(before(t, h) + bias(h)));
      g(t, h) = -dt * std::exp(aLog(h));
      for (int64_t v = 0; v < e.V; ++v)
        scaled(t, h, v) = dt * x(t, h, v);
    }
  Program dual(programText(kCases[3], e, /*band=*/0));
  auto found = dual.evaluate<double>(convert<double>({c, b, g, scaled, state}));
  Tensor<double> y = numbers(found[0]);
  for (int64_t t = 0; t < e.T; ++t)
    for (int64_t h = 0; h < e.H; ++h)
      for (int64_t v = 0; v < e.V; ++v)
        y(t, h, v) += d(h) * x(t, h, v);
  expectNear(y, numbers(expected[0]), 1e-12);
  expectNear(numbers(found[1]), numbers(expected[1]), 1e-12);
}

} // namespace
