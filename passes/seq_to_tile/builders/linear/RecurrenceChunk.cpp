// A linear recurrence chunk by chunk, with the equations of
// passes/seq/LinearForms.h. With D the decays that ChunkDecays.h knows:
//
//   y = (D q) S + A v                  A_ij = q_i D_ij k_j, j <= i
//   S = D_C S + (D_C k)^T v
//
// Rank-one corrections are values too: with B_ij = p_i D_ij k_j for j < i, and
// s how much of a key is written for what a probe p reads,
//
//   v' = v + s z,  z = (D p) S + B v'  hence  v' = (1 - s B)^-1 (v + s (D p) S)
//
// takes the place of v. What is written along a key of its own, e, is a second
// sum of that kind, with E_ij = p_i D_ij e_j:
//
//   z = (1 - E)^-1 ((D p) S + B v)
//
// All exponents are sums of the chunk's log-decays, at most 0; none is a
// difference. An item is one head of one segment. Chunks end on multiples of
// C from the sequence's start; rows past a chunk's end are neutral: k = v = 0
// and no decay. Floor: 4 K V + C (K + V) FLOPs per token and head, a correction
// 2 K V + C V more.
//
// A token that writes several times is as many rows of the tiles, which take the
// places of tokens above (TokenRows.h).
//
// Where one sequence alone would leave most of a GPU idle, its chunks are dealt
// to pieces with items of their own. A first kernel leaves what each does to
// the state (PieceMemory.h); in the second each goes on from those before it.
//
// Values may be convolved as they are loaded (ConvolvedRows.h). Each of their
// channels is one item's, which leaves the tail behind the segment when it has
// read the one before; of pieces the last one does, and the others read a copy.
#include "passes/kernel_facts/ChunkKernels.h"
#include "passes/kernel_facts/RoundedOperands.h"
#include "passes/kernel_facts/TakenOutputs.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/linear/ChunkDecays.h"
#include "passes/seq_to_tile/builders/linear/ChunkItems.h"
#include "passes/seq_to_tile/builders/linear/PieceMemory.h"
#include "passes/seq_to_tile/builders/linear/SegmentPieces.h"
#include "passes/seq_to_tile/builders/linear/TokenRows.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

namespace {
/// What an item does of its chunks.
enum class Part {
  All,    ///< outputs and the state, of a whole segment
  States, ///< what a piece does to the state, into the memory between launches
  Outputs ///< the outputs of a piece, and of the last one the state
};

/// One kernel of a chunkwise recurrence.
class ChunkKernel {
public:
  /// Of a sequence in at most so many pieces, of which a matrix has so many
  /// blocks of columns.
  ChunkKernel(KernelBuilder &k, seq::MixerOpInterface mixer, Recurrence &r,
              Part part, int64_t most, int64_t transitionBlocks);
  LogicalResult build();

private:
  /// The state behind chunk `index`, and the decays so far; outputs on the way.
  FailureOr<std::pair<Value, Value>> emitChunk(Value index, Value state,
                                               Value decays);
  FailureOr<std::pair<Value, Value>> emitChunks(Value from, Value to,
                                                Value state);
  void convolveValues(seq::MixerOpInterface mixer);
  Value startOfPiece();
  LogicalResult buildStates();
  LogicalResult buildOutputs();
  /// The chunk's canonical quantities, where those that vary over tokens or
  /// may are tiles of all its tokens, neutral at and past `rows`.
  TokenMap::Tiles quantities(const TokenMap::Scope &scope, Value rows);
  /// The same of a chunk's rows, of quantities of its tokens.
  TokenMap::Tiles rowsOf(const TokenMap::Tiles &q, const TokenMap::Scope &scope,
                         Value rows);
  bool probesAlongKeys() const;
  bool decaysPerKey() const;
  std::unique_ptr<ChunkDecays> decaysOf(Value decay);
  tile::TileType channelType() { return k.columnType(r.map.keyChannels); }
  /// Of two numbers, or of two columns.
  Value sum(Value x, Value y);
  Value spread(Value value, tile::TileType type);
  Value probe(ChunkDecays &tokens, const TokenMap::Tiles &q, Value state,
              Value ofKeys, Value ofErased);
  Value correct(ChunkDecays &tokens, const TokenMap::Tiles &q, Value state,
                Value ofKeys);
  Value addBonus(Value out, const TokenMap::Tiles &q);
  bool readsBefore() const {
    return r.linear.getRead() == seq::ReadOrder::BeforeWrite;
  }
  bool probesBefore() const {
    return r.linear.getLowRank() == seq::LowRankPair::UndecayedState;
  }

  KernelBuilder &k;
  OpBuilder &b;
  Recurrence &r;
  Part part;
  int64_t chunk; ///< tokens
  ChunkTiles tiles;
  std::optional<TokenRows> tokenRows; ///< where tokens write several times
  Value offset, end, chunks;
  SegmentPieces pieces; ///< of a segment that is cut, in chunks
  std::optional<PieceMemory> memory;
  std::optional<ConvolvedRows> values; ///< where they are convolved here
};
} // namespace

static seq::ShortConvolutionOp convolutionIn(KernelBuilder &k) {
  auto found = k.getSourceBody().getOps<seq::ShortConvolutionOp>();
  return found.empty() ? seq::ShortConvolutionOp() : *found.begin();
}

ChunkKernel::ChunkKernel(KernelBuilder &k, seq::MixerOpInterface mixer,
                         Recurrence &r, Part part, int64_t most,
                         int64_t transitionBlocks)
    : k(k), b(k.ops()), r(r), part(part), chunk(k.getContext().sizes.chunk),
      tiles(k, r, chunk * r.linear.getWrites()) {
  if (r.linear.getWrites() > 1)
    tokenRows.emplace(tiles, chunk, r.linear.getWrites());
  // The first chunk begins inside the grid where the segment does.
  offset = isQuadratic(mixer) ? k.index(0)
                              : k.divide(r.segment.getStart(), chunk).second;
  end = k.add(offset, r.segment.getLength());
  chunks = k.divide(k.add(end, k.index(chunk - 1)), chunk).first;
  r.map.emitConstants(r.scope({}, {}, chunk));
  convolveValues(mixer);
  if (part == Part::All)
    return;
  pieces = SegmentPieces::of(k, r, most, chunks);
  seq::ShortConvolutionOp convolution = convolutionIn(k);
  memory.emplace(tiles, r, most, transitionBlocks,
                 convolution ? convolution.getTail().getType().getDimSize(0)
                             : 0,
                 /*written=*/part == Part::States);
}

// Of the values' channels, heads one after another, an item has one run.
void ChunkKernel::convolveValues(seq::MixerOpInterface mixer) {
  seq::ShortConvolutionOp convolution = convolutionIn(k);
  if (!convolution)
    return;
  Value first = k.add(k.mul(r.head, r.map.valueChannels), r.firstValue);
  values.emplace(k, convolution, r.segment, first, r.map.getValueBlock(),
                 /*writesTail=*/part != Part::States);
  for (Value operand : mixer->getOperands())
    if (elementsOf(operand) == convolution.getY())
      r.map.setComputed(operand, [this](const TokenMap::Scope &scope) {
        return values->load(scope.row, scope.rows, scope.chunk);
      });
}

FailureOr<std::pair<Value, Value>>
ChunkKernel::emitChunk(Value index, Value state, Value decays) {
  Value gridStart = k.mul(index, chunk);
  Value from = arith::MaxSIOp::create(b, k.loc(), gridStart, offset);
  Value to = k.min(k.add(gridStart, k.index(chunk)), end);
  Value rows = k.sub(to, from);
  Value row = k.add(r.segment.getFirstRow(), k.sub(from, offset));

  TokenMap::Scope scope = r.scope(row, rows, chunk);
  TokenMap::Tiles q = quantities(scope, rows);
  std::unique_ptr<ChunkDecays> tokens = decaysOf(q.decay);
  bool reads = part != Part::States;
  // Queries before probes, of keys and then of what is erased along; a state
  // alone has no queries.
  SmallVector<Sight> sights;
  auto see = [&](Value writer) {
    if (reads)
      sights.push_back({q.query, writer, /*strict=*/false, readsBefore()});
    if (q.probe)
      sights.push_back({q.probe, writer, /*strict=*/true, probesBefore()});
  };
  see(q.key);
  if (q.erase)
    see(q.erase);
  tokens->emitDecays(reads || q.probe);
  // Values that are known are scaled at once where that takes few bytes, so
  // that they are not held beside the products.
  std::optional<std::pair<Value, Value>> known;
  if (!q.probe &&
      areOperandsNarrow(k.getContext().device(), k.getContext().roundedTo()))
    known = tokens->toEnd(q.key, q.value);
  SmallVector<Value> seen = tokens->scores(sights);
  ArrayRef<Value> ofKeys = ArrayRef(seen).take_front(reads + bool(q.probe)),
                  ofErased = ArrayRef(seen).drop_front(ofKeys.size());

  Value written = q.value, probed;
  if (q.probe && q.erase)
    probed = probe(*tokens, q, state, ofKeys.back(), ofErased.back());
  else if (q.probe)
    written = correct(*tokens, q, state, ofKeys.back());
  Value y;
  if (reads) {
    Value out = tokens->readStart(q.query, state, readsBefore());
    out = k.dot(out, ofKeys.front(), written);
    if (probed)
      out = k.dot(out, ofErased.front(), probed);
    if (q.bonusKey)
      out = addBonus(out, q);
    if (tokenRows)
      out = tokenRows->lastOf(out);
    y = r.map.readOut(scope, {out, {}, {}});
  }
  if (y && failed(r.finish(k, row, y, rows, chunk)))
    return failure();
  auto write = [&](Value before, std::pair<Value, Value> left) {
    return k.dot(before, left.first, left.second, /*transposeA=*/true);
  };
  Value next = write(tokens->decayState(state),
                     known ? *known : tokens->toEnd(q.key, written));
  if (probed)
    next = write(next, tokens->toEnd(q.erase, probed));
  if (decays)
    decays = sum(decays, tokens->getTotal());
  return std::pair(next, decays);
}

TokenMap::Tiles ChunkKernel::quantities(const TokenMap::Scope &scope,
                                        Value rows) {
  TokenMap::Tiles q = r.map.quantities(scope);
  if (tokenRows)
    return rowsOf(q, scope, rows);
  auto ofKeys = [&](Value &tile, bool isNeutral) {
    if (!tile)
      return;
    tile = tiles.perToken(tile, tiles.keyType);
    if (isNeutral)
      tile = tiles.maskRows(tile, rows);
  };
  ofKeys(q.query, /*isNeutral=*/false);
  ofKeys(q.bonusKey, /*isNeutral=*/false);
  ofKeys(q.key, /*isNeutral=*/true);
  ofKeys(q.probe, /*isNeutral=*/true);
  ofKeys(q.erase, /*isNeutral=*/true);
  // What a piece does to the state before it does not depend on values.
  q.value = tiles.maskRows(
      q.value,
      r.isTransition ? k.either(r.isTransition, k.index(0), rows) : rows);
  q.decay =
      tiles.maskRows(spread(q.decay ? q.decay : k.scalar(0),
                            decaysPerKey() ? tiles.keyType : tiles.columnType),
                     rows);
  // A token map may make infinities of what is loaded past the end.
  if (q.eraseScale)
    q.eraseScale = tiles.maskRows(spread(q.eraseScale, tiles.columnType), rows);
  return q;
}

// What does not count is 0 before rows are made of it, by products. Writes come
// one after another, so that the tiles of one alone take room.
TokenMap::Tiles ChunkKernel::rowsOf(const TokenMap::Tiles &q,
                                    const TokenMap::Scope &scope, Value rows) {
  auto neutral = [&](Value tile, tile::TileType type) {
    return tiles.maskRows(spread(tile, type), rows);
  };
  Value valueRows =
      r.isTransition ? k.either(r.isTransition, k.index(0), rows) : rows;
  TokenMap::Tiles all;
  if (part != Part::States)
    all.query =
        tiles.perToken(tokenRows->with(tokenRows->none(tiles.keyType),
                                       r.linear.getWrites() - 1,
                                       neutral(q.query, tokenRows->keyType)),
                       tiles.keyType);
  seq::LaterWrite write = {q.key, q.value, q.probe, q.eraseScale};
  Value keys = tokenRows->none(tiles.keyType), probes = keys,
        values = tokenRows->none(tiles.outType);
  SmallVector<Value> scales;
  for (int64_t number = 0; number < r.linear.getWrites(); ++number) {
    if (number > 0)
      write = r.map.laterWrite(number - 1, scope);
    keys =
        tokenRows->with(keys, number, neutral(write.key, tokenRows->keyType));
    values =
        tokenRows->with(values, number, tiles.maskRows(write.value, valueRows));
    if (!write.probe)
      continue;
    if (!probesAlongKeys())
      probes = tokenRows->with(probes, number,
                               neutral(write.probe, tokenRows->keyType));
    scales.push_back(neutral(write.eraseScale, tokenRows->columnType));
  }
  all.key = tiles.perToken(keys, tiles.keyType);
  all.value = values;
  if (q.probe) {
    all.probe =
        probesAlongKeys() ? all.key : tiles.perToken(probes, tiles.keyType);
    all.eraseScale = tokenRows->columnOf(scales);
  }
  // Of a token's rows the first one decays.
  all.decay = q.decay
                  ? tokenRows->columnOf(neutral(q.decay, tokenRows->columnType))
                  : tiles.zeros(tiles.columnType);
  return all;
}

// Whether each write's probe is its key.
bool ChunkKernel::probesAlongKeys() const {
  const seq::CanonicalQuantities &all = r.map.getQuantities();
  return all.probe == all.key &&
         llvm::all_of(all.laterWrites, [](const seq::LaterWrite &write) {
           return write.probe == write.key;
         });
}

// What tokens read before their own decay is known per key channel.
bool ChunkKernel::decaysPerKey() const {
  return r.linear.getDecay() == seq::DecayAxis::Key ||
         (r.map.getQuantities().logDecay && (readsBefore() || probesBefore()));
}

std::unique_ptr<ChunkDecays> ChunkKernel::decaysOf(Value decay) {
  if (decaysPerKey())
    return std::make_unique<KeyDecays>(tiles, decay);
  return std::make_unique<HeadDecays>(tiles, decay);
}

// A number, a row or a column as a tile of all tokens or channels.
Value ChunkKernel::spread(Value value, tile::TileType type) {
  if (!isa<tile::TileType>(value.getType()))
    return tile::SplatOp::create(b, k.loc(), type, value);
  return tiles.perToken(value, type);
}

// z of corrections along keys of their own.
Value ChunkKernel::probe(ChunkDecays &tokens, const TokenMap::Tiles &q,
                         Value state, Value ofKeys, Value ofErased) {
  Value sides = tokens.readStart(q.probe, state, probesBefore());
  sides = k.dot(sides, ofKeys, q.value);
  return k.dot(tiles.zeros(tiles.outType),
               emitUnitLowerInverse(tiles, ofErased), sides);
}

// v' of corrections along the keys.
Value ChunkKernel::correct(ChunkDecays &tokens, const TokenMap::Tiles &q,
                           Value state, Value ofKeys) {
  Value start = tokens.readStart(q.probe, state, probesBefore());
  Value lower =
      k.map(tiles.scoreType, {ofKeys, q.eraseScale},
            [&](OpBuilder &builder, ValueRange e) -> Value {
              return arith::MulFOp::create(builder, k.loc(), e[0], e[1]);
            });
  Value sides =
      k.map(tiles.outType, {q.value, q.eraseScale, start},
            [&](OpBuilder &builder, ValueRange e) -> Value {
              return math::FmaOp::create(builder, k.loc(), e[1], e[2], e[0]);
            });
  return k.dot(tiles.zeros(tiles.outType), emitUnitLowerInverse(tiles, lower),
               sides);
}

// (query . bonusKey) value of the token itself.
Value ChunkKernel::addBonus(Value out, const TokenMap::Tiles &q) {
  Value products =
      k.map(tiles.keyType, {q.query, q.bonusKey},
            [&](OpBuilder &builder, ValueRange e) -> Value {
              return arith::MulFOp::create(builder, k.loc(), e[0], e[1]);
            });
  Value shares = tile::ReduceOp::create(b, k.loc(), tiles.columnType,
                                        tile::ReduceKind::Add, products,
                                        /*over_rows=*/false);
  return k.map(tiles.outType, {shares, q.value, out},
               [&](OpBuilder &builder, ValueRange e) -> Value {
                 return math::FmaOp::create(builder, k.loc(), e[0], e[1], e[2]);
               });
}

FailureOr<std::pair<Value, Value>> ChunkKernel::emitChunks(Value from, Value to,
                                                           Value state) {
  SmallVector<Value> inits = {state};
  if (part == Part::States && !hasTransitions(r.linear))
    inits.push_back(decaysPerKey() ? tiles.zeros(channelType()) : k.scalar(0));
  auto loop =
      scf::ForOp::create(b, k.loc(), from, to, k.index(1), ValueRange(inits));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ValueRange carried = loop.getRegionIterArgs();
  auto next = emitChunk(loop.getInductionVar(), carried[0],
                        carried.size() > 1 ? carried[1] : Value());
  if (failed(next))
    return failure();
  SmallVector<Value> yielded = {next->first};
  if (next->second)
    yielded.push_back(next->second);
  scf::YieldOp::create(b, k.loc(), yielded);
  return std::pair(Value(loop.getResult(0)),
                   next->second ? Value(loop.getResult(1)) : Value());
}

Value ChunkKernel::sum(Value x, Value y) {
  auto type = dyn_cast<tile::TileType>(x.getType());
  if (!type)
    return arith::AddFOp::create(b, k.loc(), x, y);
  return k.map(type, {x, y}, [&](OpBuilder &builder, ValueRange e) -> Value {
    return arith::AddFOp::create(builder, k.loc(), e[0], e[1]);
  });
}

// The columns that an item starts from where its sequence does not begin: none,
// or those of the identity.
Value ChunkKernel::startOfPiece() {
  if (!r.isTransition)
    return tiles.zeros(tiles.stateType);
  int64_t keys = r.map.keyChannels;
  Value first = k.sub(r.firstColumn, k.index(r.map.valueChannels));
  // Rows end before that many.
  Value toDiagonal = k.either(r.isTransition, first, k.index(keys));
  return tiles.where(
      tiles.stateType,
      [&](OpBuilder &builder, Value row, Value column) -> Value {
        Value diagonal =
            arith::AddIOp::create(builder, k.loc(), column, toDiagonal);
        return arith::CmpIOp::create(builder, k.loc(), arith::CmpIPredicate::eq,
                                     row, diagonal);
      },
      k.scalar(1), k.scalar(0));
}

// Every piece but the last leaves the state that it would give from nothing,
// the first one from what the sequence has; the last one's place keeps that,
// since the slot is written while others begin.
LogicalResult ChunkKernel::buildStates() {
  PieceToKeep kept = PieceToKeep::of(k, r, pieces);
  Value never = arith::ConstantOp::create(b, k.loc(), b.getBoolAttr(false));
  Value last = pieces.last(k);
  // The pieces at either end have no matrix.
  if (r.isTransition) {
    Value isNone =
        arith::AndIOp::create(b, k.loc(), r.isTransition, kept.begins);
    kept.begins = k.either(isNone, never, kept.begins);
    kept.to = k.either(isNone, pieces.from, kept.to);
    kept.isThere = k.either(isNone, never, kept.isThere);
  }
  Value state =
      k.where(kept.begins, startOfPiece(), [&] { return r.load(k, r.matrix); });
  auto found = emitChunks(pieces.from, kept.to, state);
  if (failed(found))
    return failure();
  k.when(kept.isThere, [&] {
    memory->keep(pieces.place(k, r.piece), found->first, found->second);
  });
  if (!values)
    return success();
  Value keepsTail =
      arith::AndIOp::create(b, k.loc(), kept.isThere, kept.isLast);
  if (r.isTransition)
    keepsTail = k.either(r.isTransition, never, keepsTail);
  k.when(keepsTail,
         [&] { values->copyTail(memory->tailOf(pieces.place(k, last))); });
  return success();
}

LogicalResult ChunkKernel::buildOutputs() {
  PieceStart start = PieceStart::of(k, r, pieces);
  Value state = memory->sum(start.from, start.to);
  if (values) {
    ConvolvedRows::Copy tail = memory->tailOf(pieces.place(k, pieces.last(k)));
    tail.isKept =
        k.compare(arith::CmpIPredicate::sgt, pieces.count, k.index(1));
    values->setCopy(tail);
  }
  // A segment in one piece has its own slot to itself.
  state = k.where(start.isWhole, state, [&] { return r.load(k, r.matrix); });
  auto found = emitChunks(pieces.from, pieces.to, state);
  if (failed(found))
    return failure();
  k.when(start.reachesEnd(k, pieces, chunks), [&] {
    r.store(k, r.matrix, found->first);
    if (values)
      values->storeTail();
  });
  return success();
}

LogicalResult ChunkKernel::build() {
  if (part == Part::States)
    return buildStates();
  if (part == Part::Outputs)
    return buildOutputs();
  auto found = emitChunks(k.index(0), chunks, r.load(k, r.matrix));
  if (failed(found))
    return failure();
  r.store(k, r.matrix, found->first);
  if (values)
    values->storeTail();
  return success();
}

// What speaks against chunks of these sizes, whatever their tokens are made of.
static std::optional<std::string> sizesObstacle(KernelBuilder &k) {
  auto mixer = cast<seq::MixerOpInterface>(k.getRoot());
  seq::LinearAttr linear = mixer.getStructure().getLinear();
  int64_t chunk = k.getContext().sizes.chunk;
  ChunkItems items = ChunkItems::of(mixer, chunk);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!hasChunkKernel(linear, k.getContext().target, items.keys,
                      items.headValues))
    stream << "has no chunkwise kernel: expects a real decay per head or key "
              "channel, no normaliser and no stabiliser, but got "
           << linear << " with heads of " << items.keys << " x "
           << items.headValues;
  else if (chunk > mostChunkTokens(linear))
    stream << "has no kernel for such chunks: expects at most "
           << mostChunkTokens(linear) << " tokens, but got " << chunk;
  else
    return std::nullopt;
  return text;
}

std::optional<std::string> effc::obstacleToChunks(KernelBuilder &k) {
  auto mixer = cast<seq::MixerOpInterface>(k.getRoot());
  if (std::optional<std::string> sizes = sizesObstacle(k))
    return ("'" + mixer->getName().getStringRef() + "' " + *sizes).str();
  return TokenMap::findObstacle(k, mixer, /*chunked=*/true);
}

static LogicalResult buildPart(KernelBuilder &k, Part part) {
  auto mixer = cast<seq::MixerOpInterface>(k.getRoot());
  seq::LinearAttr linear = mixer.getStructure().getLinear();
  const KernelSizes &sizes = k.getContext().sizes;
  if (std::optional<std::string> obstacle = sizesObstacle(k))
    return mixer->emitOpError(*obstacle);
  int64_t chunk = sizes.chunk;
  ChunkItems items = ChunkItems::of(mixer, chunk);
  int64_t keys = items.keys;
  int64_t most = mostChunkValues(linear, k.getContext().target, keys, chunk);
  int64_t pieces = part == Part::All ? 1 : sizes.pieces;
  int64_t transitions = transitionItemsOf(linear, items, pieces);
  FailureOr<Recurrence> begun =
      beginRecurrence(k, mixer, /*chunked=*/true, k.isGpu() ? most : 0, pieces,
                      part == Part::States ? transitions : 0);
  if (failed(begun))
    return failure();
  return ChunkKernel(k, mixer, *begun, part, pieces, transitions).build();
}

LogicalResult effc::buildRecurrenceChunk(KernelBuilder &k) {
  return buildPart(k,
                   k.getContext().sizes.pieces == 1 ? Part::All : Part::States);
}

LogicalResult effc::buildRecurrencePieces(KernelBuilder &k) {
  return buildPart(k, Part::Outputs);
}
