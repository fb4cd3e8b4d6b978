// Elementwise arithmetic and sums.
#include "codegen/math/Decays.h"
#include "codegen/nvptx/ThreadLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace effc;
using namespace effc::nvptx;
using namespace effc::tile;

static Value callApprox(OpBuilder &b, Location loc, StringRef name, Value x) {
  return LLVM::CallIntrinsicOp::create(b, loc, x.getType(),
                                       b.getStringAttr(name), ValueRange{x})
      .getResult(0);
}

// By the hardware's powers of two: exp(x) = 2^t (1 + e ln 2), where t = fl(x / ln 2) and e is what the rounding
// of t lost: without it an argument of -20 would cost 2e-6.
Value ThreadLowering::exponential(Value x) {
  Value rate = f32(1.44269504088896341f), rest = f32(1.92596299e-8f);
  Value t = arith::MulFOp::create(b, loc, x, rate);
  Value lost =
      math::FmaOp::create(b, loc, x, rate, arith::NegFOp::create(b, loc, t));
  lost = math::FmaOp::create(b, loc, x, rest, lost);
  Value power = callApprox(b, loc, "llvm.nvvm.ex2.approx.ftz.f", t);
  Value correction =
      arith::MulFOp::create(b, loc, lost, f32(0.693147180559945309f));
  // Where the power is infinite or 0 there is nothing to correct, and infinity
  // times it would be no number.
  Value corrected = math::FmaOp::create(b, loc, power, correction, power);
  Value finite =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT,
                            math::AbsFOp::create(b, loc, t), f32(128.0f));
  return select(finite, corrected, power);
}

// What is no instruction, `expand-math` makes a polynomial.
Value ThreadLowering::emitScalar(Operation *op, IRMapping &mapping) {
  if (isa<math::ExpOp>(op))
    return exponential(mapping.lookupOrDefault(op->getOperand(0)));
  // lg2.approx has an absolute error near 1, of which a small step size would
  // be made: what softplus takes is a polynomial, as on the host.
  if (isa<math::Log1pOp>(op) && f32::isDecay(op->getOperand(0))) {
    f32::Arithmetic arithmetic(b, loc, b.getF32Type());
    return f32::log1pOfDecay(arithmetic,
                             mapping.lookupOrDefault(op->getOperand(0)));
  }
  return b.clone(*op, mapping)->getResult(0);
}

void ThreadLowering::lowerMap(MapOp map) {
  Held held = heldOf(map.getResult().getType());
  Block &body = map.getBody().front();
  Elements result;
  for (size_t i = 0; i < held.rows(); ++i)
    for (size_t j = 0; j < held.columns(); ++j) {
      IRMapping mapping(scalars);
      for (auto [argument, input] :
           llvm::zip_equal(body.getArguments(), map.getInputs())) {
        auto tile = dyn_cast<TileType>(input.getType());
        if (!tile) {
          mapping.map(argument, lookup(input));
          continue;
        }
        size_t at = tile.isBlock()                   ? i * held.columns() + j
                    : tile.getRole() == Role::Column ? i
                                                     : j;
        mapping.map(argument, tiles[input][at]);
      }
      for (Operation &op : body.without_terminator()) {
        if (isa<RowIndexOp>(op))
          mapping.map(op.getResult(0), rowAt(held, i));
        else if (isa<ColumnIndexOp>(op))
          mapping.map(op.getResult(0), columnAt(held, j));
        else
          mapping.map(op.getResult(0), emitScalar(&op, mapping));
      }
      result.push_back(
          mapping.lookupOrDefault(cast<YieldOp>(body.back()).getValues()[0]));
    }
  tiles[map.getResult()] = result;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Value ThreadLowering::combineTwo(ReduceKind kind, Value x, Value y) {
  if (kind == ReduceKind::Max)
    return arith::MaximumFOp::create(b, loc, x, y);
  return arith::AddFOp::create(b, loc, x, y);
}

// What this thread holds, in the order of its places, then the exchange.
void ThreadLowering::lowerReduce(ReduceOp reduce) {
  TileType type = reduce.getTile().getType();
  Held held = heldOf(type);
  const Elements elements = tiles.lookup(reduce.getTile());
  bool overRows =
      type.isBlock() ? reduce.getOverRows() : type.getRole() == Role::Column;
  const auto &[rows, columns] = held.distribution;
  const Axis &summed = overRows ? rows : columns;
  const Axis &kept = overRows ? columns : rows;
  Value neutral = f32(reduce.getKind() == ReduceKind::Max
                          ? -std::numeric_limits<float>::infinity()
                          : 0.0f);
  Elements partial;
  for (size_t k = 0; k < kept.offsets.size(); ++k) {
    Value sum;
    for (size_t s = 0; s < summed.offsets.size(); ++s) {
      size_t i = overRows ? s : k, j = overRows ? k : s;
      Value element = elements[i * held.columns() + j];
      if (!summed.exact()) {
        Value place = overRows ? rowAt(held, i) : columnAt(held, j);
        element = select(less(place, constant(summed.size)), element, neutral);
      }
      sum = sum ? combineTwo(reduce.getKind(), sum, element) : element;
    }
    partial.push_back(sum);
  }
  exchange(partial, reduce.getKind(), summed.threadBits(), kept,
           reduce.getScratch().value_or(0));
  if (type.isBlock())
    tiles[reduce.getResult()] = partial;
  else
    scalars.map(reduce.getResult(), partial.front());
}

Value ThreadLowering::shuffle(Value value, int64_t distance) {
  return NVVM::ShflOp::create(b, loc, value.getType(), i32(-1), value,
                              i32(distance), i32(kWarp - 1),
                              NVVM::ShflKind::bfly, UnitAttr());
}

// Lanes in pairs; then each warp leaves what it has in shared memory, and every
// thread adds up what the warps left, in their order.
void ThreadLowering::exchange(Elements &partial, ReduceKind kind, unsigned bits,
                              const Axis &kept, int64_t scratch) {
  for (int64_t distance = 1; distance < kWarp; distance *= 2)
    if (bits & distance)
      for (Value &value : partial)
        value = combineTwo(kind, value, shuffle(value, distance));
  unsigned warpBits = bits & ~static_cast<unsigned>(kWarp - 1);
  if (warpBits == 0)
    return;
  int64_t parts = int64_t(1) << llvm::popcount(warpBits);
  Value first = firstPlace(kept);
  auto at = [&](Value part, size_t k) {
    Value place = add(first, constant(kept.offsets[k]));
    if (!kept.exact())
      place = select(less(place, constant(kept.size)), place, constant(0));
    return sharedAddress(scratch, add(mul(part, kept.size), place),
                         b.getF32Type());
  };
  // Of the threads that hold the same sums of the same warp, one writes.
  unsigned alike =
      static_cast<unsigned>(threads - 1) & ~kept.threadBits() & ~warpBits;
  Value writes;
  if (alike != 0)
    writes = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                   bitsOfThread(alike), constant(0));
  guarded(writes, [&] {
    Value part = bitsOfThread(warpBits);
    for (size_t k = 0; k < partial.size(); ++k) {
      Value there;
      if (!kept.exact())
        there =
            less(add(first, constant(kept.offsets[k])), constant(kept.size));
      guarded(there,
              [&] { LLVM::StoreOp::create(b, loc, partial[k], at(part, k)); });
    }
  });
  barrier();
  for (size_t k = 0; k < partial.size(); ++k) {
    Value total;
    for (int64_t part = 0; part < parts; ++part) {
      Value value =
          LLVM::LoadOp::create(b, loc, b.getF32Type(), at(constant(part), k));
      total = total ? combineTwo(kind, total, value) : value;
    }
    partial[k] = total;
  }
}
