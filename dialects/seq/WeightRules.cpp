// #seq.derivation, #seq.row_groups, #seq.row_numbers, #seq.position_scales,
// #seq.fenwick_levels: what weights are made of besides the elements of one tensor.
#include "dialects/seq/SeqAttributes.h"

#include "mlir/IR/BuiltinTypeInterfaces.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace effc::seq;

LogicalResult
DerivationAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       DerivationRule rule, int64_t layer) {
  if (layer < 0)
    return emitError() << "expects 'layer' of at least 0, but got " << layer;
  if (rule != DerivationRule::LowerBound && layer != 0)
    return emitError() << "expects no 'layer' for '"
                       << stringifyDerivationRule(rule) << "', but got "
                       << layer;
  return success();
}

// The softmax over layers of each channel, summed from layer 1 to `layer`.
static double lowerBound(ArrayRef<double> tensor, int64_t channel,
                         int64_t channels, int64_t layer) {
  int64_t layers = int64_t(tensor.size()) / channels;
  double greatest = tensor[channel];
  for (int64_t l = 1; l < layers; ++l)
    greatest = std::max(greatest, tensor[l * channels + channel]);
  double part = 0, all = 0;
  for (int64_t l = 0; l < layers; ++l) {
    double weight = std::exp(tensor[l * channels + channel] - greatest);
    all += weight;
    if (l >= 1 && l <= layer)
      part += weight;
  }
  return part / all;
}

SmallVector<double> DerivationAttr::derive(ArrayRef<double> tensor,
                                           ArrayRef<int64_t> shape) const {
  int64_t count = ShapedType::getNumElements(shape);
  SmallVector<double> numbers;
  for (int64_t i = 0; i < count; ++i)
    switch (getRule()) {
    case DerivationRule::NegatedExponential:
      numbers.push_back(-std::exp(tensor[i]));
      break;
    case DerivationRule::LowerBound:
      numbers.push_back(lowerBound(tensor, i, count, getLayer()));
      break;
    case DerivationRule::Repeated: {
      int64_t keys = shape[2], head = i / (shape[1] * keys);
      numbers.push_back(tensor[head * keys + i % keys]);
      break;
    }
    }
  return numbers;
}

LogicalResult
RowGroupsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      int64_t offset, int64_t size, int64_t stride,
                      int64_t count) {
  if (offset < 0 || size < 1 || count < 1 || size > stride - offset)
    return emitError() << "expects 'size' of at least 1 rows from 'offset' on "
                          "inside of 'stride' rows, and 'count' of at least 1, "
                          "but got "
                       << size << ", " << offset << ", " << stride << " and "
                       << count;
  return success();
}

LogicalResult
PositionScalesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           FloatAttr beta, int64_t originalContext) {
  if (!beta.getValue().isFinite() || beta.getValueAsDouble() < 0)
    return emitError() << "expects a finite 'beta' of at least 0, but got "
                       << beta;
  if (originalContext < 1)
    return emitError() << "expects 'original_context' of at least 1, but got "
                       << originalContext;
  return success();
}

bool PositionScalesAttr::hasRows() const { return true; }

SmallVector<double> PositionScalesAttr::compute(int64_t count) const {
  return computeRow(/*position=*/0, count);
}

SmallVector<double> PositionScalesAttr::computeRow(int64_t position,
                                                   int64_t count) const {
  int64_t whole = position / getOriginalContext();
  double steps = double(whole);
  return SmallVector<double>(count, 1 + getBeta().getValueAsDouble() *
                                            std::log(1 + steps));
}

LogicalResult FenwickLevelsAttr::verifyCount(
    int64_t count, function_ref<InFlightDiagnostic()> emitError) const {
  constexpr int64_t kMostLevels = 32;
  if (count > kMostLevels)
    return emitError() << "expects at most " << kMostLevels
                       << " levels, but got " << count;
  return success();
}

bool FenwickLevelsAttr::hasRows() const { return true; }

SmallVector<double> FenwickLevelsAttr::compute(int64_t count) const {
  return computeRow(/*position=*/0, count);
}

SmallVector<double> FenwickLevelsAttr::computeRow(int64_t position,
                                                  int64_t count) const {
  // Less than any log-decay, and no sum of such leaves f32.
  constexpr double kForgotten = -1e30;
  SmallVector<double> numbers;
  for (int64_t level = 0; level < count; ++level) {
    int64_t period = int64_t(1) << level;
    bool isSet = position % period >= period / 2;
    switch (getNumber()) {
    case FenwickNumber::Written:
      numbers.push_back(level == 0 || !isSet ? 1 : 0);
      break;
    case FenwickNumber::Read:
      numbers.push_back(level == 0 || isSet ? 1 : 0);
      break;
    case FenwickNumber::Forgotten:
      numbers.push_back(position % period == 0 ? kForgotten : 0);
      break;
    }
  }
  return numbers;
}

LogicalResult
RowNumbersAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       DenseF64ArrayAttr numbers) {
  if (numbers.empty() || !llvm::all_of(numbers.asArrayRef(), [](double number) {
        return std::isfinite(number);
      }))
    return emitError() << "expects 'numbers' that are finite, but got "
                       << numbers;
  return success();
}

bool RowNumbersAttr::hasRows() const { return true; }

int64_t RowNumbersAttr::getRowCount() const { return getNumbers().size(); }

SmallVector<double> RowNumbersAttr::compute(int64_t count) const {
  return computeRow(/*position=*/0, count);
}

SmallVector<double> RowNumbersAttr::computeRow(int64_t position,
                                               int64_t count) const {
  return SmallVector<double>(count, getNumbers()[position]);
}
