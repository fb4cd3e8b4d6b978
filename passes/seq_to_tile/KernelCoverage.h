// Which structures the kernel builders cover, for passes that choose.
#ifndef EFFC_PASSES_SEQTOTILE_KERNELCOVERAGE_H
#define EFFC_PASSES_SEQTOTILE_KERNELCOVERAGE_H

#include "dialects/seq/SeqAttributes.h"

namespace effc {

/// The field of a linear recurrence for which no kernel takes chunks of tokens
/// at once, as a reader of the record sees it; empty where one does. Every
/// recurrence has a kernel that takes one token after another.
inline std::string chunkObstacle(seq::LinearAttr linear) {
  auto field = [](llvm::StringRef name, llvm::StringRef value) {
    return (name + " = " + value).str();
  };
  bool perHead = linear.getDecay() == seq::DecayAxis::None ||
                 linear.getDecay() == seq::DecayAxis::HeadConstant ||
                 linear.getDecay() == seq::DecayAxis::Head;
  if (!perHead)
    return field("decay", stringifyDecayAxis(linear.getDecay()));
  if (linear.getField() != seq::DecayField::Real)
    return field("field", stringifyDecayField(linear.getField()));
  if (linear.getLowRank() != seq::LowRankPair::None)
    return field("low_rank", stringifyLowRankPair(linear.getLowRank()));
  if (linear.getRead() != seq::ReadOrder::AfterWrite)
    return field("read", stringifyReadOrder(linear.getRead()));
  if (linear.getBonus())
    return field("bonus", "true");
  if (linear.getNormaliser() != seq::Normaliser::None)
    return field("normaliser", stringifyNormaliser(linear.getNormaliser()));
  if (linear.getStabiliser() != seq::Stabiliser::None)
    return field("stabiliser", stringifyStabiliser(linear.getStabiliser()));
  return "";
}

inline bool hasChunkKernel(seq::LinearAttr linear) {
  return chunkObstacle(linear).empty();
}

/// How a GPU passes over the contraction of a product with a single row: the
/// longest divisor of `inner` up to a run of 1,024 elements; 0 where that would
/// be short, and the row is one of a matrix.
inline int64_t singleRowStep(int64_t inner) {
  int64_t step = std::min<int64_t>(inner, 1024);
  while (inner % step != 0)
    --step;
  return step >= 64 || step == inner ? step : 0;
}

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_KERNELCOVERAGE_H
