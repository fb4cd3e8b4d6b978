// The items of a chunkwise recurrence: chunks, blocks of value channels, and
// pieces of sequences.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_CHUNKITEMS_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_CHUNKITEMS_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// Whether a mixer's form is the quadratic one: one chunk as long as the call,
/// wherever it starts.
bool isQuadratic(seq::MixerOpInterface mixer);
/// Tokens of a chunk, for `KernelSizes`.
int64_t chunkOf(seq::MixerOpInterface mixer, const CallContext &call);
/// The most pieces that buildRecurrenceChunk cuts one sequence of a call into,
/// each an item of its own, for `KernelSizes`; 1: it does not.
int64_t piecesOf(seq::MixerOpInterface mixer, const CallContext &call);

/// Of a segment that is not cut: its items, and the part of a head's state that
/// each has.
struct ChunkItems {
  int64_t heads;
  int64_t keys, values;
  int64_t headValues; ///< of all of a head's items

  /// With chunks of so many tokens.
  static ChunkItems of(seq::MixerOpInterface mixer, int64_t chunk);

  int64_t perHead() const { return headValues / values; }
  int64_t count() const { return heads * perHead(); }
};

/// Of a head that is cut into at most `pieces`: for each of these the items of
/// the first launch whose columns are those of a K x K matrix. Two pieces have
/// none between them (PieceMemory.h).
int64_t transitionItemsOf(seq::LinearAttr linear, const ChunkItems &items,
                          int64_t pieces);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_CHUNKITEMS_H
