#include "tools/effc-verify/Oracle.h"

#include "tools/effc-verify/Check.h"
#include "tools/effc-verify/Expected.h"
#include "tools/effc-verify/Numbers.h"
#include "tools/effc-verify/Tolerances.h"

#include <cmath>

using namespace effc;
using namespace effc::verify;

Oracle::Oracle(const StoredModel &given, Tokens sequence, size_t columns,
               Products products)
    : model(&given), tokens(std::move(sequence)), columns(columns) {
  TimeBudget watch(INFINITY);
  logits = take(evaluateReference(*model, tokens, {}));
  seconds = watch.passed();
  loss = largestError(take(evaluateReference(*model, tokens, {.single = true})),
                      logits, columns);
  if (products != Products::Exact)
    roundingLoss = largestError(
        take(evaluateReference(*model, tokens, {.rows = products})), logits,
        columns);
}

double Oracle::findRoundingLossOfGpu(Products products,
                                     bool narrowResults) const {
  return largestError(
      take(evaluateReference(
          *model, tokens,
          {.rows = products, .ofGpu = true, .narrowResults = narrowResults})),
      logits, columns);
}

std::vector<double> Oracle::inForm(const FormCase &form,
                                   ReferenceCoverage &coverage) const {
  return take(evaluateReference(
      *model, tokens, {.form = form.form, .chunk = form.chunk}, &coverage));
}

void Oracle::requireJudgeable() const {
  if (loss <= kMostLoss)
    return;
  std::string lost = loss < INFINITY
                         ? "loses " + scientific(loss) + " of the largest logit"
                         : "overflows";
  throw cli::Failure("cannot be judged: f32 arithmetic " + lost +
                     " on this model, and beyond " + scientific(kMostLoss) +
                     " no sound kernel can be told from a wrong one");
}

static double secondsFor(const StoredModel &model, const Tokens &tokens,
                         size_t count) {
  TimeBudget watch(INFINITY);
  llvm::ArrayRef<int32_t> sequence = tokens;
  (void)take(evaluateReference(model, sequence.take_front(count), {}));
  return watch.passed();
}

LinearTime effc::verify::timeReference(const StoredModel &model,
                                       const Tokens &tokens) {
  // The first evaluation of all brings the weights into memory.
  double fewer = secondsFor(model, tokens, 2);
  double more = secondsFor(model, tokens, kFewestTimed);
  return LinearTime::through(2, fewer, kFewestTimed, more);
}
