// Which linear recurrences have kernels that take chunks of tokens at once, and
// of how many.
#ifndef EFFC_PASSES_KERNELFACTS_CHUNKKERNELS_H
#define EFFC_PASSES_KERNELFACTS_CHUNKKERNELS_H

#include "dialects/seq/SeqAttributes.h"
#include "dialects/tile/Tile.h"

namespace effc {

/// Whether each head's state decays as a whole, or not at all.
bool decaysPerHead(seq::LinearAttr linear);

/// The most value channels of a head that an item of a chunkwise kernel has.
///
/// On the host an item that has the whole head computes decays and scores once. On a
/// GPU a state of all channels would not fit beside its operands, and heads alone are
/// too few blocks: an item has as many channels as a product's tile has rows. Decays and
/// scores cost most with decays per key channel, so that there the values of the shortest
/// chunks stay together, up to twice as many, as long as threads hold their state. Where
/// products among tokens need room as well, with such decays or corrections, a state has
/// as many as half of the shared memory holds.
int64_t mostChunkValues(seq::LinearAttr linear, tile::TargetAttr target,
                        int64_t keys, int64_t chunk);

/// Whether tokens of a chunk read before their own decay and behind it, and of
/// two keys each.
bool looksBothWays(seq::LinearAttr linear);

/// The longest chunk that a kernel takes: of one that looks both ways more
/// tokens would fill a block's shared memory. Tokens that write several times
/// share the 16 rows that the shortest chunk of others has.
int64_t mostChunkTokens(seq::LinearAttr linear);

/// The longest chunk that a GPU takes unasked, 16 to 64 tokens: the keys of longer
/// ones are more than threads have elements. They then have no registers for scores,
/// outputs and state, and spill, or a block no room: corrections with heads of 256
/// channels do at 32 tokens.
int64_t mostChosenTokens(seq::LinearAttr linear, tile::TargetAttr target,
                         int64_t keys);

/// The field of a linear recurrence, or the channels of its heads, for which no
/// kernel takes chunks of tokens at once, as a reader of the record sees it;
/// empty where one does. Every recurrence has a kernel that takes one token
/// after another, and on the host most have no other: its products are no
/// faster than its time loop.
std::string chunkObstacle(seq::LinearAttr linear, tile::TargetAttr target,
                          int64_t keys, int64_t values);

bool hasChunkKernel(seq::LinearAttr linear, tile::TargetAttr target,
                    int64_t keys, int64_t values);

/// Whether the state before some tokens goes into the one behind them through a
/// matrix, K x K, and not times numbers.
bool hasTransitions(seq::LinearAttr linear);

/// The most pieces that the chunks of a sequence can be dealt to beside one
/// another, where items have so many value channels. Of two neither needs the
/// matrix between them (PieceMemory.h); where there are more, a block's shared
/// memory holds it beside a state.
int64_t mostPieces(seq::LinearAttr linear, tile::TargetAttr target,
                   int64_t keys, int64_t values);

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_CHUNKKERNELS_H
