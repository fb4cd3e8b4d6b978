// The items of a chunkwise recurrence: chunks, blocks of value channels, and
// pieces of sequences.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_CHUNKITEMS_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_CHUNKITEMS_H

#include "passes/seq_to_tile/KernelBuilder.h"

namespace effc {

/// Whether a mixer's form is the quadratic one: one chunk as long as the call,
/// wherever it starts.
bool isQuadratic(seq::MixerOpInterface mixer);
/// Tokens of a chunk.
int64_t chunkOf(seq::MixerOpInterface mixer, const KernelContext &context);

/// Of a segment that is not cut: its items, and the part of a head's state that
/// each has.
struct ChunkItems {
  int64_t heads;
  int64_t keys, values;
  int64_t headValues; ///< of all of a head's items

  static ChunkItems of(seq::MixerOpInterface mixer,
                       const KernelContext &context);

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
