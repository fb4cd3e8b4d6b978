#include "test/unit/contract/LinearDraws.h"

#include <array>
#include <cmath>

namespace effc::test {

double normal(Random &random, Gates) { return pickReal(random, -1, 1); }
double positive(Random &random, Gates) { return pickReal(random, 0.1, 1); }

Draw between(double low, double high) {
  return [=](Random &random, Gates) { return pickReal(random, low, high); };
}

/// Minus a log-decay.
static double pickDecay(Random &random, Gates gates) {
  double mild = pickReal(random, 0.01, 1);
  if (gates == Gates::Mild)
    return mild;
  return std::array{0.0, mild, mild, 2.0, 20.0, 1e4}[pick(random, 0, 5)];
}
double logDecay(Random &random, Gates gates) {
  return -pickDecay(random, gates);
}

/// The number whose softplus is `y`; far below where that rounds to 0.
static double beforeSoftplus(double y) {
  return y == 0 ? -2000 : y > 30 ? y : std::log(std::expm1(y));
}

Draw sigmoidGate(double temperature) {
  return [=](Random &random, Gates gates) {
    return -beforeSoftplus(pickDecay(random, gates) * temperature);
  };
}

double timeStep(Random &random, Gates gates) {
  return beforeSoftplus(pickDecay(random, gates));
}

double writingStep(Random &random, Gates gates) {
  if (gates == Gates::Mild)
    return pickReal(random, -4, 1);
  double mild = pickReal(random, 0.01, 1);
  return beforeSoftplus(
      std::array{0.0, 1e-4, mild, mild, 2.0, 20.0}[pick(random, 0, 5)]);
}

double logRate(Random &random, Gates gates) {
  double decay = pickDecay(random, gates);
  return decay == 0 ? -2000 : std::log(decay);
}

double forgetGate(Random &random, Gates gates) {
  double mild = pickReal(random, -3, 3);
  if (gates == Gates::Mild)
    return mild;
  return std::array{mild, mild, 20.0, -20.0, 90.0}[pick(random, 0, 4)];
}
double lowerBound(Random &random, Gates) {
  return std::array{0.0, 0.25, 0.9}[pick(random, 0, 2)];
}

double beforeTanh(Random &random, Gates gates) {
  double mild =
      std::copysign(pickReal(random, 0.5, 3), pickReal(random, -1, 1));
  if (gates == Gates::Mild)
    return mild;
  return std::array{mild, mild, 0.0, 1e-30, 1e-3, -40.0}[pick(random, 0, 5)];
}

LinearOperand operand(std::string name, std::string letters, Draw draw) {
  return {std::move(name), std::move(letters), std::move(draw)};
}
LinearOperand unit(std::string name, std::string letters) {
  return {std::move(name), std::move(letters), normal, /*unitLength=*/true};
}
LinearOperand positions() {
  return {"positions", "T",
          [](Random &random, Gates) { return pick(random, 0, 3); },
          /*unitLength=*/false, /*isPositions=*/true};
}

LinearCase signedCase(std::string op,
                      llvm::ArrayRef<seq::OperandSignature> signature,
                      const std::vector<OperandDraw> &draws, LinearCase more) {
  std::string segments;
  bool hasOptional = false;
  size_t found = 0;
  for (const seq::OperandSignature &each : signature) {
    auto draw = llvm::find_if(
        draws, [&](const OperandDraw &draw) { return draw.name == each.name; });
    bool isDrawn = draw != draws.end(), isThere = isDrawn || !each.isOptional;
    found += isDrawn;
    hasOptional |= each.isOptional;
    segments += (segments.empty() ? "" : ", ") + std::to_string(isThere);
    if (!isThere)
      continue;
    LinearOperand made = operand(each.name.str(), each.letters.str());
    if (each.letters == "T")
      made = positions();
    else if (isDrawn)
      std::tie(made.draw, made.unitLength) =
          std::pair(draw->draw, draw->unitLength);
    (each.role == seq::OperandRole::Token       ? more.tokens
     : each.role == seq::OperandRole::Parameter ? more.parameters
                                                : more.states)
        .push_back(made);
    more.grouped |= each.letters.contains('G');
    more.oneKey |= each.letters.contains('1');
  }
  if (found != draws.size())
    llvm::report_fatal_error("a draw of 'seq." + llvm::Twine(op) +
                             "' names no operand");
  if (hasOptional)
    more.attributes += (more.attributes.empty() ? "" : ", ") +
                       ("operandSegmentSizes = array<i32: " + segments + ">");
  more.name = std::move(op);
  return more;
}

} // namespace effc::test
