// A module in memory that a test parses or builds, transforms and evaluates.
#ifndef EFFC_TEST_UNIT_DIALECTS_SEQ_PROGRAM_H
#define EFFC_TEST_UNIT_DIALECTS_SEQ_PROGRAM_H

#include "dialects/seq/Seq.h"
#include "dialects/seq/reference/Evaluate.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <cmath>

namespace effc::seq::test {

using reference::Datum;
using reference::Tensor;

class Program {
public:
  /// An empty module.
  Program();
  /// The module of a text; `isValid` says whether it parses and verifies.
  explicit Program(llvm::StringRef text);
  /// A copy, in the context of `other`, which must outlive it.
  Program(const Program &other);

  /// Replaces the module by that of a text, which must be valid.
  void parse(llvm::StringRef text);
  /// Replaces the module by that of a text, which must be refused; returns the
  /// first diagnostic.
  std::string parseError(llvm::StringRef text);

  bool isValid() const { return bool(module); }
  mlir::MLIRContext *getContext() { return context; }
  mlir::ModuleOp getModule() { return *module; }
  /// The only function.
  mlir::func::FuncOp getFunction();
  /// The first op of a type.
  template <typename Op> Op find() {
    Op found;
    module->walk([&](Op op) {
      found = op;
      return mlir::WalkResult::interrupt();
    });
    return found;
  }

  /// Diagnostics emitted since the program was made, one per line.
  llvm::StringRef getDiagnostics() const { return *diagnostics; }

  /// Evaluates the function; the test fails with the message of an error.
  template <typename S>
  std::vector<Datum<S>>
  evaluate(std::vector<Datum<S>> inputs,
           reference::WeightProvider<S> weights = reference::noWeights<S>());
  /// Evaluates the function, which must fail; returns the message.
  std::string evaluateError(std::vector<Datum<double>> inputs,
                            reference::WeightProvider<double> weights =
                                reference::noWeights<double>());

private:
  std::shared_ptr<mlir::MLIRContext> owned;
  mlir::MLIRContext *context;
  std::shared_ptr<std::string> diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// The numbers of a value that is no index tensor.
template <typename S> const Tensor<S> &numbers(const Datum<S> &datum) {
  return std::get<Tensor<S>>(datum);
}

/// Expects two tensors of one shape whose elements differ by at most
/// `tolerance`.
void expectNear(const Tensor<double> &found, const Tensor<double> &expected,
                double tolerance);

/// The largest difference between elements, relative to the largest magnitude
/// among the elements of `expected`.
template <typename S>
double relativeError(const Tensor<S> &found, const Tensor<double> &expected);

/// The largest relative error of some results; infinite where one is no number
/// or missing.
template <typename S>
double worstError(const std::vector<Datum<S>> &found,
                  const std::vector<Datum<double>> &expected) {
  double worst = found.size() == expected.size() ? 0 : INFINITY;
  for (auto [a, b] : llvm::zip(found, expected)) {
    double error = relativeError(numbers(a), numbers(b));
    worst = std::isnan(error) ? INFINITY : std::fmax(worst, error);
  }
  return worst;
}

/// The same elements in another type.
template <typename S> Tensor<S> castTo(const Tensor<double> &tensor) {
  return Tensor<S>(tensor.getShape(), std::vector<S>(tensor.elements().begin(),
                                                     tensor.elements().end()));
}

} // namespace effc::seq::test

#endif // EFFC_TEST_UNIT_DIALECTS_SEQ_PROGRAM_H
