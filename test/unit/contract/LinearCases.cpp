#include "test/unit/contract/LinearCases.h"
#include "test/unit/contract/WrittenBodies.h"

#include <cctype>
#include <cmath>

using effc::seq::reference::Tensor;

namespace effc::test {

int64_t pick(Random &random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}
double pickReal(Random &random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

int64_t Extents::operator[](char letter) const {
  switch (std::toupper(letter)) {
  case 'T':
    return T;
  case 'H':
    return H;
  case 'G':
    return G;
  case 'K':
    return K;
  case 'V':
    return V;
  default:
    return 1;
  }
}

std::vector<int64_t> Extents::of(const std::string &letters) const {
  std::vector<int64_t> shape;
  for (char letter : letters)
    shape.push_back((*this)[letter]);
  return shape;
}

std::string Extents::text() const {
  std::string text = "T,H,G,K,V = ";
  for (char letter : std::string("THGKV"))
    text += std::to_string((*this)[letter]) + (letter == 'V' ? "" : ",");
  return text;
}

std::string tensorType(const std::vector<int64_t> &shape,
                       const std::string &element) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += (extent == 0 ? "?" : std::to_string(extent)) + "x";
  return text + element + ">";
}

Tensor<double> LinearOperand::pickTensor(Random &random, Gates gates,
                                         const Extents &extents) const {
  Tensor<double> tensor(extents.of(letters));
  for (double &element : tensor.elements())
    element = draw(random, gates);
  if (unitLength) {
    int64_t channels = tensor.getShape().back();
    for (int64_t first = 0; first < tensor.size(); first += channels) {
      auto vector = tensor.elements().slice(first, channels);
      double squares = 0;
      for (double element : vector)
        squares += element * element;
      for (double &element : vector)
        element /= std::sqrt(squares);
    }
  }
  for (double &element : tensor.elements())
    element = float(element);
  return tensor;
}

std::string LinearCase::title() const {
  return variant.empty() ? name : name + "_" + variant;
}

std::vector<const LinearOperand *> LinearCase::operands() const {
  std::vector<const LinearOperand *> all;
  for (const auto *list : {&tokens, &parameters, &states})
    for (const LinearOperand &operand : *list)
      all.push_back(&operand);
  return all;
}

std::string LinearCase::resultTypes(const Extents &extents) const {
  std::string types = tensorType(extents.of("THV"));
  for (const LinearOperand &state : states)
    types += ", " + tensorType(extents.of(state.letters));
  return types;
}

// seq.recurrence, its arguments named as the operands are.
static std::string recurrenceText(const LinearCase &mixer,
                                  const Extents &extents) {
  std::string text =
      "%r:" + std::to_string(1 + mixer.states.size()) + " = seq.recurrence";
  int index = 0;
  for (auto [keyword, list] : {std::pair(" tokens", &mixer.tokens),
                               {" parameters", &mixer.parameters},
                               {" states", &mixer.states}}) {
    text += std::string(keyword) + "(";
    for (const LinearOperand &operand : *list)
      text += (&operand == list->data() ? "%" : ", %") + operand.name +
              " = %a" + std::to_string(index++) + " : " +
              tensorType(extents.of(operand.letters), operand.element());
    text += ")";
  }
  text += " -> (" + tensorType(extents.of("THV")) + "), (";
  for (const LinearOperand &state : mixer.states)
    text += (&state == mixer.states.data() ? "" : ", ") +
            tensorType(extents.of(state.letters));
  return text + ") {\n" + mixer.body(extents) + "}";
}

std::string LinearCase::opText(const Extents &extents) const {
  if (body)
    return recurrenceText(*this, extents);
  std::string names, types;
  for (size_t i = 0; i < operands().size(); ++i) {
    names += (i ? ", %a" : "%a") + std::to_string(i);
    types += (i ? ", " : "") + tensorType(extents.of(operands()[i]->letters),
                                          operands()[i]->element());
  }
  return "%r:" + std::to_string(1 + states.size()) + " = \"seq." + name +
         "\"(" + names + ") {" + attributes + "} : (" + types + ") -> (" +
         resultTypes(extents) + ")";
}

//===- draws --------------------------------------------------------------===//

namespace {

double normal(Random &random, Gates) { return pickReal(random, -1, 1); }
double positive(Random &random, Gates) { return pickReal(random, 0.1, 1); }

auto between(double low, double high) {
  return [=](Random &random, Gates) { return pickReal(random, low, high); };
}

/// Minus a log-decay.
double pickDecay(Random &random, Gates gates) {
  double mild = pickReal(random, 0.01, 1);
  if (gates == Gates::Mild)
    return mild;
  return std::array{0.0, mild, mild, 2.0, 20.0, 1e4}[pick(random, 0, 5)];
}
double logDecay(Random &random, Gates gates) {
  return -pickDecay(random, gates);
}

/// The number whose softplus is `y`; far below where that rounds to 0.
double beforeSoftplus(double y) {
  return y == 0 ? -2000 : y > 30 ? y : std::log(std::expm1(y));
}

/// The gate whose log sigmoid, over `temperature`, is a log-decay.
auto sigmoidGate(double temperature) {
  return [=](Random &random, Gates gates) {
    return -beforeSoftplus(pickDecay(random, gates) * temperature);
  };
}

/// Time steps before softplus, with no or a small bias.
double timeStep(Random &random, Gates gates) {
  return beforeSoftplus(pickDecay(random, gates));
}

/// Time steps that also scale what is written, before softplus. With rates of
/// pickDecay, log-decays from 0 to -2e5 meet in a chunk.
double writingStep(Random &random, Gates gates) {
  if (gates == Gates::Mild)
    return pickReal(random, -4, 1);
  double mild = pickReal(random, 0.01, 1);
  return beforeSoftplus(
      std::array{0.0, 1e-4, mild, mild, 2.0, 20.0}[pick(random, 0, 5)]);
}
/// The logarithm of a rate of decay.
double logRate(Random &random, Gates gates) {
  double decay = pickDecay(random, gates);
  return decay == 0 ? -2000 : std::log(decay);
}

/// Forget gates of a lower bound: from wide open to shut.
double forgetGate(Random &random, Gates gates) {
  double mild = pickReal(random, -3, 3);
  if (gates == Gates::Mild)
    return mild;
  return std::array{mild, mild, 20.0, -20.0, 90.0}[pick(random, 0, 4)];
}
double lowerBound(Random &random, Gates) {
  return std::array{0.0, 0.25, 0.9}[pick(random, 0, 2)];
}

LinearOperand operand(std::string name, std::string letters,
                      std::function<double(Random &, Gates)> draw = normal) {
  return {std::move(name), std::move(letters), std::move(draw)};
}
LinearOperand unit(std::string name, std::string letters) {
  return {std::move(name), std::move(letters), normal, /*unitLength=*/true};
}

/// Which of an op's operands are there.
std::string segments(const std::string &sizes) {
  return "operandSegmentSizes = array<i32: " + sizes + ">";
}

/// A sequence now and then begins among the tokens.
LinearOperand positions() {
  return {"positions", "T",
          [](Random &random, Gates) { return pick(random, 0, 3); },
          /*unitLength=*/false, /*isPositions=*/true};
}

} // namespace

const std::vector<LinearCase> &linearCases() {
  static const std::string scale = "scale = 0.5 : f64";
  // Which of the optional gates are there.
  static const std::string keyGate = ", " + segments("1, 1, 1, 1, 0, 1");
  static const std::string valueGate = ", " + segments("1, 1, 1, 0, 1, 1");
  static const std::string bothGates = ", " + segments("1, 1, 1, 1, 1, 1");
  static const LinearOperand matrix = operand("state", "HKV");
  static const LinearOperand vector = operand("state", "H1V");
  static const std::vector<LinearOperand> grouped = {
      operand("q", "TGK"), operand("k", "TGK"), operand("v", "THV")};
  static const std::vector<LinearOperand> positiveKeys = {
      operand("q", "TGK", positive), operand("k", "TGK", positive),
      operand("v", "THV")};
  static const std::vector<LinearOperand> own = {
      operand("q", "THK"), operand("k", "THK"), operand("v", "THV")};
  static const std::vector<LinearOperand> corrected = {
      operand("q", "TGK"), unit("k", "TGK"), operand("v", "THV"),
      operand("beta", "TH", between(0, 2))};
  auto with = [](std::vector<LinearOperand> list,
                 std::vector<LinearOperand> more) {
    list.insert(list.end(), more.begin(), more.end());
    return list;
  };
  static const std::vector<LinearCase> cases = {
      {.name = "linear_attention",
       .tokens = grouped,
       .states = {matrix},
       .attributes = scale,
       .grouped = true},
      {.name = "normalised_attention",
       .tokens = positiveKeys,
       .states = {matrix, operand("sum", "HK", positive)},
       .attributes = scale + ", eps = 1.0e-6 : f64",
       .grouped = true},
      {.name = "normalised_rotary",
       .tokens = {operand("turned_q", "TGK"), operand("turned_k", "TGK"),
                  operand("q", "TGK", positive), operand("k", "TGK", positive),
                  operand("v", "THV"), operand("dt", "TH", timeStep)},
       .parameters = {operand("a_log", "H", between(-1, 1)),
                      operand("dt_bias", "H", between(-0.5, 0.5))},
       .states = {matrix, operand("sum", "HK", positive)},
       .attributes = "eps = 1.0e-6 : f64",
       .grouped = true},
      {.name = "dynamic_mask_linear",
       .tokens = with(grouped, {operand("delta", "TH", positive)}),
       .states = {matrix},
       .grouped = true},
      {.name = "retention",
       .tokens = grouped,
       .parameters = {operand("log_decay", "H", logDecay)},
       .states = {matrix},
       .attributes = scale,
       .grouped = true},
      {.name = "gated_retention",
       .tokens = with(grouped, {operand("gate", "TH", sigmoidGate(4))}),
       .states = {matrix},
       .attributes = scale + ", temperature = 4.0 : f64",
       .grouped = true},
      // The read-out divides by the normaliser's reading: queries and keys that
      // are positive keep the quotient well conditioned.
      {.name = "mlstm",
       .tokens = with(positiveKeys, {operand("input", "TH", between(-8, 15)),
                                     operand("forget", "TH", sigmoidGate(1))}),
       .states = {matrix, operand("sum", "HK"), operand("maximum", "H")},
       .attributes = scale + ", eps = 1.0e-6 : f64",
       .grouped = true},
      {.name = "gated_linear_attention",
       .tokens = with(own, {operand("gate", "THK", sigmoidGate(16))}),
       .states = {matrix},
       .attributes = scale + keyGate},
      {.name = "gated_linear_attention",
       .variant = "value_gate",
       .tokens = with(own, {operand("gate", "THV", sigmoidGate(16))}),
       .states = {matrix},
       .attributes = scale + valueGate},
      {.name = "gated_linear_attention",
       .variant = "both_gates",
       .tokens = with(own, {operand("key_gate", "THK", sigmoidGate(2)),
                            operand("value_gate", "THV", sigmoidGate(2))}),
       .states = {matrix},
       .attributes = scale + ", temperature = 2.0 : f64" + bothGates},
      {.name = "hgrn2",
       .tokens = {operand("q", "THK"), operand("forget", "THK", forgetGate),
                  operand("v", "THV")},
       .parameters = {operand("lower_bound", "HK", lowerBound)},
       .states = {matrix},
       .attributes = scale},
      {.name = "rodimus",
       .tokens = with(own, {operand("select", "THK", timeStep),
                            operand("temper", "THK", between(-3, 3)),
                            operand("x", "THV")}),
       .parameters = {operand("d", "HV")},
       .states = {matrix},
       .attributes = scale},
      {.name = "rwkv6",
       .tokens = with(own, {operand("w", "THK", logRate)}),
       .parameters = {operand("u", "HK")},
       .states = {matrix}},
      {.name = "delta_rule",
       .tokens = corrected,
       .states = {matrix},
       .attributes = scale,
       .grouped = true,
       .hasScan = false},
      {.name = "gated_delta_rule",
       .tokens = with(corrected, {operand("a", "TH", timeStep)}),
       .parameters = {operand("a_log", "H", between(-1, 1)),
                      operand("dt_bias", "H", between(-0.5, 0.5))},
       .states = {matrix},
       .attributes = scale,
       .grouped = true,
       .hasScan = false},
      {.name = "kimi_delta_attention",
       .tokens = with(corrected, {operand("f", "THK", timeStep)}),
       .parameters = {operand("a_log", "H", between(-1, 1)),
                      operand("dt_bias", "HK", between(-0.5, 0.5))},
       .states = {matrix},
       .attributes = scale,
       .grouped = true,
       .hasScan = false},
      {.name = "rwkv7",
       .tokens = {operand("r", "THK"), operand("w", "THK", between(-6, 6)),
                  operand("k", "THK"), operand("v", "THV"), unit("kk", "THK"),
                  operand("a", "THK", between(0, 1))},
       .states = {matrix},
       .hasScan = false},
      {.name = "selective_scan",
       .tokens = {operand("x", "THV"), operand("dt", "THV", writingStep),
                  operand("b", "TGK"), operand("c", "TGK")},
       .parameters = {operand("a_log", "HKV", logRate),
                      operand("dt_bias", "HV", between(-0.5, 0.5)),
                      operand("d", "HV")},
       .states = {matrix},
       .grouped = true},
      {.name = "ssd",
       .tokens = {operand("x", "THV"), operand("dt", "TH", writingStep),
                  operand("b", "TGK"), operand("c", "TGK")},
       .parameters = {operand("a_log", "H", logRate), operand("dt_bias", "H"),
                      operand("d", "H")},
       .states = {matrix},
       .grouped = true},
      {.name = "hgrn",
       .tokens = {operand("x", "THV"), operand("forget", "THV", forgetGate)},
       .parameters = {operand("lower_bound", "HV", lowerBound)},
       .states = {vector},
       .oneKey = true},
      {.name = "rg_lru",
       .tokens = {operand("x", "THV"), operand("recurrence", "THV", forgetGate),
                  operand("input", "THV", forgetGate), positions()},
       .parameters = {operand("rate", "HV", timeStep)},
       .states = {vector},
       .oneKey = true},
      // The phase of a mode after 130 tokens is good to 130 roundings of its
      // angle: angles of at most a radian keep that below the tolerance.
      {.name = "s4d",
       .tokens = {operand("x", "THV")},
       .parameters = {operand("log_dt", "HV", between(-4, -1)),
                      operand("log_a", "HKV", logRate),
                      operand("a_imaginary", "HKV", between(0.2, 2.7)),
                      operand("c", "HKV"), operand("c_imaginary", "HKV"),
                      operand("d", "HV")},
       .states = {matrix, operand("state_imaginary", "HKV")}},
      {.name = "structured_recurrence",
       .tokens = {operand("x", "THV"), operand("source", "TH"),
                  operand("target", "TH"), operand("bias", "TH")},
       .parameters = {operand("log_decay", "H", logDecay)},
       .states = {vector},
       .attributes = segments("1, 1, 1, 1, 0, 1, 1"),
       .oneKey = true},
      {.name = "structured_recurrence",
       .variant = "rows_by_root",
       .tokens = {operand("x", "THV"), operand("source", "TH"),
                  operand("bias", "TH")},
       .parameters = {operand("log_decay", "H", between(0.8, 1.1))},
       .states = {vector},
       .attributes = segments("1, 1, 0, 1, 0, 1, 1") + ", root = 2 : i64",
       .oneKey = true},
      {.name = "structured_recurrence",
       .variant = "headless",
       .tokens = {operand("x", "THV"), operand("target", "TH"),
                  operand("bias", "TH")},
       .states = {vector},
       .attributes = segments("1, 0, 1, 1, 0, 0, 1"),
       .oneKey = true},
      {.name = "structured_recurrence",
       .variant = "diagonal",
       .tokens = {operand("x", "THV"), operand("source", "TH"),
                  operand("target", "TH"), operand("diagonal", "TH")},
       .parameters = {operand("log_decay", "H", logDecay)},
       .states = {vector},
       .attributes = segments("1, 1, 1, 0, 1, 1, 1"),
       .oneKey = true},
      {.name = "rwkv4",
       .tokens = {operand("k", "THV", between(-6, 6)), operand("v", "THV")},
       .parameters = {operand("w", "HV", logDecay), operand("u", "HV")},
       .states = {vector, operand("sum", "H1V", positive),
                  operand("maximum", "HV")},
       .oneKey = true},
      {.name = "written_corrected",
       .tokens = {operand("q", "THK"), unit("k", "THK"), operand("v", "THV"),
                  unit("p", "THK"), operand("beta", "TH", between(0, 1)),
                  operand("f", "TH", sigmoidGate(1)),
                  operand("d", "THK", logDecay), operand("g", "THV")},
       .states = {matrix},
       .body = correctedBody,
       .hasScan = false},
      {.name = "written_echo",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("g", "THV", sigmoidGate(1))},
       .parameters = {operand("w", "H")},
       .states = {matrix},
       .body = echoBody},
      {.name = "written_mixed_decays",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("f", "TH", timeStep),
                  operand("g", "THK", sigmoidGate(1)),
                  operand("d", "THK", logDecay)},
       .states = {matrix},
       .body = mixedDecaysBody},
      {.name = "written_levelled",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("f", "THKV", sigmoidGate(1))},
       .states = {matrix},
       .body = levelledBody,
       .hasTiles = false},
      {.name = "written_turned",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("f", "TH", sigmoidGate(1))},
       .parameters = {operand("w", "HKK", between(-0.5, 0.5))},
       .states = {matrix},
       .body = turnedBody,
       .hasTiles = false},
      // What is read is divided by what is read of the sum: positive, as above.
      {.name = "written_averaged",
       .tokens = {operand("q", "THK", positive), operand("k", "THK", positive),
                  operand("v", "THV"), operand("f", "TH", sigmoidGate(1))},
       .states = {matrix, operand("sum", "HK", positive)},
       .body = averagedBody},
      {.name = "written_measured",
       .tokens = {operand("q", "THK"), unit("k", "THK"), operand("v", "THV"),
                  operand("m", "THK", positive), operand("d", "THK", logDecay)},
       .states = {matrix, operand("sum", "HK", positive)},
       .body = measuredBody,
       .hasScan = false},
      {.name = "written_shifted",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("f", "TH", sigmoidGate(1))},
       .parameters = {operand("mix", "HK", between(0, 1))},
       .states = {operand("last", "HK"), matrix},
       .body = shiftedBody},
      {.name = "written_chained",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("f", "TH", sigmoidGate(1))},
       .states = {operand("near", "HKV"), operand("far", "HKV")},
       .body = chainedBody},
      {.name = "written_mirrored",
       .tokens = {operand("x", "THK"), operand("f", "TH", sigmoidGate(1))},
       .states = {matrix},
       .body = mirroredBody,
       .square = true},
  };
  return cases;
}

} // namespace effc::test
