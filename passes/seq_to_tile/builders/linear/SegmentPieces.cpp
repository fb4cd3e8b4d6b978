#include "passes/seq_to_tile/builders/linear/SegmentPieces.h"

using namespace mlir;
using namespace effc;

static Value both(KernelBuilder &k, Value a, Value b) {
  return arith::AndIOp::create(k.ops(), k.loc(), a, b);
}

SegmentPieces SegmentPieces::of(KernelBuilder &k, const Recurrence &r,
                                int64_t places, Value units) {
  OpBuilder &b = k.ops();
  SegmentPieces pieces;
  Value segments = tile::CountOp::create(b, k.loc(), tile::Count::Segments);
  Value share = arith::DivUIOp::create(b, k.loc(), k.index(places), segments);
  pieces.count = arith::MaxSIOp::create(b, k.loc(), share, k.index(1));
  pieces.firstPlace =
      arith::MulIOp::create(b, k.loc(), r.sequence, pieces.count);
  Value rounded = k.add(units, k.sub(pieces.count, k.index(1)));
  Value each = arith::DivUIOp::create(b, k.loc(), rounded, pieces.count);
  pieces.from = k.min(arith::MulIOp::create(b, k.loc(), r.piece, each), units);
  pieces.to = k.min(k.add(pieces.from, each), units);
  return pieces;
}

PieceToKeep PieceToKeep::of(KernelBuilder &k, const Recurrence &r,
                            const SegmentPieces &pieces) {
  PieceToKeep kept;
  Value last = pieces.last(k);
  Value inPieces =
      k.compare(arith::CmpIPredicate::sgt, pieces.count, k.index(1));
  kept.isLast = k.compare(arith::CmpIPredicate::eq, r.piece, last);
  Value isFirst = k.compare(arith::CmpIPredicate::eq, r.piece, k.index(0));
  Value isEnd = arith::OrIOp::create(k.ops(), k.loc(), isFirst, kept.isLast);
  kept.begins = both(k, inPieces, isEnd);
  Value adds =
      both(k, inPieces, k.compare(arith::CmpIPredicate::slt, r.piece, last));
  kept.to = k.either(adds, pieces.to, pieces.from);
  kept.isThere = both(
      k, inPieces, k.compare(arith::CmpIPredicate::slt, r.piece, pieces.count));
  return kept;
}

PieceStart PieceStart::of(KernelBuilder &k, const Recurrence &r,
                          const SegmentPieces &pieces) {
  PieceStart start;
  Value zero = k.index(0), one = k.index(1);
  Value isAlone = k.compare(arith::CmpIPredicate::eq, pieces.count, one);
  Value isFirst = k.compare(arith::CmpIPredicate::eq, r.piece, zero);
  start.isWhole = both(k, isAlone, isFirst);
  start.isThere = k.compare(arith::CmpIPredicate::slt, pieces.from, pieces.to);
  // What is before the first piece is at the last one's place.
  Value from = k.either(isFirst, pieces.last(k), zero);
  Value to = k.either(isFirst, pieces.count, r.piece);
  Value reads = both(k, start.isThere,
                     k.compare(arith::CmpIPredicate::sgt, pieces.count, one));
  start.from = pieces.place(k, from);
  start.to = pieces.place(k, k.either(reads, to, from));
  return start;
}

Value PieceStart::reachesEnd(KernelBuilder &k, const SegmentPieces &pieces,
                             Value units) const {
  return both(k, isThere,
              k.compare(arith::CmpIPredicate::eq, pieces.to, units));
}
