// The items of a recurrence token by token: blocks of value channels, and pieces
// of sequences.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_STEPITEMS_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_STEPITEMS_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// The most value channels of an item, for `KernelSizes`.
/// - Four vectors of 32 lanes: query, key and decays are read once for them.
/// - Where parameters have numbers for each element of a state, nothing is shared, and
///   all of them come by for each token: on the host so many that they stay in the
///   first cache, on a GPU that threads hold them beside the state.
/// - Fewer in a step of a GPU where cores would have no item and its threads then have
///   fewer elements, unless a row has to have the bits that it has among others.
int64_t stepValuesOf(seq::MixerOpInterface mixer, const CallContext &call);

/// The most pieces that buildRecurrenceScan cuts one sequence of a call into,
/// each an item of its own, for `KernelSizes`; 1: it does not, and where the
/// form is not a scan.
int64_t scanPiecesOf(seq::MixerOpInterface mixer, const CallContext &call);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_STEPITEMS_H
