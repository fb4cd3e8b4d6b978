#include "passes/seq_to_tile/builders/dense/Draw.h"

using namespace mlir;
using namespace effc;

namespace {
/// Arithmetic inside of a map, each op rounded by itself.
class Arithmetic {
public:
  Arithmetic(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value integer(uint32_t value) {
    return arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value number(float value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value bits(Value x) {
    return arith::BitcastOp::create(b, loc, b.getI32Type(), x);
  }
  Value ofBits(Value x) {
    return arith::BitcastOp::create(b, loc, b.getF32Type(), x);
  }
  Value asNumber(Value x) {
    return arith::SIToFPOp::create(b, loc, b.getF32Type(), x);
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value neg(Value x) { return arith::NegFOp::create(b, loc, x); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }

  Value firstOfPhilox(Value x, Value y, Value key);
  Value negativeLog(Value x, Value rest = {});
  Value gumbel(Value word);

private:
  template <typename Op> Value make(Value x, Value y) {
    return Op::create(b, loc, x, y);
  }

  OpBuilder &b;
  Location loc;
};
} // namespace

Value Arithmetic::firstOfPhilox(Value x, Value y, Value key) {
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  for (uint32_t round = 0; round < 10; ++round) {
    Value product = make<arith::MulIOp>(arith::ExtUIOp::create(b, loc, i64, x),
                                        constant(0xD256D193));
    Value high = arith::TruncIOp::create(
        b, loc, i32, make<arith::ShRUIOp>(product, constant(32)));
    Value roundKey =
        make<arith::AddIOp>(key, integer(round * uint32_t(0x9E3779B9)));
    x = make<arith::XOrIOp>(make<arith::XOrIOp>(high, roundKey), y);
    y = arith::TruncIOp::create(b, loc, i32, product);
  }
  return x;
}

// -ln x = -ln(m 2^e), m from sqrt(1/2) on; with e = 0 it is -ln(1 + rest).
Value Arithmetic::negativeLog(Value x, Value rest) {
  Value rootOfHalf = integer(0x3F3504F3);
  Value above = make<arith::SubIOp>(bits(x), rootOfHalf);
  Value e = make<arith::ShRSIOp>(above, integer(23));
  Value m = ofBits(make<arith::AddIOp>(
      make<arith::AndIOp>(above, integer(0x7FFFFF)), rootOfHalf));
  Value f = sub(m, number(1));
  if (rest)
    f = select(
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, e, integer(0)),
        rest, f);
  constexpr float kP[] = {-0x1.38b58p-4f,  0x1.055b6ap-3f,  -0x1.0d8542p-3f,
                          0x1.22da1cp-3f,  -0x1.547244p-3f, 0x1.99a008p-3f,
                          -0x1.000226p-2f, 0x1.555554p-2f};
  Value p = number(kP[0]);
  for (float coefficient : ArrayRef(kP).drop_front())
    p = add(mul(p, f), number(coefficient));
  constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  Value exponent = asNumber(e);
  Value small = add(mul(mul(f, f), sub(mul(f, p), number(0.5f))),
                    mul(exponent, number(kLn2Low)));
  return neg(add(add(f, small), mul(exponent, number(kLn2High))));
}

Value Arithmetic::gumbel(Value word) {
  Value n = asNumber(make<arith::AndIOp>(word, integer(0x7FFFFFFF)));
  Value v = mul(add(n, number(0.5f)), number(0x1p-32f));
  Value isUpper = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, word,
                                        integer(0));
  Value u = select(isUpper, sub(number(1), v), v);
  return negativeLog(negativeLog(u, neg(v)));
}

DrawWords DrawWords::read(KernelBuilder &k, Value row, int64_t rows,
                          Value limit) {
  auto bests = k.getSourceBody().getOps<seq::BestOp>();
  Value draws = bests.empty() ? Value() : (*bests.begin()).getDraws();
  if (!draws)
    return {};
  Value view = k.read(draws);
  auto word = [&](int64_t column) -> Value {
    if (rows == 1)
      return tile::ReadOp::create(k.ops(), k.loc(), k.ops().getF32Type(), view,
                                  ValueRange{row, k.index(column)});
    return k.load(view, {row, k.index(column)}, {rows, 1}, k.columnType(rows),
                  limit);
  };
  return {word(0), word(1), word(2), word(3)};
}

Value DrawWords::addNoise(KernelBuilder &k, Value tile, Value first) const {
  if (!scale)
    return tile;
  auto type = cast<tile::TileType>(tile.getType());
  Location loc = k.loc();
  return k.map(
      type, {tile, scale, amount, key, counter},
      [&](OpBuilder &b, ValueRange e) -> Value {
        Value place =
            type.getRole() == tile::Role::Column
                ? Value(tile::RowIndexOp::create(b, loc, b.getIndexType()))
                : Value(tile::ColumnIndexOp::create(b, loc, b.getIndexType()));
        Value token = arith::IndexCastOp::create(
            b, loc, b.getI32Type(),
            arith::AddIOp::create(b, loc, first, place));
        Arithmetic a(b, loc);
        Value noise =
            a.gumbel(a.firstOfPhilox(token, a.bits(e[4]), a.bits(e[3])));
        return a.add(a.mul(e[0], e[1]), a.mul(e[2], noise));
      });
}
