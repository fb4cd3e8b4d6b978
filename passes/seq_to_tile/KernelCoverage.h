// Which structures the kernel builders cover, for passes that choose.
#ifndef EFFC_PASSES_SEQTOTILE_KERNELCOVERAGE_H
#define EFFC_PASSES_SEQTOTILE_KERNELCOVERAGE_H

#include "dialects/seq/SeqAttributes.h"

namespace effc {

/// Whether a linear recurrence has a kernel that takes chunks of tokens at
/// once. Every one has a kernel that takes one token after another.
inline bool hasChunkKernel(seq::LinearAttr linear) {
  bool perHead = linear.getDecay() == seq::DecayAxis::None ||
                 linear.getDecay() == seq::DecayAxis::HeadConstant ||
                 linear.getDecay() == seq::DecayAxis::Head;
  return perHead && linear.getField() == seq::DecayField::Real &&
         linear.getLowRank() == seq::LowRankPair::None &&
         linear.getRead() == seq::ReadOrder::AfterWrite && !linear.getBonus() &&
         linear.getNormaliser() == seq::Normaliser::None &&
         linear.getStabiliser() == seq::Stabiliser::None;
}

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_KERNELCOVERAGE_H
