// Positions as angles: seq.rotary and seq.cosine_sine. An item is a row, whose
// cosines and sines are formed once for all heads. Floor: bytes of the row.
//
// f32 cannot hold an angle, position times frequency: at a million its rounding
// is more than a turn's hundredth, and from 2^24 on not even positions are
// exact. So a position is a number below 2^24 and a multiple of 2^24; the angle
// of each is kept in parts, and loses its whole turns before the parts are added
// up. The second is 0 below 2^24 and leaves the first as it is. Up to 2^44 an
// angle is off by at most 6e-7, up to 2^48, the last position, by 1.3e-6.
#include "passes/seq_to_tile/builders/Builders.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

namespace {
/// Positions below 2^24 are exact in f32, as are multiples of 2^24 up to 2^48.
constexpr int64_t kNear = int64_t(1) << 24;

/// 2 pi as the sum of three f32, and its inverse.
constexpr double kTurn[] = {6.2831854820251464844, -1.7484555314695172e-7,
                            -6.8604980400235275e-15};
constexpr double kTurns = 0.15915494309189533577;

/// A number as the sum of two f32, of which the second is small.
struct Sum {
  Value main, rest;
};

/// Angles in f32, of which whole turns may be taken.
class Angles {
public:
  Angles(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// (near + 2^24 far) * frequency, but for whole turns.
  Value of(Value near, Value far, Value frequency) {
    Sum product = multiply(near, frequency);
    Value reduced = withoutTurns(product.main);
    Sum stride = withoutTurnsExactly(
        arith::MulFOp::create(b, loc, frequency, constant(kNear)));
    Sum further = multiply(far, stride.main);
    Value rests = add(product.rest, fma(far, stride.rest, further.rest));
    Sum sum = addExactly(reduced, withoutTurns(further.main));
    return add(sum.main, add(rests, sum.rest));
  }

private:
  Value constant(double value) {
    return arith::ConstantOp::create(
        b, loc, b.getF32FloatAttr(static_cast<float>(value)));
  }
  Value negate(Value x) { return arith::NegFOp::create(b, loc, x); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value subtract(Value x, Value y) {
    return arith::SubFOp::create(b, loc, x, y);
  }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, loc, x, y, z);
  }
  Value turnsOf(Value angle) {
    return math::RoundEvenOp::create(
        b, loc, arith::MulFOp::create(b, loc, angle, constant(kTurns)));
  }
  /// The product and what its rounding lost.
  Sum multiply(Value x, Value y) {
    Value product = arith::MulFOp::create(b, loc, x, y);
    return {product, fma(x, y, negate(product))};
  }
  /// The sum and what its rounding lost, whichever is larger (Knuth, The Art of
  /// Computer Programming 2, 4.2.2, theorem B).
  Sum addExactly(Value x, Value y) {
    Value sum = add(x, y);
    Value second = subtract(sum, x);
    Value first = subtract(sum, second);
    return {sum, add(subtract(x, first), subtract(y, second))};
  }
  /// An angle of at most 2^24 turns less whole ones, off by 1e-7 at most.
  Value withoutTurns(Value angle) {
    Value turns = turnsOf(angle);
    angle = fma(turns, constant(-kTurn[0]), angle);
    return fma(turns, constant(-kTurn[1]), angle);
  }
  /// The same with all the bits that 2^24 times the result needs.
  Sum withoutTurnsExactly(Value angle) {
    Value turns = turnsOf(angle);
    Sum whole = multiply(turns, constant(kTurn[0]));
    Sum first = addExactly(subtract(angle, whole.main), negate(whole.rest));
    Sum further = multiply(turns, constant(-kTurn[1]));
    Sum second = addExactly(first.main, further.main);
    Value rest = fma(turns, constant(-kTurn[2]), further.rest);
    return {second.main, add(add(first.rest, second.rest), rest)};
  }

  OpBuilder &b;
  Location loc;
};

class RotaryKernel {
public:
  explicit RotaryKernel(KernelBuilder &k) : k(k), b(k.ops()) {}

  LogicalResult buildHalf(seq::RotaryOp root);
  LogicalResult buildInterleaved(seq::RotaryOp root);
  LogicalResult buildCosineSine(seq::CosineSineOp root);

private:
  /// One box of the result.
  struct Box {
    SmallVector<Value> at;
    SmallVector<int64_t> sizes;
    bool pairs = false; // of a view whose channels are split into pairs
  };
  using Compute = function_ref<Value(OpBuilder &, ValueRange)>;

  /// Turns no token further than one at position `last`.
  void begin(Value positions, std::optional<uint64_t> last = std::nullopt) {
    k.setItems(k.getContext().lead, 1, 1);
    position = tile::ReadOp::create(b, k.loc(), b.getIndexType(),
                                    k.read(positions), ValueRange{k.item()});
    if (last)
      position = k.min(position, k.index(static_cast<int64_t>(*last)));
    auto [multiples, rest] = k.divide(position, kNear);
    near = asFloat(rest), far = asFloat(multiples);
  }
  /// An index below 2^24.
  Value asFloat(Value index) {
    return arith::SIToFPOp::create(
        b, k.loc(), b.getF32Type(),
        arith::IndexCastOp::create(b, k.loc(), b.getI32Type(), index));
  }
  /// The frequencies of the row's position, as a tile of this type.
  Value frequenciesOf(seq::RotaryOp root, int64_t pairs, tile::TileType type) {
    Value view = k.read(root.getFrequencies());
    return root.getFrequencyRows()
               ? k.load(view, {position, k.index(0)}, {1, pairs}, type)
               : k.load(view, {k.index(0)}, {pairs}, type);
  }
  /// Cosines and sines of the angles of some frequencies.
  std::pair<Value, Value> angles(Value frequencies, double amplitude);
  Value view(Value tensor, const Box &box) {
    return box.pairs ? k.readPairs(tensor) : k.read(tensor);
  }
  Value load(Value tensor, const Box &box, tile::TileType type) {
    return k.load(view(tensor, box), box.at, box.sizes, type);
  }
  /// `inputs` combined, what follows the root, and the store.
  LogicalResult finish(const Box &box, tile::TileType type, ValueRange inputs,
                       Compute compute);

  KernelBuilder &k;
  OpBuilder &b;
  Value position;  // where the row is turned as if it stood
  Value near, far; // f32: the same is near + 2^24 far
};
} // namespace

std::pair<Value, Value> RotaryKernel::angles(Value frequencies,
                                             double amplitude) {
  auto type = cast<tile::TileType>(frequencies.getType());
  Location loc = k.loc();
  Value angle =
      k.map(type, {frequencies}, [&](OpBuilder &builder, ValueRange e) {
        return Angles(builder, loc).of(near, far, e[0]);
      });
  auto trigonometric = [&](bool cosine) {
    return k.map(type, {angle}, [&](OpBuilder &builder, ValueRange e) {
      Value result = cosine ? Value(math::CosOp::create(builder, loc, e[0]))
                            : Value(math::SinOp::create(builder, loc, e[0]));
      if (amplitude == 1.0)
        return result;
      Value factor = arith::ConstantOp::create(
          builder, loc, builder.getF32FloatAttr(static_cast<float>(amplitude)));
      return Value(arith::MulFOp::create(builder, loc, result, factor));
    });
  };
  return {trigonometric(true), trigonometric(false)};
}

LogicalResult RotaryKernel::finish(const Box &box, tile::TileType type,
                                   ValueRange inputs, Compute compute) {
  Value y = k.map(type, inputs, compute);
  return k.finish(
      k.getRoot()->getResult(0), y,
      [&](Value tensor) { return load(tensor, box, type); },
      [&](unsigned result, Value tile) {
        k.store(tile, box.pairs ? k.writePairs(result) : k.write(result),
                box.at, box.sizes);
      });
}

// a x + b y, or a x - b y.
static Value sumOfProducts(OpBuilder &builder, Location loc, Value a, Value x,
                           Value b, Value y, bool subtract) {
  Value second = arith::MulFOp::create(builder, loc, b, y);
  if (subtract)
    second = arith::NegFOp::create(builder, loc, second);
  return math::FmaOp::create(builder, loc, a, x, second);
}

LogicalResult RotaryKernel::buildHalf(seq::RotaryOp root) {
  ArrayRef<int64_t> shape = root.getX().getType().getShape();
  int64_t heads = shape[1], channels = shape[2];
  int64_t pairs = root.getFrequencies().getType().getShape().back();
  begin(root.getPositions(), root.getLast());
  auto [cosine, sine] = angles(frequenciesOf(root, pairs, k.rowType(pairs)),
                               root.getAmplitude().convertToDouble());
  auto box = [&](int64_t first, int64_t size) {
    return Box{{k.item(), k.index(0), k.index(first)}, {1, heads, size}};
  };
  tile::TileType type = k.blockType(heads, pairs, tile::Role::Operand);
  Value low = load(root.getX(), box(0, pairs), type);
  Value high = load(root.getX(), box(pairs, pairs), type);
  if (failed(finish(box(0, pairs), type, {low, high, cosine, sine},
                    [&](OpBuilder &builder, ValueRange e) {
                      return sumOfProducts(builder, k.loc(), e[0], e[2], e[1],
                                           e[3], /*subtract=*/true);
                    })) ||
      failed(finish(box(pairs, pairs), type, {low, high, cosine, sine},
                    [&](OpBuilder &builder, ValueRange e) {
                      return sumOfProducts(builder, k.loc(), e[1], e[2], e[0],
                                           e[3], /*subtract=*/false);
                    })))
    return failure();
  if (int64_t rest = channels - 2 * pairs; rest > 0) {
    tile::TileType restType = k.blockType(heads, rest, tile::Role::Operand);
    Box unturned = box(2 * pairs, rest);
    return finish(unturned, restType, {load(root.getX(), unturned, restType)},
                  [](OpBuilder &, ValueRange e) { return e[0]; });
  }
  return success();
}

// Pairs of neighbours are columns two elements apart, head by head.
LogicalResult RotaryKernel::buildInterleaved(seq::RotaryOp root) {
  ArrayRef<int64_t> shape = root.getX().getType().getShape();
  int64_t heads = shape[1], channels = shape[2];
  int64_t pairs = root.getFrequencies().getType().getShape().back();
  begin(root.getPositions(), root.getLast());
  tile::TileType type = k.columnType(pairs);
  auto [cosine, sine] = angles(frequenciesOf(root, pairs, type),
                               root.getAmplitude().convertToDouble());
  auto loop =
      scf::ForOp::create(b, k.loc(), k.index(0), k.index(heads), k.index(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    auto box = [&](int64_t which) {
      return Box{{k.item(), loop.getInductionVar(), k.index(0), k.index(which)},
                 {1, 1, pairs, 1},
                 /*pairs=*/true};
    };
    Value even = load(root.getX(), box(0), type);
    Value odd = load(root.getX(), box(1), type);
    if (failed(finish(box(0), type, {even, odd, cosine, sine},
                      [&](OpBuilder &builder, ValueRange e) {
                        return sumOfProducts(builder, k.loc(), e[0], e[2], e[1],
                                             e[3], /*subtract=*/true);
                      })) ||
        failed(finish(box(1), type, {even, odd, cosine, sine},
                      [&](OpBuilder &builder, ValueRange e) {
                        return sumOfProducts(builder, k.loc(), e[1], e[2], e[0],
                                             e[3], /*subtract=*/false);
                      })))
      return failure();
  }
  if (int64_t rest = channels - 2 * pairs; rest > 0) {
    tile::TileType restType = k.blockType(heads, rest, tile::Role::Operand);
    Box unturned{{k.item(), k.index(0), k.index(2 * pairs)}, {1, heads, rest}};
    return finish(unturned, restType, {load(root.getX(), unturned, restType)},
                  [](OpBuilder &, ValueRange e) { return e[0]; });
  }
  return success();
}

LogicalResult RotaryKernel::buildCosineSine(seq::CosineSineOp root) {
  ArrayRef<int64_t> shape = root.getX().getType().getShape();
  int64_t heads = shape[1], channels = shape[2];
  begin(root.getPositions());
  tile::TileType type = k.blockType(heads, channels, tile::Role::Operand);
  auto [cosine, sine] =
      angles(k.load(k.read(root.getFrequencies()), {k.index(0), k.index(0)},
                    {heads, channels}, type),
             /*amplitude=*/1.0);
  auto box = [&](int64_t first) {
    return Box{{k.item(), k.index(0), k.index(first)}, {1, heads, channels}};
  };
  Value x = load(root.getX(), box(0), type);
  auto product = [&](OpBuilder &builder, ValueRange e) -> Value {
    return arith::MulFOp::create(builder, k.loc(), e[0], e[1]);
  };
  return failure(failed(finish(box(0), type, {x, cosine}, product)) ||
                 failed(finish(box(channels), type, {x, sine}, product)));
}

LogicalResult effc::buildRotary(KernelBuilder &k) {
  RotaryKernel kernel(k);
  if (auto cosineSine = dyn_cast<seq::CosineSineOp>(k.getRoot()))
    return kernel.buildCosineSine(cosineSine);
  auto rotary = cast<seq::RotaryOp>(k.getRoot());
  return rotary.getPairs() == seq::RotaryPairs::Half
             ? kernel.buildHalf(rotary)
             : kernel.buildInterleaved(rotary);
}
