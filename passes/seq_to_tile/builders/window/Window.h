// A softmax over a window of keys as one kernel: what its parts share.
#ifndef EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_WINDOW_H
#define EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_WINDOW_H

#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/window/RunningSoftmax.h"
#include "passes/seq_to_tile/builders/window/WindowBlocks.h"
#include "passes/seq_to_tile/builders/window/WindowPieces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace effc {

/// A block's queries: rows of one head (prefill) or heads of one row (decode).
struct Queries {
  mlir::Value tile;   // M x K
  mlir::Value atEnd;  // the same at their places in a cache of first tokens and
                      // window, for keys of the former; null: none stay
  mlir::Value first;  // position of the first
  mlir::Value last;   // position of the last
  mlir::Value slopes; // f32, or a column of M; null: none
  mlir::Value sinks;  // likewise
  mlir::Value keyHead, valueHead, numberHead;
  /// Numbers of the blocks that they have chosen, as the bits of f32: a row of each
  /// query (prefill), or one row of all heads (decode); null: they see all blocks.
  mlir::Value blocks;
};

/// A block of keys and what they carry.
struct Keys {
  mlir::Value keys, values; // N x K, N x V
  mlir::Value numbers;      // N x 1, or null
};

/// Reads keys, values or numbers of keys of one block: of a state and the
/// call's rows, the head and the channels.
using LoadKeys = llvm::function_ref<mlir::Value(
    mlir::Value state, mlir::Value rows, mlir::Value head, int64_t channels)>;

/// The states that hold keys of past tokens.
struct KeyStates {
  mlir::Value keys, values, numbers; // null: keys have no numbers
};

/// A block of keys by its number on the grid of positions.
struct KeyBlock {
  mlir::Value index;
  /// Of the first tokens' keys where the window has passed them; else of those
  /// in the window.
  bool isPassed = false;
  mlir::Value fromQuery = {}; // i32, its first position less the first query's
  mlir::Value chosen =
      {}; // column, 1 for queries that have chosen it and 0 for the
          // others; null: it is the same for all queries
};

/// What a query and a key are to one another: the key's position less the
/// query's, counted in places of a cache where the window has passed the key,
/// and whether the query sees it.
struct Sight {
  mlir::Value distance, visible;
};

/// Which numbers of keys count for each query, where only some are kept: those
/// above `bound`, and those equal to it up to `last`, the distance from the
/// query, which is 0 at its own position and less before.
struct Kept {
  mlir::Value bound, last; // columns, or null
};

/// The keys of an item that takes a piece of those in sight.
struct KeyRange {
  mlir::Value from, to; // numbers of blocks
  mlir::Value isOldest; // whether it has the first tokens' keys, too
  bool hasNewest;       // or no key of the call
};

class WindowKernel {
public:
  WindowKernel(KernelBuilder &k, seq::MixerOpInterface mixer);

  mlir::LogicalResult build();

private:
  int64_t sizeOf(mlir::Value tensor, unsigned dim) const {
    return llvm::cast<mlir::RankedTensorType>(tensor.getType()).getDimSize(dim);
  }
  mlir::Value max(mlir::Value lhs, mlir::Value rhs) {
    return mlir::arith::MaxSIOp::create(b, k.loc(), lhs, rhs);
  }
  mlir::Value constant(mlir::OpBuilder &builder, double value) {
    return mlir::arith::ConstantOp::create(
        builder, k.loc(), builder.getF32FloatAttr(static_cast<float>(value)));
  }
  /// The most keys that one query sees.
  int64_t keysInSight() const {
    return record.getWindow() ? record.getWindow() + record.getSinkTokens()
                              : ringRows;
  }
  mlir::LogicalResult checkDistances();
  mlir::LogicalResult buildDecode();
  /// An item that has every n-th piece of a segment's keys from `part` on, for heads
  /// from `head` on.
  void buildSomePieces(mlir::Value head, mlir::Value part);
  WindowPieces piecesInSight();
  /// Of all pieces, and of the one at `place`.
  RunningSoftmax mixPieces(const Queries &queries);
  RunningSoftmax mixPiece(Queries queries, const WindowPieces &pieces,
                          mlir::Value place, bool isNewest);
  /// Two pieces, or more, one after the other.
  RunningSoftmax merge(const RunningSoftmax &before,
                       const RunningSoftmax &piece);
  /// Of the heads from `head` on of a decode call's row.
  Queries queriesOfDecode(mlir::Value head);
  mlir::LogicalResult buildPrefill();
  /// Given what all heads share of the queries, and the keys kept if they are
  /// found already.
  mlir::LogicalResult mixHead(Queries queries, mlir::Value head,
                              mlir::Value row, mlir::Value count,
                              std::optional<Kept> kept = std::nullopt);
  RunningSoftmax begin(mlir::Value sinks);
  RunningSoftmax mix(const Queries &queries, const Kept &kept);
  /// Goes over all blocks of keys that one of the queries sees, oldest first.
  llvm::SmallVector<mlir::Value>
  overKeys(const Queries &queries, llvm::SmallVector<mlir::Value> carried,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(
               KeyBlock block, LoadKeys load, mlir::ValueRange carried)>
               body);
  /// What `mix` computes of a block of keys, where any of the queries has chosen the
  /// block that its keys belong to; else `before`.
  mlir::ValueRange
  whereChosen(const Queries &queries, KeyBlock block, mlir::ValueRange before,
              llvm::function_ref<RunningSoftmax(const KeyBlock &)> mix);
  /// All keys in sight, where the record keeps no fewer.
  Kept findKept(const Queries &queries);
  /// A column with how many keys in sight of each query `holds` for, given
  /// their number, their distance and the elements of `columns`.
  mlir::Value
  count(const Queries &queries, mlir::ValueRange columns,
        llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value number,
                                       mlir::Value distance,
                                       mlir::ValueRange columns)>
            holds);
  /// How many keys in sight have a number to which `predicate` holds with
  /// `bound`, a column.
  mlir::Value countNumbers(const Queries &queries,
                           mlir::arith::CmpFPredicate predicate,
                           mlir::Value bound);
  /// The difference of two columns.
  mlir::Value minus(mlir::Value lhs, mlir::Value rhs);
  using Middle = mlir::Value (*)(mlir::OpBuilder &, mlir::Location,
                                 mlir::Value low, mlir::Value high);
  /// [low, high], columns, halved `steps` times: where `surplusAt` of the
  /// middle is at least 0 the upper half goes on, if `upwards`, else the lower.
  std::pair<mlir::Value, mlir::Value>
  halve(mlir::Value low, mlir::Value high, int64_t steps, Middle middleOf,
        bool upwards, llvm::function_ref<mlir::Value(mlir::Value)> surplusAt);
  /// The largest number that at least `keep` keys reach.
  mlir::Value findBound(const Queries &queries, mlir::Value keep);
  /// The distance up to which `left` keys of just the number `bound` lie.
  mlir::Value findLast(const Queries &queries, mlir::Value bound,
                       mlir::Value left);
  mlir::Value splat(tile::TileType type, float value) {
    return tile::SplatOp::create(b, k.loc(), type, k.scalar(value));
  }
  /// A block that `queries` look at.
  KeyBlock blockAt(mlir::Value index, const Queries &queries, bool isPassed);
  /// For the element of a map over the scores of a block.
  Sight sightOf(mlir::OpBuilder &builder, const KeyBlock &block);
  mlir::Value compare(mlir::OpBuilder &builder,
                      mlir::arith::CmpIPredicate predicate, mlir::Value value,
                      int64_t bound);
  /// Whether a key in sight counts.
  mlir::Value isKept(mlir::OpBuilder &builder, mlir::Value number,
                     mlir::Value distance, mlir::Value bound, mlir::Value last);
  mlir::Value spread(const Keys &keys);
  RunningSoftmax mixBlock(const Queries &queries, const KeyBlock &block,
                          const Keys &keys, const Kept &kept,
                          const RunningSoftmax &before);
  mlir::Value scores(const Queries &queries, const KeyBlock &block,
                     const Keys &keys, const Kept &kept);
  mlir::Value withNumber(mlir::OpBuilder &builder, mlir::Value score,
                         mlir::Value number);
  const KeyStates &statesOf(const KeyBlock &block) const {
    return block.isPassed ? first : ring;
  }
  Keys loadKeys(const Queries &queries, const KeyBlock &block, LoadKeys load);
  /// Rows of the call as `state` will have them, so that a token's bits do not depend
  /// on which call made its keys. On a GPU they are as the call has them.
  mlir::Value asKept(mlir::Value rows, mlir::Value state);
  void withChannels(mlir::Value tensor, int64_t channels,
                    llvm::SmallVectorImpl<mlir::Value> &at,
                    llvm::SmallVectorImpl<int64_t> &sizes);
  mlir::Value load(mlir::Value tensor, llvm::SmallVector<mlir::Value> at,
                   llvm::SmallVector<int64_t> sizes, int64_t channels,
                   mlir::Value count);
  /// A block of which rows before `before` lie in the state from `stateRow` on,
  /// those up to `end` in the call's rows from `row` on.
  mlir::Value splice(mlir::Value state, mlir::Value stateRow, mlir::Value rows,
                     mlir::Value row, mlir::Value head, int64_t channels,
                     mlir::Value before, mlir::Value end);
  mlir::Value splicedRing(mlir::Value state, mlir::Value rows, mlir::Value head,
                          int64_t channels, mlir::Value block);
  mlir::Value splicedFirst(mlir::Value state, mlir::Value rows,
                           mlir::Value head, int64_t channels,
                           mlir::Value block);
  mlir::LogicalResult finish(mlir::Value row, mlir::Value head,
                             const RunningSoftmax &running,
                             llvm::ArrayRef<int64_t> sizes, mlir::Value rows);

  KernelBuilder &k;
  mlir::OpBuilder &b;
  seq::MixerOpInterface mixer;
  seq::WindowAttr record;
  seq::WindowTokens tokens;
  KeyStates ring, first;
  WindowBlocks blocks;
  int64_t headsPerNumber = 1, headsPerChoice = 1;
  int64_t heads, keyChannels, valueChannels, ringRows, blockKeys;
  int64_t rows = 0; // M
  tile::TileType columnType, scoreType, mixedType;
  tile::SegmentOp segment;
  std::optional<KeyRange> range; // none: all keys in sight
};

/// Writes a decode call's token of a segment into the states of a window.
void appendToWindow(KernelBuilder &k, tile::SegmentOp segment);

/// The mixer's operands by what they are.
seq::WindowTokens windowTokensOf(seq::MixerOpInterface mixer);
/// The operand that holds the state of this number.
mlir::Value windowStateOf(seq::MixerOpInterface mixer, unsigned index);

} // namespace effc

#endif // EFFC_PASSES_SEQ_TO_TILE_BUILDERS_WINDOW_WINDOW_H
