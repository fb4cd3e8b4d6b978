#include "passes/seq_to_tile/builders/convolution/ConvolvedRows.h"

using namespace mlir;
using namespace effc;

ConvolvedRows::ConvolvedRows(KernelBuilder &k, seq::ShortConvolutionOp op,
                             tile::SegmentOp segment, Value first,
                             int64_t count, bool writesTail)
    : k(k), b(k.ops()), convolution(k, op, writesTail), segment(segment),
      first(first), xView(k.read(op.getX())), count(count) {
  pasts.push_back(
      {Value(),
       {Value(), convolution.tailView, {segment.getSlot()}, k.index(0), first},
       /*isSlot=*/true});
}

void ConvolvedRows::setCopy(Copy copy) {
  Value yes = arith::ConstantOp::create(b, k.loc(), b.getBoolAttr(true));
  pasts.front().holds = arith::XOrIOp::create(b, k.loc(), copy.isKept, yes);
  Value kept = copy.isKept;
  pasts.push_back({kept, std::move(copy), /*isSlot=*/false});
}

// By select: what a fresh slot holds may be anything, NaN included.
Value ConvolvedRows::clearBefore(Value tile, Value bound) {
  return k.map(cast<tile::TileType>(tile.getType()), {tile},
               [&](OpBuilder &builder, ValueRange e) -> Value {
                 Value row = tile::RowIndexOp::create(builder, k.loc());
                 Value isCleared = arith::CmpIOp::create(
                     builder, k.loc(), arith::CmpIPredicate::slt, row, bound);
                 Value zero = arith::ConstantOp::create(
                     builder, k.loc(), builder.getF32FloatAttr(0));
                 return arith::SelectOp::create(builder, k.loc(), isCleared,
                                                zero, e[0]);
               });
}

// The first row of x among the inputs from `from` on, in the call.
Value ConvolvedRows::rowOfX(Value from) {
  Value past = k.index(convolution.taps - 1);
  return k.add(segment.getFirstRow(), k.max(k.sub(from, past), k.index(0)));
}

Value ConvolvedRows::ofX(Value from, Value rows, tile::TileType type) {
  return k.load(xView, {rowOfX(from), first}, {type.rows(), count}, type, rows);
}

Value ConvolvedRows::spliced(const Past &past, Value from, Value end,
                             tile::TileType type) {
  const Copy &place = past.place;
  Value head = k.max(k.sub(k.index(convolution.taps - 1), from), k.index(0));
  SmallVector<Value> at(place.at);
  at.push_back(k.add(place.row, from));
  at.push_back(place.column);
  SmallVector<int64_t> sizes(place.at.size(), 1), ofX = {type.rows(), count};
  llvm::append_range(sizes, ofX);
  Value tile = tile::SpliceOp::create(b, k.loc(), type, place.view, at, xView,
                                      ValueRange{rowOfX(from), first}, head,
                                      end, sizes, ofX);
  if (!past.isSlot)
    return tile;
  return clearBefore(tile, k.either(segment.getBegins(), head, k.index(0)));
}

Value ConvolvedRows::whereTail(Value reachesTail, Value tile,
                               function_ref<Value(const Past &)> compute) {
  for (const Past &past : pasts) {
    Value condition =
        past.holds
            ? Value(arith::AndIOp::create(b, k.loc(), reachesTail, past.holds))
            : reachesTail;
    tile = k.where(condition, tile, [&] { return compute(past); });
  }
  return tile;
}

// Taps are loaded where they are used: kept in registers they would be there
// while the recurrence has none left.
Value ConvolvedRows::loadTap(Value tap) {
  return convolution.loadTap(tap, [&](Value view, ArrayRef<Value> at) {
    return k.load(view, {at.front(), first}, {1, count}, k.rowType(count));
  });
}

Value ConvolvedRows::loadBias() {
  return convolution.loadBias([&](Value view, ArrayRef<Value>) {
    return k.load(view, {first}, {count}, k.rowType(count));
  });
}

Value ConvolvedRows::load(Value row, Value rows, int64_t most) {
  tile::TileType type = k.blockType(most, count, tile::Role::Operand);
  int64_t pastRows = convolution.taps - 1;
  Value token = k.sub(row, segment.getFirstRow());
  SmallVector<Value> taps, inputs;
  for (int64_t tap = 0; tap < pastRows; ++tap) {
    taps.push_back(loadTap(k.index(tap)));
    inputs.push_back(ofX(k.add(token, k.index(tap)), rows, type));
  }
  Value bias = loadBias();
  Value sum = convolution.addTaps(bias, taps, inputs, /*isLast=*/false);
  // The same products in the same order.
  auto sumOf = [&](const Past &past) -> Value {
    Value start = tile::SplatOp::create(b, k.loc(), type, k.scalar(0));
    if (bias)
      start =
          k.map(type, {bias}, [](OpBuilder &, ValueRange e) { return e[0]; });
    auto loop = scf::ForOp::create(b, k.loc(), k.index(0), k.index(pastRows),
                                   k.index(1), ValueRange(start));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value tap = loop.getInductionVar();
    Value input = spliced(past, k.add(token, tap), rows, type);
    scf::YieldOp::create(b, k.loc(),
                         convolution.addTaps(loop.getRegionIterArg(0),
                                             loadTap(tap), input,
                                             /*isLast=*/false));
    return loop.getResult(0);
  };
  sum =
      whereTail(k.compare(arith::CmpIPredicate::slt, token, k.index(pastRows)),
                sum, sumOf);
  // All but the last rows are in the first cache by now.
  Value last = loadTap(k.index(pastRows));
  Value x = k.load(xView, {row, first}, {most, count}, type, rows);
  return convolution.addTaps(sum, last, x, /*isLast=*/true);
}

void ConvolvedRows::copyTail(const Copy &to) {
  const Copy &slot = pasts.front().place;
  int64_t pastRows = convolution.taps - 1;
  SmallVector<Value> from(slot.at), at(to.at);
  from.append({slot.row, slot.column});
  at.append({to.row, to.column});
  SmallVector<int64_t> sizes = {1, pastRows, count}, copied(to.at.size(), 1);
  copied.append({pastRows, count});
  Value tail = k.load(slot.view, from, sizes,
                      k.blockType(pastRows, count, tile::Role::Operand));
  Value bound = k.either(segment.getBegins(), k.index(pastRows), k.index(0));
  k.store(clearBefore(tail, bound), to.view, at, copied);
}

void ConvolvedRows::storeTail(Value part) {
  int64_t pastRows = convolution.taps - 1;
  tile::TileType type = k.blockType(pastRows, count, tile::Role::Operand);
  Value length = segment.getLength(), most = k.index(pastRows);
  // What there is not is not read, not even a first row.
  Value times = k.min(length, k.index(1));
  if (part)
    times = k.either(k.compare(arith::CmpIPredicate::eq, part, k.index(0)),
                     times, k.index(0));
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0), times, k.index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next =
      whereTail(k.compare(arith::CmpIPredicate::slt, length, most),
                ofX(length, k.min(length, most), type), [&](const Past &past) {
                  return spliced(past, length, most, type);
                });
  const Copy &slot = pasts.front().place;
  SmallVector<Value> at(slot.at);
  at.append({slot.row, slot.column});
  k.store(next, slot.view, at, {1, pastRows, count});
}
