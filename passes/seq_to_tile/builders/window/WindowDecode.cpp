// A window in a decode call, which has one query a segment: an item's block of
// queries are the heads that share a key and a value.
//
// On a GPU the keys of a long window are cut into pieces (WindowPieces.h). Of the
// pieces of a segment and group of heads an item takes every n-th one, each from
// nothing, and leaves what it has found to the launch that merges them
// (WindowMerge.cpp). An item without a piece ends at once, and one that has all of
// them merges them itself.
#include "passes/seq_to_tile/builders/window/Window.h"

using namespace mlir;
using namespace effc;

Queries WindowKernel::queriesOfDecode(Value head) {
  Value row = segment.getFirstRow();
  auto perHead = [&](Value parameter) {
    return parameter
               ? k.load(k.read(parameter), {head}, {rows}, k.columnType(rows))
               : Value();
  };
  auto tileOf = [&](Value query) {
    return k.load(k.read(query), {row, head, k.index(0)},
                  {1, rows, keyChannels},
                  k.blockType(rows, keyChannels, tile::Role::Operand));
  };
  Queries queries;
  queries.tile = tileOf(tokens.query);
  if (tokens.sinkQuery)
    queries.atEnd = tileOf(tokens.sinkQuery);
  if (tokens.blocks) // of which the heads of an item share one choice
    queries.blocks = k.load(
        k.read(tokens.blocks),
        {row, k.divide(head, headsPerChoice).first, k.index(0)},
        {1, 1, sizeOf(tokens.blocks, 2)}, k.rowType(sizeOf(tokens.blocks, 2)));
  queries.first = queries.last = segment.getStart();
  queries.slopes = perHead(tokens.slopes);
  // Where pieces are merged by another launch, it adds what has no key.
  queries.sinks =
      blocks.piece && blocks.items > 1 ? Value() : perHead(tokens.sinks);
  queries.keyHead = k.divide(head, record.getHeadsPerKey()).first;
  queries.valueHead = k.divide(head, record.getHeadsPerValue()).first;
  queries.numberHead = k.divide(head, headsPerNumber).first;
  return queries;
}

LogicalResult WindowKernel::buildDecode() {
  int64_t groups = heads / rows, parts = blocks.piece ? blocks.items : 1;
  k.setItems(tile::Count::Segments, 1, groups * parts);
  auto [sequence, rest] = k.divide(k.item(), groups * parts);
  // Items with pieces come before those that may have none.
  Value group = rest, part;
  if (parts > 1)
    std::tie(part, group) = k.divide(rest, groups);
  segment = tile::SegmentOp::create(b, k.loc(), k.segmentTable(), sequence);
  Value head = k.mul(group, rows), row = segment.getFirstRow();
  if (blocks.piece)
    emitRemark(mixer.getLoc())
        << "keys of a decode step in pieces of " << blocks.piece << ": "
        << groups << " groups of heads leave most of " << k.getContext().cores()
        << " cores idle";
  if (parts > 1) {
    buildSomePieces(head, part);
    return success();
  }
  Queries queries = queriesOfDecode(head);
  RunningSoftmax running =
      blocks.piece ? mixPieces(queries) : mix(queries, findKept(queries));
  return finish(row, head, running, {1, rows, valueChannels}, {});
}

WindowPieces WindowKernel::piecesInSight() {
  return WindowPieces::of(k, segment.getStart(), record.getWindow(),
                          blocks.piece);
}

RunningSoftmax WindowKernel::mixPiece(Queries queries,
                                      const WindowPieces &pieces, Value place,
                                      bool isNewest) {
  int64_t blocksOfPiece = blocks.piece / blockKeys;
  Value from = k.mul(k.add(pieces.oldest, place), blocksOfPiece);
  range = {from, k.add(from, k.index(blocksOfPiece)),
           k.compare(arith::CmpIPredicate::eq, place, k.index(0)), isNewest};
  queries.sinks = {};
  return mix(queries, {});
}

RunningSoftmax WindowKernel::mixPieces(const Queries &queries) {
  WindowPieces pieces = piecesInSight();
  Value newest = k.sub(pieces.count, k.index(1));
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0), newest, k.index(1),
                                 begin(queries.sinks).values());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    RunningSoftmax piece = mixPiece(queries, pieces, loop.getInductionVar(),
                                    /*isNewest=*/false);
    scf::YieldOp::create(
        b, k.loc(),
        merge(RunningSoftmax::of(loop.getRegionIterArgs()), piece).values());
  }
  return merge(RunningSoftmax::of(loop.getResults()),
               mixPiece(queries, pieces, newest, /*isNewest=*/true));
}

RunningSoftmax WindowKernel::merge(const RunningSoftmax &before,
                                   const RunningSoftmax &piece) {
  Location loc = k.loc();
  Value largest = k.map(columnType, {before.largest, piece.largest},
                        [&](OpBuilder &builder, ValueRange e) {
                          return emitLarger(builder, loc, e[0], e[1]);
                        });
  auto weight = [&](bool ofPiece) {
    return k.map(columnType, {before.largest, piece.largest},
                 [&](OpBuilder &builder, ValueRange e) {
                   auto [faded, added] = emitWeights(builder, loc, e[0], e[1]);
                   return ofPiece ? added : faded;
                 });
  };
  Value faded = weight(/*ofPiece=*/false), added = weight(/*ofPiece=*/true);
  auto sum = [&](tile::TileType type, Value x, Value y) {
    return k.map(type, {x, faded, y, added},
                 [&](OpBuilder &builder, ValueRange e) {
                   return emitWeightedSum(builder, loc, e[0], e[1], e[2], e[3]);
                 });
  };
  return {largest, sum(columnType, before.total, piece.total),
          sum(mixedType, before.mixed, piece.mixed)};
}

void WindowKernel::buildSomePieces(Value head, Value part) {
  WindowPieces pieces = piecesInSight();
  Value memory = WindowPieces::memory(
      k, heads, valueChannels,
      WindowPieces::most(record.getWindow(), ringRows, blocks.piece),
      /*written=*/true);
  auto keep = [&](Value place, const RunningSoftmax &found) {
    auto store = [&](Value tile, int64_t column, int64_t columns) {
      k.store(tile, memory,
              {segment.getFirstRow(), head, place, k.index(column)},
              {1, rows, 1, columns});
    };
    store(found.mixed, 0, valueChannels);
    store(found.largest, valueChannels, 1);
    store(found.total, valueChannels + 1, 1);
  };
  Value isThere = k.compare(arith::CmpIPredicate::slt, part, pieces.count);
  k.when(isThere, [&] {
    Queries queries = queriesOfDecode(head);
    Value newest = k.sub(pieces.count, k.index(1));
    auto loop =
        scf::ForOp::create(b, k.loc(), part, newest, k.index(blocks.items));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value place = loop.getInductionVar();
      keep(place, mixPiece(queries, pieces, place, /*isNewest=*/false));
    }
    Value partOfNewest = k.divide(newest, blocks.items).second;
    k.when(k.compare(arith::CmpIPredicate::eq, part, partOfNewest), [&] {
      keep(newest, mixPiece(queries, pieces, newest, /*isNewest=*/true));
    });
  });
}
