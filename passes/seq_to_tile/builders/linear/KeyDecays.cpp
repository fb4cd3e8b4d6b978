// Decays per key channel do not leave the sum over channels. So tokens are
// halved again and again: with m the middle of 2 h neighbours, of which row i
// is a later one and j an earlier one,
//
//   sum_c q_ic exp(L_c[i, j]) k_jc
//       = sum_c (q_ic exp(L_c[i, m])) (k_jc exp(L_c[m, j]))
//
// a product of a C x K tile with itself, whose later rows are readers and whose
// earlier ones are writers, each scaled by a number of at most 1. Two tokens
// meet in one of log2 C such products, and all else in it is masked. Sums of
// log-decays are products too, with matrices of 0 and 1: bf16 parts of an f32
// are exact, terms are at most 0, so none cancels another, and nothing is
// divided by a decay.
//
// FLOPs per token and head: 2 C K for each product of tokens with themselves or
// of sums, which are 2 log2 C + 1.
#include "passes/seq_to_tile/builders/linear/ChunkDecays.h"

#include "dialects/tile/Distribution.h"
#include "passes/kernel_facts/BlockRoom.h"

using namespace mlir;
using namespace effc;

// Below all decays that leave a trace in f32, and far enough from its limit
// that sums stay finite: 0 times infinity would be no number.
static constexpr double kLeastLogDecay = -1e30;
// Columns of a product that wants but one: as few as tensor cores take.
static constexpr int64_t kNarrow = tile::kPieceColumns;

KeyDecays::KeyDecays(ChunkTiles &tiles, Value decays) : tiles(tiles) {
  Location loc = tiles.k.loc();
  this->decays = tiles.k.map(
      tiles.keyType, {decays}, [&](OpBuilder &b, ValueRange e) -> Value {
        Value least = arith::ConstantOp::create(
            b, loc, b.getF32FloatAttr(kLeastLogDecay));
        return arith::MaximumFOp::create(b, loc, e[0], least);
      });
}

// 1 where token j counts for token i, else 0.
Value KeyDecays::mask(ChunkTiles::Condition counts) {
  return tiles.where(tiles.scoreType, counts, tiles.k.scalar(1),
                     tiles.k.scalar(0));
}

// For each token the sum over the tokens that count for it.
Value KeyDecays::sumOver(Value mask) {
  auto type = tiles.k.blockType(tiles.chunk, tiles.keyType.columns(),
                                tile::Role::Accumulator);
  return tiles.k.exactDot(tiles.zeros(type), mask, decays);
}

// From the middle of 2 `half` tokens to a later one, which counts itself unless
// it reads exclusively; from an earlier one, without itself, to the middle.
Value KeyDecays::maskToMiddle(int64_t half, bool exclusive) {
  Location loc = tiles.k.loc();
  return mask([&](OpBuilder &b, Value row, Value column) -> Value {
    using enum arith::CmpIPredicate;
    Value size = arith::ConstantIndexOp::create(b, loc, half);
    Value differing = arith::XOrIOp::create(b, loc, row, column);
    Value near = arith::CmpIOp::create(b, loc, ult, differing, size);
    Value upTo =
        arith::CmpIOp::create(b, loc, exclusive ? ult : ule, column, row);
    Value after = arith::CmpIOp::create(b, loc, ugt, column, row);
    Value between = arith::SelectOp::create(
        b, loc, emitIsLater(b, loc, half, row), upTo, after);
    return arith::AndIOp::create(b, loc, near, between);
  });
}

// What a token reads of itself, where nothing has decayed yet.
Value KeyDecays::ownScores(const Sight &sight) {
  KernelBuilder &k = tiles.k;
  if (sight.strict || sight.exclusive)
    return tiles.zeros(tiles.scoreType);
  Value products = k.map(tiles.keyType, {sight.reader, sight.writer},
                         [&](OpBuilder &b, ValueRange e) -> Value {
                           return arith::MulFOp::create(b, k.loc(), e[0], e[1]);
                         });
  Value sums = tile::ReduceOp::create(tiles.b, k.loc(), tiles.columnType,
                                      tile::ReduceKind::Add, products,
                                      /*over_rows=*/false);
  return tiles.where(
      tiles.scoreType,
      [&](OpBuilder &b, Value row, Value column) -> Value {
        return arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::eq, row,
                                     column);
      },
      sums, k.scalar(0));
}

// Readers and writers of one halving, scaled to the middle.
Value KeyDecays::scaleToMiddle(const Sight &sight, int64_t half, Value sum) {
  KernelBuilder &k = tiles.k;
  return k.map(
      tiles.keyType, {sight.reader, sight.writer, sum},
      [&](OpBuilder &b, ValueRange e) -> Value {
        Value later =
            emitIsLater(b, k.loc(), half, tile::RowIndexOp::create(b, k.loc()));
        Value token = arith::SelectOp::create(b, k.loc(), later, e[0], e[1]);
        Value scaled =
            arith::MulFOp::create(b, k.loc(), token, emitExp(b, k.loc(), e[2]));
        if (half > 1)
          return scaled;
        // An earlier neighbour is at the middle.
        return arith::SelectOp::create(b, k.loc(), later, scaled, token);
      });
}

SmallVector<Value> KeyDecays::scores(ArrayRef<Sight> sights) {
  if (sights.empty())
    return {};
  KernelBuilder &k = tiles.k;
  SmallVector<Value> all;
  for (const Sight &sight : sights)
    all.push_back(ownScores(sight));
  int64_t bytes = sights.size() * tiles.chunk * tiles.keyType.columns() * 4;
  // A thread has no registers for two halvings of four sights.
  int64_t room = BlockRoom::of(k.getContext().target).halvingBytes();
  int64_t together = sights.size() > 2 ? 1 : std::max<int64_t>(room / bytes, 1);
  SmallVector<int64_t> halves;
  for (int64_t half = 1; half < tiles.chunk; half *= 2)
    halves.push_back(half);
  for (ArrayRef<int64_t> rest = halves; !rest.empty();) {
    ArrayRef<int64_t> now = rest.take_front(together);
    rest = rest.drop_front(now.size());
    // Of readers behind their own decay, and before it.
    SmallVector<std::array<Value, 2>> masks(now.size());
    for (auto [half, ofHalf] : llvm::zip_equal(now, masks))
      for (const Sight &sight : sights)
        if (Value &one = ofHalf[sight.exclusive]; !one && half > 1)
          one = maskToMiddle(half, sight.exclusive);
    SmallVector<SmallVector<Value>> met(now.size());
    for (auto [half, ofHalf, scaled] : llvm::zip_equal(now, masks, met)) {
      // Of two neighbours the later one has its own decay behind it at most.
      std::array<Value, 2> sums;
      for (auto [sum, one, own] :
           llvm::zip_equal(sums, ofHalf, std::array{decays, k.scalar(0)}))
        sum = one ? sumOver(one) : half == 1 ? own : Value();
      for (const Sight &sight : sights)
        scaled.push_back(scaleToMiddle(sight, half, sums[sight.exclusive]));
    }
    for (auto [half, scaled] : llvm::zip_equal(now, met))
      for (auto [scores, tile] : llvm::zip_equal(all, scaled)) {
        Value products = k.dot(tiles.zeros(tiles.scoreType), tile, tile, false,
                               /*transposeB=*/true);
        scores = tiles.where(
            tiles.scoreType,
            [&, half = half](OpBuilder &b, Value row, Value column) {
              return emitMeetAt(b, k.loc(), half, row, column);
            },
            products, scores);
      }
  }
  return all;
}

Value KeyDecays::readStart(Value reader, Value state, bool exclusive) {
  Value &sum = since[exclusive];
  if (!sum)
    sum = sumOver(mask([&](OpBuilder &b, Value row, Value column) -> Value {
      return arith::CmpIOp::create(b, tiles.k.loc(),
                                   exclusive ? arith::CmpIPredicate::ult
                                             : arith::CmpIPredicate::ule,
                                   column, row);
    }));
  return tiles.k.dot(tiles.zeros(tiles.outType),
                     tiles.scaled(tiles.keyType, reader, sum), state);
}

std::pair<Value, Value> KeyDecays::toEnd(Value writer, Value written) {
  if (!until)
    until = sumOver(mask([&](OpBuilder &b, Value row, Value column) -> Value {
      return arith::CmpIOp::create(b, tiles.k.loc(), arith::CmpIPredicate::ugt,
                                   column, row);
    }));
  return {tiles.scaled(tiles.keyType, writer, until), written};
}

// A state has its key channels as rows, tokens as columns: a product with ones
// adds up the tokens and turns the sums.
Value KeyDecays::decayState(Value state) {
  KernelBuilder &k = tiles.k;
  int64_t channels = tiles.keyType.columns();
  Value ones = tile::SplatOp::create(
      tiles.b, k.loc(), k.blockType(tiles.chunk, kNarrow, tile::Role::Operand),
      k.scalar(1));
  Value totals = k.exactDot(
      tiles.zeros(k.blockType(channels, kNarrow, tile::Role::Accumulator)),
      decays, ones, /*transposeA=*/true);
  // All columns are the same.
  total = tile::ReduceOp::create(tiles.b, k.loc(), k.columnType(channels),
                                 tile::ReduceKind::Max, totals,
                                 /*over_rows=*/false);
  return tiles.scaled(tiles.stateType, state, total);
}
