// Positions as angles: seq.rotary and seq.cosine_sine. An item is a row, whose
// cosines and sines are formed once for all heads. Floor: bytes of the row.
//
// An angle is position times frequency, which f32 rounds by more than a turn's
// hundredth at a million. So the product is kept in two parts, and whole turns
// are taken from it before its parts are added.
#include "passes/seq_to_tile/builders/Builders.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

namespace {
/// 2 pi as the sum of two f32, and its inverse.
constexpr double kTurn = 6.2831854820251464844,
                 kTurnRest = -1.7484555314695172e-7;
constexpr double kTurns = 0.15915494309189533577;

class RotaryKernel {
public:
  explicit RotaryKernel(KernelBuilder &k) : k(k), b(k.ops()) {}

  LogicalResult buildHalf(seq::RotaryOp core);
  LogicalResult buildInterleaved(seq::RotaryOp core);
  LogicalResult buildCosineSine(seq::CosineSineOp core);

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
    turned = arith::SIToFPOp::create(
        b, k.loc(), b.getF32Type(),
        arith::IndexCastOp::create(b, k.loc(), b.getI32Type(), position));
  }
  /// The frequencies of the row's position, as a tile of this type.
  Value frequenciesOf(seq::RotaryOp core, int64_t pairs, tile::TileType type) {
    Value view = k.read(core.getFrequencies());
    return core.getFrequencyRows()
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
  /// `inputs` combined, what follows the core, and the store.
  LogicalResult finish(const Box &box, tile::TileType type, ValueRange inputs,
                       Compute compute);

  KernelBuilder &k;
  OpBuilder &b;
  Value position; // where the row is turned as if it stood
  Value turned;   // the same, as f32
};
} // namespace

std::pair<Value, Value> RotaryKernel::angles(Value frequencies,
                                             double amplitude) {
  auto type = cast<tile::TileType>(frequencies.getType());
  Location loc = k.loc();
  auto trigonometric = [&](bool cosine) {
    return k.map(type, {frequencies}, [&](OpBuilder &builder, ValueRange e) {
      auto constant = [&](double value) -> Value {
        return arith::ConstantOp::create(
            builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
      };
      Value product = arith::MulFOp::create(builder, loc, turned, e[0]);
      Value rest =
          math::FmaOp::create(builder, loc, turned, e[0],
                              arith::NegFOp::create(builder, loc, product));
      Value turns = math::RoundEvenOp::create(
          builder, loc,
          arith::MulFOp::create(builder, loc, product, constant(kTurns)));
      Value angle =
          math::FmaOp::create(builder, loc, turns, constant(-kTurn), product);
      angle =
          math::FmaOp::create(builder, loc, turns, constant(-kTurnRest), angle);
      angle = arith::AddFOp::create(builder, loc, angle, rest);
      Value result = cosine ? Value(math::CosOp::create(builder, loc, angle))
                            : Value(math::SinOp::create(builder, loc, angle));
      return amplitude == 1.0 ? result
                              : Value(arith::MulFOp::create(
                                    builder, loc, result, constant(amplitude)));
    });
  };
  return {trigonometric(true), trigonometric(false)};
}

LogicalResult RotaryKernel::finish(const Box &box, tile::TileType type,
                                   ValueRange inputs, Compute compute) {
  Value y = k.map(type, inputs, compute);
  return k.finish(
      k.getCore()->getResult(0), y,
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

LogicalResult RotaryKernel::buildHalf(seq::RotaryOp core) {
  ArrayRef<int64_t> shape = core.getX().getType().getShape();
  int64_t heads = shape[1], channels = shape[2];
  int64_t pairs = core.getFrequencies().getType().getShape().back();
  begin(core.getPositions(), core.getLast());
  auto [cosine, sine] = angles(frequenciesOf(core, pairs, k.rowType(pairs)),
                               core.getAmplitude().convertToDouble());
  auto box = [&](int64_t first, int64_t size) {
    return Box{{k.item(), k.index(0), k.index(first)}, {1, heads, size}};
  };
  tile::TileType type = k.blockType(heads, pairs, tile::Role::Operand);
  Value low = load(core.getX(), box(0, pairs), type);
  Value high = load(core.getX(), box(pairs, pairs), type);
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
    return finish(unturned, restType, {load(core.getX(), unturned, restType)},
                  [](OpBuilder &, ValueRange e) { return e[0]; });
  }
  return success();
}

// Pairs of neighbours are columns two elements apart, head by head.
LogicalResult RotaryKernel::buildInterleaved(seq::RotaryOp core) {
  ArrayRef<int64_t> shape = core.getX().getType().getShape();
  int64_t heads = shape[1], channels = shape[2];
  int64_t pairs = core.getFrequencies().getType().getShape().back();
  begin(core.getPositions(), core.getLast());
  tile::TileType type = k.columnType(pairs);
  auto [cosine, sine] = angles(frequenciesOf(core, pairs, type),
                               core.getAmplitude().convertToDouble());
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
    Value even = load(core.getX(), box(0), type);
    Value odd = load(core.getX(), box(1), type);
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
    return finish(unturned, restType, {load(core.getX(), unturned, restType)},
                  [](OpBuilder &, ValueRange e) { return e[0]; });
  }
  return success();
}

LogicalResult RotaryKernel::buildCosineSine(seq::CosineSineOp core) {
  ArrayRef<int64_t> shape = core.getX().getType().getShape();
  int64_t heads = shape[1], channels = shape[2];
  begin(core.getPositions());
  tile::TileType type = k.blockType(heads, channels, tile::Role::Operand);
  auto [cosine, sine] =
      angles(k.load(k.read(core.getFrequencies()), {k.index(0), k.index(0)},
                    {heads, channels}, type),
             /*amplitude=*/1.0);
  auto box = [&](int64_t first) {
    return Box{{k.item(), k.index(0), k.index(first)}, {1, heads, channels}};
  };
  Value x = load(core.getX(), box(0), type);
  auto product = [&](OpBuilder &builder, ValueRange e) -> Value {
    return arith::MulFOp::create(builder, k.loc(), e[0], e[1]);
  };
  return failure(failed(finish(box(0), type, {x, cosine}, product)) ||
                 failed(finish(box(channels), type, {x, sine}, product)));
}

LogicalResult effc::buildRotary(KernelBuilder &k) {
  RotaryKernel kernel(k);
  if (auto cosineSine = dyn_cast<seq::CosineSineOp>(k.getCore()))
    return kernel.buildCosineSine(cosineSine);
  auto rotary = cast<seq::RotaryOp>(k.getCore());
  return rotary.getPairs() == seq::RotaryPairs::Half
             ? kernel.buildHalf(rotary)
             : kernel.buildInterleaved(rotary);
}
