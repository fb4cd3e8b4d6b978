#include "test/unit/dialects/seq/Program.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace effc::seq::test {

Program::Program()
    : owned(std::make_shared<MLIRContext>()), context(owned.get()),
      diagnostics(std::make_shared<std::string>()) {
  context->loadDialect<func::FuncDialect, SeqDialect>();
  context->allowUnregisteredDialects();
  context->getDiagEngine().registerHandler(
      [text = diagnostics](Diagnostic &diagnostic) {
        llvm::raw_string_ostream(*text) << diagnostic << "\n";
        return success();
      });
  module = ModuleOp::create(UnknownLoc::get(context));
}

Program::Program(StringRef text) : Program() { parse(text); }

Program::Program(const Program &other)
    : owned(other.owned), context(other.context),
      diagnostics(other.diagnostics),
      module(const_cast<OwningOpRef<ModuleOp> &>(other.module)->clone()) {}

void Program::parse(StringRef text) {
  module = parseSourceString<ModuleOp>(text, context);
  EXPECT_TRUE(module) << *diagnostics;
}

std::string Program::parseError(StringRef text) {
  module = parseSourceString<ModuleOp>(text, context);
  EXPECT_FALSE(module) << "the text was accepted";
  return StringRef(*diagnostics).split('\n').first.str();
}

func::FuncOp Program::getFunction() {
  return *module->getOps<func::FuncOp>().begin();
}

template <typename S>
std::vector<Datum<S>> Program::evaluate(std::vector<Datum<S>> inputs,
                                        reference::WeightProvider<S> weights) {
  auto outputs = reference::evaluate<S>(getFunction(), std::move(inputs),
                                        std::move(weights));
  if (outputs)
    return std::move(*outputs);
  ADD_FAILURE() << llvm::toString(outputs.takeError());
  return {};
}
template std::vector<Datum<double>>
    Program::evaluate(std::vector<Datum<double>>,
                      reference::WeightProvider<double>);
template std::vector<Datum<float>>
    Program::evaluate(std::vector<Datum<float>>,
                      reference::WeightProvider<float>);

std::string Program::evaluateError(std::vector<Datum<double>> inputs,
                                   reference::WeightProvider<double> weights) {
  auto outputs = reference::evaluate<double>(getFunction(), std::move(inputs),
                                             std::move(weights));
  if (!outputs)
    return llvm::toString(outputs.takeError());
  ADD_FAILURE() << "the evaluation did not fail";
  return "";
}

void expectNear(const Tensor<double> &found, const Tensor<double> &expected,
                double tolerance) {
  ASSERT_EQ(found.getShape(), expected.getShape());
  for (int64_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found.elements()[i], expected.elements()[i], tolerance)
        << "element " << i;
}

template <typename S>
double relativeError(const Tensor<S> &found, const Tensor<double> &expected) {
  EXPECT_EQ(found.getShape(), expected.getShape());
  double difference = 0, magnitude = 0;
  for (auto [a, b] : llvm::zip_equal(found.elements(), expected.elements())) {
    // Written so that a NaN counts as an infinite difference.
    double distance = std::fabs(double(a) - b);
    difference = distance <= difference ? difference
                 : std::isnan(distance) ? INFINITY
                                        : distance;
    magnitude = std::fmax(magnitude, std::fabs(b));
  }
  return difference == 0 ? 0 : difference / magnitude;
}
template double relativeError(const Tensor<double> &, const Tensor<double> &);
template double relativeError(const Tensor<float> &, const Tensor<double> &);

} // namespace effc::seq::test
