// Elementwise arithmetic and sums.
#include "codegen/nvptx/ThreadMath.h"
#include "codegen/math/Decays.h"
#include "codegen/nvptx/Lowerings.h"
#include "codegen/nvptx/ThreadPlaces.h"
#include "codegen/nvptx/ThreadRows.h"
#include "codegen/nvptx/ThreadShared.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::nvptx {

static Value callApprox(ThreadState &t, StringRef name, Value x) {
  return LLVM::CallIntrinsicOp::create(t.b, x.getType(),
                                       t.b.getStringAttr(name), ValueRange{x})
      .getResult(0);
}

// By the hardware's powers of two: exp(x) = 2^y (1 + e ln 2), where y = fl(x /
// ln 2) and e is what the rounding of y lost: without it an argument of -20
// would cost 2e-6.
Value exponential(ThreadState &t, Value x) {
  Value rate = t.f32(1.44269504088896341f), rest = t.f32(1.92596299e-8f);
  Value y = arith::MulFOp::create(t.b, x, rate);
  Value lost = math::FmaOp::create(t.b, x, rate, arith::NegFOp::create(t.b, y));
  lost = math::FmaOp::create(t.b, x, rest, lost);
  Value power = callApprox(t, "llvm.nvvm.ex2.approx.ftz.f", y);
  Value correction =
      arith::MulFOp::create(t.b, lost, t.f32(0.693147180559945309f));
  // Where the power is infinite or 0 there is nothing to correct, and infinity
  // times it would be no number.
  Value corrected = math::FmaOp::create(t.b, power, correction, power);
  Value finite =
      arith::CmpFOp::create(t.b, arith::CmpFPredicate::OLT,
                            math::AbsFOp::create(t.b, y), t.f32(128.0f));
  return t.select(finite, corrected, power);
}

// What is no instruction, `expand-math` makes a polynomial.
Value emitScalar(ThreadState &t, Operation *op, IRMapping &mapping) {
  if (isa<math::ExpOp>(op))
    return exponential(t, mapping.lookupOrDefault(op->getOperand(0)));
  // lg2.approx has an absolute error near 1, of which a small step size would
  // be made: what softplus takes is a polynomial, as on the host.
  if (isa<math::Log1pOp>(op) && f32::isDecay(op->getOperand(0))) {
    f32::Arithmetic arithmetic(t.b, t.loc(), t.b.getF32Type());
    return f32::log1pOfDecay(arithmetic,
                             mapping.lookupOrDefault(op->getOperand(0)));
  }
  return t.b.clone(*op, mapping)->getResult(0);
}

Rows rowsOf(ThreadState &t, MapOp map) {
  Held held = heldOf(t, map.getResult().getType());
  SmallVector<Rows> inputs; // empty: no block
  for (Value input : map.getInputs()) {
    auto tile = dyn_cast<TileType>(input.getType());
    inputs.push_back(tile && tile.isBlock() ? rowsOf(t, input) : Rows());
  }
  return [&t, map, held, inputs](size_t i) mutable {
    Block &body = map.getBody().front();
    SmallVector<Elements> blocks;
    for (const Rows &rows : inputs)
      blocks.push_back(rows ? rows(i) : Elements());
    Elements result;
    for (size_t j = 0; j < held.columns(); ++j) {
      IRMapping mapping(t.scalars);
      for (auto [argument, input, block] :
           llvm::zip_equal(body.getArguments(), map.getInputs(), blocks)) {
        auto tile = dyn_cast<TileType>(input.getType());
        if (!tile)
          mapping.map(argument, t.lookup(input));
        else if (tile.isBlock())
          mapping.map(argument, block[j]);
        else
          mapping.map(argument,
                      t.tiles[input][tile.getRole() == Role::Column ? i : j]);
      }
      for (Operation &op : body.without_terminator()) {
        if (isa<RowIndexOp>(op))
          mapping.map(op.getResult(0), rowAt(t, held, i));
        else if (isa<ColumnIndexOp>(op))
          mapping.map(op.getResult(0), columnAt(t, held, j));
        else
          mapping.map(op.getResult(0), emitScalar(t, &op, mapping));
      }
      result.push_back(
          mapping.lookupOrDefault(cast<YieldOp>(body.back()).getValues()[0]));
    }
    return result;
  };
}

void lower(MapOp map, ThreadState &t) {
  if (isMadeByRows(map.getResult()))
    return; // where it is stored
  Rows rows = rowsOf(t, map);
  Elements result;
  for (size_t i = 0, count = heldOf(t, map.getResult().getType()).rows();
       i < count; ++i)
    llvm::append_range(result, rows(i));
  t.tiles[map.getResult()] = result;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

// Of each row a thread has the sums of its own runs.
void lower(DotRunsOp dot, ThreadState &t) {
  Held held = heldOf(t, dot.getTile().getType());
  size_t run = size_t(dot.getRun()), sums = held.columns() / run;
  const Elements tile = t.tiles.lookup(dot.getTile()),
                 row = t.tiles.lookup(dot.getRow());
  Elements result = t.tiles.lookup(dot.getAcc());
  for (size_t i = 0; i < held.rows(); ++i)
    for (size_t j = 0; j < held.columns(); ++j) {
      Value &sum = result[i * sums + j / run];
      sum = math::FmaOp::create(t.b, tile[i * held.columns() + j], row[j], sum);
    }
  t.tiles[dot.getResult()] = result;
}

static Value combineTwo(ThreadState &t, ReduceKind kind, Value x, Value y) {
  if (kind == ReduceKind::Max)
    return arith::MaximumFOp::create(t.b, x, y);
  return arith::AddFOp::create(t.b, x, y);
}

Value shuffle(ThreadState &t, Value value, int64_t distance) {
  return NVVM::ShflOp::create(t.b, value.getType(), t.i32(-1), value,
                              t.i32(distance), t.i32(kWarp - 1),
                              NVVM::ShflKind::bfly, UnitAttr());
}

// The places from one to the next of what a thread holds along an axis; 0: they differ.
static int64_t placesApart(const Axis &axis) {
  if (axis.offsets.size() < 2)
    return 0;
  int64_t apart = axis.offsets[1] - axis.offsets[0];
  for (size_t k = 1; k < axis.offsets.size(); ++k)
    if (axis.offsets[k] - axis.offsets[k - 1] != apart)
      return 0;
  return apart;
}

// Of the sums that lanes share each of two lanes takes half, as long as there are
// several: as many additions as one sum has, and not as many for each. Pairs are those
// of all lanes. Gives what the lanes that took part are apart by, and leaves in `first`
// the place of the lane's first sum.
static unsigned shareSums(ThreadState &t, Elements &partial, ReduceKind kind,
                          unsigned bits, int64_t apart, Value &first) {
  unsigned shared = 0;
  for (int64_t distance = 1; distance < kWarp; distance *= 2) {
    if (!(bits & distance) || partial.size() % 2 != 0)
      break;
    size_t half = partial.size() / 2;
    Value takesUpper =
        arith::CmpIOp::create(t.b, arith::CmpIPredicate::ne,
                              bitsOfThread(t, distance), t.constant(0));
    Elements taken;
    for (size_t k = 0; k < half; ++k) {
      Value own = t.select(takesUpper, partial[half + k], partial[k]),
            given = t.select(takesUpper, partial[k], partial[half + k]);
      taken.push_back(combineTwo(t, kind, own, shuffle(t, given, distance)));
    }
    partial = taken;
    first = t.add(
        first, t.select(takesUpper, t.constant(half * apart), t.constant(0)));
    shared |= distance;
  }
  return shared;
}

// Lanes in pairs; then each warp leaves what it has in shared memory, and every
// thread adds up what the warps left, in their order.
static void exchange(ThreadState &t, Elements &partial, ReduceKind kind,
                     unsigned bits, const Axis &kept, int64_t scratch) {
  unsigned warpBits = bits & ~static_cast<unsigned>(kWarp - 1), shared = 0;
  Value first = warpBits ? firstPlace(t, kept) : Value(), firstLeft = first;
  if (int64_t apart = placesApart(kept); warpBits && apart && kept.exact())
    shared = shareSums(t, partial, kind, bits, apart, firstLeft);
  for (int64_t distance = 1; distance < kWarp; distance *= 2)
    if (bits & distance & ~shared)
      for (Value &value : partial)
        value = combineTwo(t, kind, value, shuffle(t, value, distance));
  if (warpBits == 0)
    return;
  int64_t parts = int64_t(1) << llvm::popcount(warpBits);
  auto at = [&](Value part, Value first, size_t k) {
    Value place = t.add(first, t.constant(kept.offsets[k]));
    if (!kept.exact())
      place =
          t.select(t.less(place, t.constant(kept.size)), place, t.constant(0));
    return sharedAddress(t, scratch, t.add(t.mul(part, kept.size), place),
                         t.b.getF32Type());
  };
  // Of the threads that hold the same sums of the same warp, one writes.
  unsigned alike = static_cast<unsigned>(t.threads - 1) & ~kept.threadBits() &
                   ~warpBits & ~shared;
  Value writes;
  if (alike != 0)
    writes = arith::CmpIOp::create(t.b, arith::CmpIPredicate::eq,
                                   bitsOfThread(t, alike), t.constant(0));
  t.guarded(writes, [&] {
    Value part = bitsOfThread(t, warpBits);
    for (size_t k = 0; k < partial.size(); ++k) {
      Value there;
      if (!kept.exact())
        there = t.less(t.add(first, t.constant(kept.offsets[k])),
                       t.constant(kept.size));
      t.guarded(there, [&] {
        LLVM::StoreOp::create(t.b, partial[k], at(part, firstLeft, k));
      });
    }
  });
  t.barrier();
  partial.resize(kept.offsets.size());
  for (size_t k = 0; k < partial.size(); ++k) {
    Value total;
    for (int64_t part = 0; part < parts; ++part) {
      Value value = LLVM::LoadOp::create(t.b, t.b.getF32Type(),
                                         at(t.constant(part), first, k));
      total = total ? combineTwo(t, kind, total, value) : value;
    }
    partial[k] = total;
  }
}

// What this thread holds, in the order of its places, then the exchange.
void lower(ReduceOp reduce, ThreadState &t) {
  TileType type = reduce.getTile().getType();
  Held held = heldOf(t, type);
  const Elements elements = t.tiles.lookup(reduce.getTile());
  bool overRows =
      type.isBlock() ? reduce.getOverRows() : type.getRole() == Role::Column;
  const auto &[rows, columns] = held.distribution;
  const Axis &summed = overRows ? rows : columns;
  const Axis &kept = overRows ? columns : rows;
  Value neutral = t.f32(reduce.getKind() == ReduceKind::Max
                            ? -std::numeric_limits<float>::infinity()
                            : 0.0f);
  Elements partial;
  for (size_t k = 0; k < kept.offsets.size(); ++k) {
    Value sum;
    for (size_t s = 0; s < summed.offsets.size(); ++s) {
      size_t i = overRows ? s : k, j = overRows ? k : s;
      Value element = elements[i * held.columns() + j];
      if (!summed.exact()) {
        Value place = overRows ? rowAt(t, held, i) : columnAt(t, held, j);
        element =
            t.select(t.less(place, t.constant(summed.size)), element, neutral);
      }
      sum = sum ? combineTwo(t, reduce.getKind(), sum, element) : element;
    }
    partial.push_back(sum);
  }
  exchange(t, partial, reduce.getKind(), summed.threadBits(), kept,
           reduce.getScratch().value_or(0));
  if (type.isBlock())
    t.tiles[reduce.getResult()] = partial;
  else
    t.scalars.map(reduce.getResult(), partial.front());
}

} // namespace effc::nvptx
