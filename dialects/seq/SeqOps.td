// Every op of the dialect, one file per concept.
#ifndef EFFC_DIALECTS_SEQ_SEQOPS_TD
#define EFFC_DIALECTS_SEQ_SEQOPS_TD

include "dialects/seq/ops/Weights.td"
include "dialects/seq/ops/Kernel.td"
include "dialects/seq/ops/Rows.td"
include "dialects/seq/ops/Dense.td"
include "dialects/seq/ops/Normalisation.td"
include "dialects/seq/ops/ShortConvolution.td"
include "dialects/seq/ops/TokenShift.td"
include "dialects/seq/ops/CausalMix.td"
include "dialects/seq/ops/ChannelConvolution.td"
include "dialects/seq/ops/PermuteChannels.td"
include "dialects/seq/ops/Shape.td"
include "dialects/seq/ops/Elementwise.td"
include "dialects/seq/ops/Contract.td"
include "dialects/seq/ops/Constant.td"
include "dialects/seq/ops/SegmentSum.td"
include "dialects/seq/ops/RunningSum.td"
include "dialects/seq/ops/SolveUnitLower.td"
include "dialects/seq/ops/Stabilise.td"
include "dialects/seq/ops/Scan.td"
include "dialects/seq/ops/GroupNorm.td"
include "dialects/seq/ops/Selection.td"
include "dialects/seq/ops/ChosenRows.td"
include "dialects/seq/ops/KeyScores.td"
include "dialects/seq/ops/Reduce.td"
include "dialects/seq/ops/Positions.td"
include "dialects/seq/ops/BestKeys.td"
include "dialects/seq/ops/ChosenBlocks.td"
include "dialects/seq/ops/MixBlockMeans.td"
include "dialects/seq/ops/Rotary.td"
include "dialects/seq/ops/Recurrence.td"
include "dialects/seq/ops/Semiseparable.td"
// One line for each mixer that CMakeLists.txt names.
include "dialects/seq/Mixers.td"

#endif // EFFC_DIALECTS_SEQ_SEQOPS_TD
