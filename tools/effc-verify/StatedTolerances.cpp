// How far results may differ, and what a report says of it.
#include "tools/effc-verify/Numbers.h"
#include "tools/effc-verify/Tolerances.h"
#include "tools/effc-verify/Verification.h"

using namespace effc;
using namespace effc::verify;

std::optional<Products> Verification::findRoundedRows() const {
  Products products = compileOptions.pipeline.products;
  int64_t digits = digitsOf(products);
  bool ofIntegers = llvm::any_of(model.weights(), [](const auto &weight) {
    return weight.rows_together > 1;
  });
  bool ofBf16 = llvm::any_of(compileOptions.targets, [](const Target *level) {
    return level->multipliesBf16;
  });
  return (ofIntegers && (digits == 1 || digits == 2)) ||
                 (ofBf16 && products == Products::BF16)
             ? std::optional(products)
             : std::nullopt;
}

double Verification::prefillTolerance(const Oracle *against,
                                      size_t rows) const {
  double tolerance = against ? f32Tolerance(against->getLoss()) : kUnknownLoss;
  if (roundedRows)
    tolerance = std::max(tolerance,
                         kLossFactor * (against ? against->getRoundingLoss()
                                                : roundedLoss(*roundedRows)));
  bool stored = (narrowStates && tokens.size() > rows) || narrowKeys;
  return stored ? std::max(tolerance, narrowFeeding) : tolerance;
}

double Verification::fileTolerance() const {
  double tolerance = prefillTolerance(all(), mostRows());
  return roundedOperands ? std::max(tolerance, kLossFactor * operandLoss)
                         : tolerance;
}

double Verification::feedingTolerance() const {
  if (bitStable)
    return 0;
  double tolerance = prefillTolerance(all() ? all() : forms(),
                                      /*rows=*/narrowStates ? 1 : 0);
  return roundedOperands ? std::max(tolerance, kOperandFeeding * operandLoss)
                         : tolerance;
}

size_t Verification::mostRows() const {
  size_t rows = 0;
  for (const effc_entry_info_t &entry : model.entries())
    if (entry.kind == EFFC_PREFILL)
      rows = std::max<size_t>(rows, entry.rows);
  return rows;
}

void Verification::stateTolerances() {
  if (report.f32Loss) {
    report.tolerances.push_back(
        "against the reference in double: 4 x what the reference loses in f32 "
        "(" +
        scientific(*report.f32Loss) + "), at least 16 units in the last place" +
        (narrowStates || narrowKeys
             ? "; at least " + scientific(narrowFeeding) +
                   " where states are kept in 16 or 8 bits"
             : "") +
        (roundedRows ? "; at least 4 x what the reference loses where its "
                       "products round rows to " +
                           nameOf(*roundedRows).str() + " (" +
                           scientific(forms()->getRoundingLoss()) + ")"
                     : ""));
    report.tolerances.push_back(
        "forms in double: the same x 2^-29, at least 256 units in the last "
        "place");
  }
  if (roundedOperands && notJudged.empty())
    report.tolerances.push_back(
        "where the device's products round to " +
        nameOf(*roundedOperands).str() + ": at least 4 x what " +
        (all() ? "the reference loses where it is rounded so ("
               : "such products are known to lose (") +
        scientific(operandLoss) + ")");
  if (feeding && (bitStable || notJudged.empty()))
    report.tolerances.push_back(
        bitStable ? "fed in other ways: the same bits"
                  : "fed in other ways: " + scientific(feedingTolerance()) +
                        (optionsKnown
                             ? ", since the file was not compiled for the same "
                               "bits wherever a prompt is cut"
                             : ", since what the file was compiled for is not "
                               "known"));
}
