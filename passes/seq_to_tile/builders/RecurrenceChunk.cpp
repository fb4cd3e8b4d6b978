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
// Where one sequence alone would leave most of a GPU idle, its chunks are dealt
// to pieces with items of their own. What a piece adds to the state, A, and its
// decays, P, are found by a first kernel, and before piece n of the second is
//
//   S_n = exp(P_{n-1}) S_{n-1} + A_{n-1}     P a number or one per key channel
#include "passes/seq_to_tile/KernelCoverage.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/ChunkDecays.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

// A second launch, and what an item does besides chunks, in cycles of a core.
static constexpr int64_t kLaunchCycles = 2500;

static bool isQuadratic(seq::MixerOpInterface mixer) {
  return mixer.getFormAttr().getKind() == seq::FormKind::Quadratic;
}

// The quadratic form is one chunk as long as the call, wherever it starts.
static int64_t chunkOf(seq::MixerOpInterface mixer,
                       const KernelContext &context) {
  return isQuadratic(mixer) ? context.entry.getRows()
                            : mixer.getFormAttr().getChunk();
}

namespace {
/// Of a segment that is not cut: its items, and the part of a head's state that
/// each has.
struct ChunkItems {
  int64_t count, keys, values;
  int64_t headValues; ///< of all of a head's items

  static ChunkItems of(seq::MixerOpInterface mixer,
                       const KernelContext &context) {
    auto stateful = cast<seq::StatefulOpInterface>(mixer.getOperation());
    ArrayRef<int64_t> state = stateful.getStates().front().type.getShape();
    seq::LinearAttr linear = mixer.getStructure().getLinear();
    int64_t block = blockOf(
        state[2], mostChunkValues(linear, state[1], chunkOf(mixer, context)));
    return {state[0] * (state[2] / block), state[1], block, state[2]};
  }
};
} // namespace

int64_t effc::piecesOf(seq::MixerOpInterface mixer,
                       const KernelContext &context) {
  seq::FormAttr form = mixer.getFormAttr();
  if (context.cores == 0 || context.bitStable || !form ||
      form.getKind() != seq::FormKind::Chunkwise ||
      context.entry.getKind() != seq::EntryKind::Prefill ||
      mixer.getStructure().getMixerClass() != seq::MixerClass::Linear)
    return 1;
  ChunkItems items = ChunkItems::of(mixer, context);
  if (!hasPieceKernel(mixer.getStructure().getLinear(), context.device,
                      items.keys, items.headValues))
    return 1;
  int64_t chunk = form.getChunk();
  int64_t chunks = context.entry.getRows() / chunk;
  int64_t pieces = std::min(context.cores / items.count, chunks);
  if (pieces < 2)
    return 1;
  // States alone take two of the four products with them. What decays per key
  // channel cost beside is work of outputs above all, and speaks for pieces.
  int64_t products = items.keys * items.values;
  int64_t cycles = chunk *
                   (4 * products + chunk * (items.keys + items.values)) /
                   context.dotRate;
  int64_t states = chunk * 2 * products / context.dotRate;
  int64_t each = llvm::divideCeil(chunks, pieces);
  return each * (cycles + states) + kLaunchCycles < chunks * cycles ? pieces
                                                                    : 1;
}

namespace {
/// What an item does of its chunks.
enum class Part {
  All,    ///< outputs and the state, of a whole segment
  States, ///< what a piece adds to the state, into the memory between launches
  Outputs ///< the outputs of a piece, and of the last one the state
};

/// One kernel of a chunkwise recurrence.
class ChunkKernel {
public:
  ChunkKernel(KernelBuilder &k, seq::MixerOpInterface mixer, Recurrence &r,
              Part part);
  LogicalResult build();

private:
  /// The state behind chunk `index`, and the decays so far; outputs on the way.
  FailureOr<std::pair<Value, Value>> emitChunk(Value index, Value state,
                                               Value decays);
  FailureOr<std::pair<Value, Value>> emitChunks(Value from, Value to,
                                                Value state);
  void findPiece();
  Value place(Value piece) { return k.add(firstPlace, piece); }
  void keepState(Value at, Value state, Value decays);
  Value addPieces(Value from, Value to);
  LogicalResult buildStates();
  LogicalResult buildOutputs();
  /// What the sequence has where `condition` holds, else `state`.
  Value loadWhere(Value condition, Value state);
  /// Runs `body` where `condition` holds, the same for all of the block.
  void when(Value condition, function_ref<void()> body);

  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, k.loc(), predicate, x, y);
  }
  Value either(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, k.loc(), condition, x, y);
  }
  /// The chunk's canonical quantities, where those that vary over tokens or
  /// may are tiles of all its tokens, neutral at and past `rows`.
  TokenMap::Tiles quantities(const TokenMap::Scope &scope, Value rows);
  bool decaysPerKey() const;
  std::unique_ptr<ChunkDecays> decaysOf(Value decay);
  tile::TileType channelType() { return k.columnType(r.map.keyChannels); }
  /// Of two numbers, or of two columns.
  Value sum(Value x, Value y);
  /// Where an item's piece has its decays, one for each key channel.
  Value placeOfDecays();
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
  int64_t chunk;
  ChunkTiles tiles;
  int64_t most; ///< of pieces
  Value offset, end, chunks;
  // Of a segment in pieces: how many it has, where the first one's place is,
  // and its own chunks.
  Value pieces, firstPlace, fromChunk, toChunk;
  Value memory;
};
} // namespace

ChunkKernel::ChunkKernel(KernelBuilder &k, seq::MixerOpInterface mixer,
                         Recurrence &r, Part part)
    : k(k), b(k.ops()), r(r), part(part), chunk(chunkOf(mixer, k.getContext())),
      tiles(k, r, chunk), most(piecesOf(mixer, k.getContext())) {
  // The first chunk begins inside the grid where the segment does.
  offset = isQuadratic(mixer) ? k.index(0)
                              : k.divide(r.segment.getStart(), chunk).second;
  end = k.add(offset, r.segment.getLength());
  chunks = k.divide(k.add(end, k.index(chunk - 1)), chunk).first;
  r.map.emitConstants(r.scope({}, {}, chunk));
  if (part != Part::All)
    findPiece();
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
  SmallVector<Sight> sights;
  if (reads)
    sights.push_back({q.query, q.key, /*strict=*/false, readsBefore()});
  if (q.probe)
    sights.push_back({q.probe, q.key, /*strict=*/true, probesBefore()});
  if (q.erase) {
    sights.push_back({q.query, q.erase, /*strict=*/false, readsBefore()});
    sights.push_back({q.probe, q.erase, /*strict=*/true, probesBefore()});
  }
  SmallVector<Value> seen = tokens->scores(sights);
  tokens->emitSums(reads);

  Value written = q.value, probed;
  if (q.probe && q.erase)
    probed = probe(*tokens, q, state, seen[1], seen[3]);
  else if (q.probe)
    written = correct(*tokens, q, state, seen[1]);
  Value y;
  if (reads) {
    Value out = tokens->readStart(q.query, state, readsBefore());
    out = k.dot(out, seen[0], written);
    if (probed)
      out = k.dot(out, seen[2], probed);
    if (q.bonusKey)
      out = addBonus(out, q);
    y = r.map.readOut(scope, {out, {}, {}});
  }
  Value next = tokens->decayState(state);
  next = k.dot(next, tokens->toEnd(q.key), written, /*transposeA=*/true);
  if (probed)
    next = k.dot(next, tokens->toEnd(q.erase), probed, /*transposeA=*/true);

  if (y && failed(r.finish(k, row, y, rows, chunk)))
    return failure();
  if (decays)
    decays = sum(decays, tokens->getTotal());
  return std::pair(next, decays);
}

TokenMap::Tiles ChunkKernel::quantities(const TokenMap::Scope &scope,
                                        Value rows) {
  TokenMap::Tiles q = r.map.quantities(scope);
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
  q.value = tiles.maskRows(q.value, rows);
  q.decay =
      tiles.maskRows(spread(q.decay ? q.decay : k.scalar(0),
                            decaysPerKey() ? tiles.keyType : tiles.columnType),
                     rows);
  if (q.eraseScale)
    q.eraseScale = spread(q.eraseScale, tiles.columnType);
  return q;
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
  if (part == Part::States)
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

// There are `most` places for pieces, which the segments of the call share;
// where these are more, each is one piece and has no place. A piece is so many
// whole chunks.
void ChunkKernel::findPiece() {
  Value segments = tile::CountOp::create(b, k.loc(), tile::Count::Segments);
  Value share = arith::DivUIOp::create(b, k.loc(), k.index(most), segments);
  pieces = arith::MaxSIOp::create(b, k.loc(), share, k.index(1));
  firstPlace = arith::MulIOp::create(b, k.loc(), r.sequence, pieces);
  Value rounded = k.add(chunks, k.sub(pieces, k.index(1)));
  Value each = arith::DivUIOp::create(b, k.loc(), rounded, pieces);
  fromChunk = k.min(arith::MulIOp::create(b, k.loc(), r.piece, each), chunks);
  toChunk = k.min(k.add(fromChunk, each), chunks);
  // Behind the value channels of a head's state lie the decays, a column for
  // each block; rows begin at multiples of 32 bytes where they did.
  int64_t values = r.map.valueChannels;
  memory = k.scratch(
      {most, r.map.heads, r.map.keyChannels,
       values + int64_t(llvm::alignTo(values / r.map.getValueBlock(), 8))},
      /*written=*/part == Part::States);
}

Value ChunkKernel::placeOfDecays() {
  Value block = k.divide(r.firstValue, r.map.getValueBlock()).first;
  return k.add(k.index(r.map.valueChannels), block);
}

Value ChunkKernel::sum(Value x, Value y) {
  auto type = dyn_cast<tile::TileType>(x.getType());
  if (!type)
    return arith::AddFOp::create(b, k.loc(), x, y);
  return k.map(type, {x, y}, [&](OpBuilder &builder, ValueRange e) -> Value {
    return arith::AddFOp::create(builder, k.loc(), e[0], e[1]);
  });
}

void ChunkKernel::when(Value condition, function_ref<void()> body) {
  auto loop =
      scf::ForOp::create(b, k.loc(), k.index(0),
                         either(condition, k.index(1), k.index(0)), k.index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body();
}

// By a loop, so that nothing is read where it does not hold.
Value ChunkKernel::loadWhere(Value condition, Value state) {
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0),
                                 either(condition, k.index(1), k.index(0)),
                                 k.index(1), ValueRange(state));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b, k.loc(), r.load(k, r.matrix));
  return loop.getResult(0);
}

void ChunkKernel::keepState(Value at, Value state, Value decays) {
  int64_t block = r.map.getValueBlock(), keys = r.map.keyChannels;
  k.store(state, memory, {at, r.head, k.index(0), r.firstValue},
          {1, 1, keys, block});
  k.store(spread(decays, channelType()), memory,
          {at, r.head, k.index(0), placeOfDecays()}, {1, 1, keys, 1});
}

// The state before a piece, of what is kept at the places of pieces
// [from, to): each decays all before it.
Value ChunkKernel::addPieces(Value from, Value to) {
  auto loop = scf::ForOp::create(b, k.loc(), from, to, k.index(1),
                                 ValueRange(tiles.zeros(tiles.stateType)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value at = place(loop.getInductionVar());
  int64_t keys = r.map.keyChannels;
  Value added = k.load(memory, {at, r.head, k.index(0), r.firstValue},
                       {1, 1, keys, r.map.getValueBlock()}, tiles.stateType);
  Value decays = k.load(memory, {at, r.head, k.index(0), placeOfDecays()},
                        {1, 1, keys, 1}, channelType());
  Value next =
      k.map(tiles.stateType, {loop.getRegionIterArg(0), added, decays},
            [&](OpBuilder &builder, ValueRange e) -> Value {
              return math::FmaOp::create(builder, k.loc(), e[0],
                                         emitExp(builder, k.loc(), e[2]), e[1]);
            });
  scf::YieldOp::create(b, k.loc(), next);
  return loop.getResult(0);
}

// Every piece but the last leaves the state that it would give from nothing,
// the first one from what the sequence has; the last one's place keeps that,
// since the slot is written while others begin.
LogicalResult ChunkKernel::buildStates() {
  Value one = k.index(1), last = k.sub(pieces, one);
  Value inPieces = compare(arith::CmpIPredicate::sgt, pieces, one);
  Value isLast = compare(arith::CmpIPredicate::eq, r.piece, last);
  Value isFirst = compare(arith::CmpIPredicate::eq, r.piece, k.index(0));
  Value begins = arith::AndIOp::create(
      b, k.loc(), inPieces, arith::OrIOp::create(b, k.loc(), isFirst, isLast));
  Value state = loadWhere(begins, tiles.zeros(tiles.stateType));
  Value adds = arith::AndIOp::create(
      b, k.loc(), inPieces, compare(arith::CmpIPredicate::slt, r.piece, last));
  Value to = either(adds, toChunk, fromChunk);
  auto found = emitChunks(fromChunk, to, state);
  if (failed(found))
    return failure();
  Value isThere = arith::AndIOp::create(
      b, k.loc(), inPieces,
      compare(arith::CmpIPredicate::slt, r.piece, pieces));
  when(isThere,
       [&] { keepState(place(r.piece), found->first, found->second); });
  return success();
}

LogicalResult ChunkKernel::buildOutputs() {
  Value zero = k.index(0), one = k.index(1);
  Value alone = compare(arith::CmpIPredicate::eq, pieces, one);
  Value isFirst = compare(arith::CmpIPredicate::eq, r.piece, zero);
  Value isThere = compare(arith::CmpIPredicate::slt, fromChunk, toChunk);
  // What is before the first piece is at the last one's place.
  Value from = either(isFirst, k.sub(pieces, one), zero);
  Value to = either(isFirst, pieces, r.piece);
  Value reads = arith::AndIOp::create(
      b, k.loc(), isThere, compare(arith::CmpIPredicate::sgt, pieces, one));
  Value state = addPieces(from, either(reads, to, from));
  // A segment in one piece has its own slot to itself.
  Value whole = arith::AndIOp::create(b, k.loc(), alone, isFirst);
  state = loadWhere(whole, state);
  auto found = emitChunks(fromChunk, toChunk, state);
  if (failed(found))
    return failure();
  Value reachesEnd = compare(arith::CmpIPredicate::eq, toChunk, chunks);
  when(arith::AndIOp::create(b, k.loc(), isThere, reachesEnd),
       [&] { r.store(k, r.matrix, found->first); });
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
  return success();
}

static LogicalResult buildPart(KernelBuilder &k, Part part) {
  auto mixer = cast<seq::MixerOpInterface>(k.getCore());
  seq::LinearAttr linear = mixer.getStructure().getLinear();
  ChunkItems items = ChunkItems::of(mixer, k.getContext());
  int64_t keys = items.keys, chunk = chunkOf(mixer, k.getContext());
  if (!hasChunkKernel(linear, k.getContext().device, keys, items.headValues))
    return mixer->emitOpError("has no chunkwise kernel: expects a real decay "
                              "per head or key channel, no normaliser and no "
                              "stabiliser, but got ")
           << linear << " with heads of " << keys << " x " << items.headValues;
  if (chunk > mostChunkTokens(linear))
    return mixer->emitOpError("has no kernel for such chunks: expects at most ")
           << mostChunkTokens(linear) << " tokens, but got " << chunk;
  int64_t most = mostChunkValues(linear, keys, chunk);
  FailureOr<Recurrence> begun =
      beginRecurrence(k, mixer, /*chunked=*/true, k.isGpu() ? most : 0,
                      part == Part::All ? 1 : piecesOf(mixer, k.getContext()));
  if (failed(begun))
    return failure();
  return ChunkKernel(k, mixer, *begun, part).build();
}

LogicalResult effc::buildRecurrenceChunk(KernelBuilder &k) {
  auto mixer = cast<seq::MixerOpInterface>(k.getCore());
  int64_t pieces = piecesOf(mixer, k.getContext());
  if (pieces == 1)
    return buildPart(k, Part::All);
  emitRemark(k.loc()) << "a call's only sequence in " << pieces << " pieces: "
                      << ChunkItems::of(mixer, k.getContext()).count
                      << " items of "
                      << k.getContext().entry.getRows() /
                             mixer.getFormAttr().getChunk()
                      << " chunks leave most of " << k.getContext().cores
                      << " cores idle";
  return buildPart(k, Part::States);
}

LogicalResult effc::buildRecurrencePieces(KernelBuilder &k) {
  return buildPart(k, Part::Outputs);
}
