// A linear recurrence chunk by chunk. With L[i, j] the log-decay between tokens
// j and i, p the sum up to a token from the chunk's start and r the sum after
// it:
//
//   y = exp(p) (q S) + (exp(L) . (q k^T)) v
//   S = exp(p_last) S + (exp(r) k)^T v
//
// All exponents are running sums of the chunk's log-decays, at most 0; none is
// a difference. An item is one head of one segment. Chunks end on multiples of
// C from the sequence's start; rows past a chunk's end are neutral: k = v = 0
// and no decay. Floor: 4 K V + C (K + V) FLOPs per token and head.
#include "passes/seq_to_tile/KernelCoverage.h"
#include "passes/seq_to_tile/builders/Builders.h"
#include "passes/seq_to_tile/builders/Recurrence.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace effc;

// Zero for the elements of rows at and past `rows`.
static Value maskRows(KernelBuilder &k, Value tile, Value rows) {
  return k.map(cast<tile::TileType>(tile.getType()), {tile},
               [&](OpBuilder &b, ValueRange e) -> Value {
                 Value row = tile::RowIndexOp::create(b, k.loc());
                 Value inside = arith::CmpIOp::create(
                     b, k.loc(), arith::CmpIPredicate::slt, row, rows);
                 Value zero = arith::ConstantOp::create(b, k.loc(),
                                                        b.getF32FloatAttr(0));
                 return arith::SelectOp::create(b, k.loc(), inside, e[0], zero);
               });
}

// On a GPU a state of all value channels would not fit beside its operands, and
// heads alone are too few blocks; on the host an item that has the whole head
// computes decays and scores once.
static constexpr int64_t kGpuValueBlock = 64;

LogicalResult effc::buildRecurrenceChunk(KernelBuilder &k) {
  auto mixer = cast<seq::MixerOpInterface>(k.getCore());
  if (!hasChunkKernel(mixer.getStructure().getLinear()))
    return mixer->emitOpError("has no chunkwise kernel: expects a real decay "
                              "per head, a read after the write and nothing "
                              "more, but got ")
           << mixer.getStructure().getLinear();
  FailureOr<Recurrence> begun = beginRecurrence(k, mixer, /*chunked=*/true,
                                                k.isGpu() ? kGpuValueBlock : 0);
  if (failed(begun))
    return failure();
  Recurrence &r = *begun;
  TokenMap &map = r.map;
  // The quadratic form is one chunk as long as the call, wherever it starts.
  bool quadratic = mixer.getFormAttr().getKind() == seq::FormKind::Quadratic;
  int64_t chunk = quadratic ? k.getContext().entry.getRows()
                            : mixer.getFormAttr().getChunk();
  tile::TileType stateType = r.matrix.type;
  tile::TileType outType =
      k.blockType(chunk, map.getValueBlock(), tile::Role::Accumulator);
  tile::TileType scoreType = k.blockType(chunk, chunk, tile::Role::Accumulator);
  tile::TileType keyType =
      k.blockType(chunk, map.keyChannels, tile::Role::Operand);
  OpBuilder &b = k.ops();
  auto scaled = [&](tile::TileType type, Value tile, Value exponent) {
    return k.map(type, {tile, exponent},
                 [&](OpBuilder &builder, ValueRange e) -> Value {
                   return arith::MulFOp::create(
                       builder, k.loc(), e[0], emitExp(builder, k.loc(), e[1]));
                 });
  };
  auto dot = [&](Value acc, Value lhs, Value rhs, bool transposeA,
                 bool transposeB) -> Value {
    return tile::DotOp::create(b, k.loc(), acc.getType(), acc, lhs, rhs,
                               transposeA, transposeB);
  };
  auto zeros = [&](tile::TileType type) -> Value {
    return tile::SplatOp::create(b, k.loc(), type, k.scalar(0));
  };

  // The first chunk begins inside the grid where the segment does.
  Value offset =
      quadratic ? k.index(0) : k.divide(r.segment.getStart(), chunk).second;
  Value end = k.add(offset, r.segment.getLength());
  Value chunks = k.divide(k.add(end, k.index(chunk - 1)), chunk).first;
  map.emitConstants(r.scope({}, {}, chunk));
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0), chunks, k.index(1),
                                 r.load(k, r.matrix));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value state = loop.getRegionIterArg(0);
    Value gridStart = k.mul(loop.getInductionVar(), chunk);
    Value from = arith::MaxSIOp::create(b, k.loc(), gridStart, offset);
    Value to = k.min(k.add(gridStart, k.index(chunk)), end);
    Value rows = k.sub(to, from);
    Value row = k.add(r.segment.getFirstRow(), k.sub(from, offset));

    TokenMap::Scope scope = r.scope(row, rows, chunk);
    TokenMap::Tiles q = map.quantities(scope);
    // What does not vary with the token is one row for all.
    auto perToken = [&](Value tile, tile::TileType type) -> Value {
      if (tile.getType() == type)
        return tile;
      return k.map(type, {tile},
                   [](OpBuilder &, ValueRange e) { return e[0]; });
    };
    q.query = perToken(q.query, keyType);
    Value key = maskRows(k, perToken(q.key, keyType), rows);
    Value value = maskRows(k, q.value, rows);
    tile::TileType columnType = k.columnType(chunk);
    Value decay = q.decay && isa<tile::TileType>(q.decay.getType())
                      ? q.decay
                      : tile::SplatOp::create(b, k.loc(), columnType,
                                              q.decay ? q.decay : k.scalar(0))
                            .getResult();
    decay = maskRows(k, decay, rows);

    Value between = tile::SegmentSumOp::create(b, k.loc(), scoreType, decay);
    Value scores =
        dot(zeros(scoreType), q.query, key, false, /*transposeB=*/true);
    scores = k.map(
        scoreType, {scores, between},
        [&](OpBuilder &builder, ValueRange e) -> Value {
          // Above the diagonal by select: a score there may be anything.
          Value none = arith::ConstantOp::create(
              builder, k.loc(),
              builder.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
          Value zero = arith::ConstantOp::create(builder, k.loc(),
                                                 builder.getF32FloatAttr(0));
          Value visible = arith::CmpFOp::create(
              builder, k.loc(), arith::CmpFPredicate::UNE, e[1], none);
          Value product = arith::MulFOp::create(
              builder, k.loc(), e[0], emitExp(builder, k.loc(), e[1]));
          return arith::SelectOp::create(builder, k.loc(), visible, product,
                                         zero);
        });
    Value upTo = tile::ScanOp::create(b, k.loc(), decay.getType(), decay,
                                      /*reverse=*/false);
    Value after = tile::ScanOp::create(b, k.loc(), decay.getType(), decay,
                                       /*reverse=*/true);
    Value total = tile::ReduceOp::create(b, k.loc(), b.getF32Type(),
                                         tile::ReduceKind::Add, decay,
                                         /*over_rows=*/false);
    Value out = scaled(outType,
                       dot(zeros(outType), q.query, state, false, false), upTo);
    out = dot(out, scores, value, false, false);
    Value y = map.readOut(scope, {out, {}, {}});

    Value next =
        k.map(stateType, {state, emitExp(b, k.loc(), total)},
              [&](OpBuilder &builder, ValueRange e) -> Value {
                return arith::MulFOp::create(builder, k.loc(), e[0], e[1]);
              });
    next = dot(next, scaled(keyType, key, after), value, /*transposeA=*/true,
               false);

    if (failed(r.finish(k, row, y, rows, chunk)))
      return failure();
    scf::YieldOp::create(b, k.loc(), next);
  }
  r.store(k, r.matrix, loop.getResult(0));
  return success();
}
