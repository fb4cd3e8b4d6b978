// The reference's answer to one sequence through one model.
#ifndef EFFC_TOOLS_EFFC_VERIFY_ORACLE_H
#define EFFC_TOOLS_EFFC_VERIFY_ORACLE_H

#include "compiler/Reference.h"
#include "compiler/StoredModel.h"
#include "tools/effc-verify/Feeding.h"
#include "tools/effc-verify/Forms.h"
#include "tools/effc-verify/TimeBudget.h"

#include <vector>

namespace effc::verify {

/// Evaluates when it is made, in double and in f32. Throws Failure.
class Oracle {
public:
  /// `model` outlives the oracle; its rows of logits are `columns` long.
  /// What the products lose that round rows is measured too; Exact: none do.
  Oracle(const StoredModel &model, Tokens tokens, size_t columns,
         Products products);

  const StoredModel &getModel() const { return *model; }
  const Tokens &getTokens() const { return tokens; }
  /// In double: [tokens, columns].
  const std::vector<double> &getLogits() const { return logits; }
  /// What f32 arithmetic loses; infinite where it overflows.
  double getLoss() const { return loss; }
  /// What rounding the rows of products loses; 0 where they are not rounded.
  double getRoundingLoss() const { return roundingLoss; }
  /// What products of a GPU lose that round rows and weights so, with `narrowResults`
  /// what kernels hand on as well; evaluates.
  double findRoundingLossOfGpu(Products products, bool narrowResults) const;
  /// How long an evaluation in double took.
  double getSeconds() const { return seconds; }

  /// In double, with the mixers in a form.
  std::vector<double> inForm(const FormCase &form,
                             ReferenceCoverage &coverage) const;
  /// Throws Failure where f32 loses so much that nothing could be told.
  void requireJudgeable() const;

private:
  const StoredModel *model;
  Tokens tokens;
  std::vector<double> logits;
  size_t columns;
  double loss = 0, roundingLoss = 0, seconds = 0;
};

/// How long the reference takes for a sequence, by its length; `tokens` are
/// kFewestTimed or more. Throws Failure.
LinearTime timeReference(const StoredModel &model, const Tokens &tokens);
inline constexpr size_t kFewestTimed = 8;

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_ORACLE_H
