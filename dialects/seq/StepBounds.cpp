#include "dialects/seq/StepBounds.h"

#include "dialects/seq/AlikeValues.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/StepFactors.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace effc::seq {

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr Bounds kAny = {-kInfinity, kInfinity};

// The least values of silu and gelu are -0.2785 and -0.1701.
static constexpr float kLeastSilu = -0.279f, kLeastGelu = -0.171f;

// 0 times what may be infinite is 0: an infinite bound is never reached.
static float times(float x, float y) { return x == 0 || y == 0 ? 0 : x * y; }

// inf - inf says nothing.
static Bounds checked(float low, float high) {
  return {std::isnan(low) ? -kInfinity : low,
          std::isnan(high) ? kInfinity : high};
}

static Bounds product(Bounds x, Bounds y) {
  auto [low, high] = std::minmax({times(x.low, y.low), times(x.low, y.high),
                                  times(x.high, y.low), times(x.high, y.high)});
  return {low, high};
}

static Bounds square(Bounds x) {
  float most = std::max(std::fabs(x.low), std::fabs(x.high));
  float least = x.low > 0 ? x.low : x.high < 0 ? -x.high : 0;
  return {times(least, least), times(most, most)};
}

static Bounds quotient(Bounds x, Bounds y) {
  if (y.low <= 0 && y.high >= 0)
    return kAny;
  return product(x, {1 / y.high, 1 / y.low});
}

static Bounds clamped(ClampOp op, Bounds x) {
  auto bound = [](std::optional<APFloat> number, float otherwise) {
    return number ? static_cast<float>(number->convertToDouble()) : otherwise;
  };
  float lower = bound(op.getLower(), -kInfinity),
        upper = bound(op.getUpper(), kInfinity);
  return {std::clamp(x.low, lower, upper), std::clamp(x.high, lower, upper)};
}

// Over as many terms as the dimensions that are summed have points.
static Bounds contracted(ContractOp op, Bounds x, Bounds y) {
  SmallVector<AffineMap, 3> maps = op.getMaps();
  bool isSquare = maps[0] == maps[1] && areAlike(op.getLhs(), op.getRhs());
  Bounds term = isSquare ? square(x) : product(x, y);
  float count = 1;
  for (unsigned dimension = 0; dimension < maps[2].getNumDims(); ++dimension) {
    AffineExpr expression = getAffineDimExpr(dimension, op.getContext());
    if (maps[2].getResultPosition(expression))
      continue;
    unsigned side = maps[0].getResultPosition(expression) ? 0 : 1;
    count *= static_cast<float>(
        typeOf(op->getOperand(side))
            .getDimSize(*maps[side].getResultPosition(expression)));
  }
  return product(term, {count, count});
}

// Whether `left` is 1 - `share`, for the same elements.
static bool isRestOf(const StepFactor &left, const StepFactor &share) {
  StepLine line = StepLine::of(left.value);
  return line.slope == -1 && line.offset == 1 &&
         left.dimensions == share.dimensions &&
         areAlike(line.base, share.value);
}

namespace {
/// A factor of a product, however deep, and the bounds of all others together.
struct Part {
  StepFactor factor;
  Bounds others;
};
} // namespace

// A product has few factors, or further ones are not looked at.
static constexpr size_t kMostParts = 12;

static SmallVector<Part> partsOf(Value value, const StepBounds &bounds) {
  SmallVector<Part> parts = {{StepFactor::whole(value), {1, 1}}};
  for (size_t i = 0; i < parts.size() && parts.size() < kMostParts; ++i) {
    SmallVector<StepFactor> factors = splitFactor(parts[i].factor);
    Bounds others = parts[i].others;
    if (factors.size() == 1)
      parts.push_back({factors[0], others});
    if (factors.size() == 2)
      for (unsigned side : {0, 1})
        parts.push_back({factors[side],
                         product(others, bounds.of(factors[1 - side].value))});
  }
  return parts;
}

// w x + (1 - w) y with w in [0, 1] lies between x and y, but for rounding.
std::optional<Bounds> StepBounds::ofMean(AddOp op) const {
  SmallVector<Part> sides[] = {partsOf(op.getA(), *this),
                               partsOf(op.getB(), *this)};
  for (unsigned side : {0, 1})
    for (const Part &x : sides[side])
      for (const Part &y : sides[1 - side])
        if (isShare(x.factor.value) && isRestOf(y.factor, x.factor))
          return Bounds{std::min(x.others.low, y.others.low),
                        std::max(x.others.high, y.others.high)};
  return std::nullopt;
}

static Bounds boundsOf(Operation *op, ArrayRef<Bounds> x) {
  using Result = Bounds;
  auto applied = [&](float (*function)(float)) {
    return checked(function(x[0].low), function(x[0].high));
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](ConstantOp constant) -> Result {
        auto number = static_cast<float>(constant.getValue().convertToDouble());
        return {number, number};
      })
      .Case([&](BroadcastOp) { return x[0]; })
      .Case([&](AddOp) {
        return checked(x[0].low + x[1].low, x[0].high + x[1].high);
      })
      .Case([&](SubOp) {
        return checked(x[0].low - x[1].high, x[0].high - x[1].low);
      })
      .Case([&](MulOp mul) {
        return areAlike(mul.getA(), mul.getB()) ? square(x[0])
                                                : product(x[0], x[1]);
      })
      .Case([&](DivOp) { return quotient(x[0], x[1]); })
      .Case([&](MaxOp) -> Result {
        return {std::max(x[0].low, x[1].low), std::max(x[0].high, x[1].high)};
      })
      .Case([&](NegOp) -> Result { return {-x[0].high, -x[0].low}; })
      .Case([&](ScaleOp scale) {
        auto factor = static_cast<float>(scale.getFactor().convertToDouble());
        return product(x[0], {factor, factor});
      })
      .Case([&](ClampOp clamp) { return clamped(clamp, x[0]); })
      .Case(
          [&](ContractOp contract) { return contracted(contract, x[0], x[1]); })
      .Case([&](ExpOp) { return applied(std::exp); })
      .Case([&](LogOp) { return x[0].low < 0 ? kAny : applied(std::log); })
      .Case([&](SqrtOp) {
        return x[0].low < 0 ? Bounds{0, kInfinity} : applied(std::sqrt);
      })
      .Case([&](TanhOp) { return applied(std::tanh); })
      .Case([](SigmoidOp) -> Result { return {0, 1}; })
      .Case([](LogSigmoidOp) -> Result { return {-kInfinity, 0}; })
      .Case([](SoftplusOp) -> Result { return {0, kInfinity}; })
      .Case([](SiluOp) -> Result { return {kLeastSilu, kInfinity}; })
      .Case<GeluOp, GeluTanhOp>(
          [](auto) -> Result { return {kLeastGelu, kInfinity}; })
      .Case([&](ReluOp) -> Result {
        return {std::max(x[0].low, 0.0f), std::max(x[0].high, 0.0f)};
      })
      .Case([&](AbsOp) -> Result {
        float most = std::max(std::fabs(x[0].low), std::fabs(x[0].high));
        float least = x[0].low > 0 ? x[0].low : x[0].high < 0 ? -x[0].high : 0;
        return {least, most};
      })
      .Case<CosOp, SinOp>([](auto) -> Result { return {-1, 1}; })
      .Default([](Operation *) { return kAny; });
}

StepBounds::StepBounds(Block &body) {
  for (Operation &op : body.without_terminator()) {
    SmallVector<Bounds> operands = llvm::map_to_vector(
        op.getOperands(), [&](Value operand) { return of(operand); });
    Bounds bounds = boundsOf(&op, operands);
    if (auto add = dyn_cast<AddOp>(op))
      bounds = ofMean(add).value_or(bounds);
    for (Value result : op.getResults())
      known[result] = bounds;
  }
}

Bounds StepBounds::of(Value value) const {
  auto found = known.find(value);
  return found == known.end() ? kAny : found->second;
}

bool StepBounds::isShare(Value value) const {
  Bounds bounds = of(value);
  return bounds.low >= 0 && bounds.high <= 1;
}

} // namespace effc::seq
