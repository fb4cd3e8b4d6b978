// The recurrences of the explicit layout: a table of them, and how a
// configuration says where the operands of each come from.
#include "frontend/families/ExplicitRecurrence.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::StringRef;
using llvm::Twine;
using mlir::Value;

template <typename Op>
static constexpr Recurrence
recurrence(llvm::StringLiteral name, StringRef numbers = "",
           StringRef positioned = "", StringRef ruled = "") {
  return {name, Op::getOperationName(), Op::getSignature, numbers, positioned,
          ruled};
}

static constexpr Recurrence kRecurrences[] = {
    recurrence<seq::LinearAttentionOp>("linear_attention", "+scale", "q k"),
    recurrence<seq::NormalisedAttentionOp>("normalised_attention",
                                           "+scale eps=1e-10", "q k"),
    recurrence<seq::NormalisedRotaryOp>("normalised_rotary", "eps=1e-10",
                                        "turned_q=q turned_k=k"),
    recurrence<seq::DynamicMaskLinearOp>("dynamic_mask_linear", "", "q k"),
    recurrence<seq::RetentionOp>("retention", "+scale", "q k", "log_decay"),
    recurrence<seq::GatedRetentionOp>("gated_retention",
                                      "+scale +temperature=16", "q k"),
    recurrence<seq::GatedLinearAttentionOp>("gla", "+scale +temperature=16",
                                            "q k"),
    recurrence<seq::HgrnOp>("hgrn"),
    recurrence<seq::Hgrn2Op>("hgrn2", "+scale"),
    recurrence<seq::SsdOp>("ssd", "dt_min? +dt_max?", "b c"),
    recurrence<seq::SelectiveScanOp>("mamba"),
    recurrence<seq::RodimusOp>("rodimus", "+scale", "q k"),
    recurrence<seq::DeltaRuleOp>("delta_rule", "+scale", "q k"),
    recurrence<seq::GatedDeltaRuleOp>("gated_delta_rule", "+scale", "q k"),
    recurrence<seq::GatedDeltaRule2Op>("gated_delta_rule_2", "+scale", "q k"),
    recurrence<seq::KimiDeltaAttentionOp>("kda", "+scale", "q k"),
    recurrence<seq::Rwkv6Op>("rwkv6"),
    recurrence<seq::Rwkv7Op>("rwkv7"),
    recurrence<seq::MlstmOp>("mlstm", "+scale eps=1e-6", "q k"),
    recurrence<seq::S4dOp>("s4d"),
    recurrence<seq::RgLruOp>("rg_lru", "+exponent=8"),
    {"momentum_delta_rule", "", getMomentumSignature,
     "+scale eps=1e-6 +tau=1 most_loss=1e9", "", "", writeMomentumStep},
};

static llvm::SmallVector<StringRef> wordsOf(StringRef list) {
  llvm::SmallVector<StringRef> words;
  list.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return words;
}

llvm::SmallVector<Symbol> effc::frontend::symbolsOf(const Recurrence &kind,
                                                    seq::OperandRole role) {
  llvm::SmallVector<Symbol> symbols;
  for (const seq::OperandSignature &operand : kind.getSignature()) {
    if (operand.role != role)
      continue;
    Symbol symbol{operand.name, operand.letters};
    if (role == seq::OperandRole::Token)
      symbol.letters = symbol.letters.drop_front();
    symbol.isOptional = operand.isOptional;
    symbol.isPositions =
        role == seq::OperandRole::Token && symbol.letters.empty();
    symbol.mayFollowRule = operand.name == kind.ruled;
    for (StringRef word : wordsOf(kind.positioned)) {
      auto [name, used] = word.split('=');
      if (name != operand.name)
        continue;
      symbol.learnsPositions = true;
      symbol.isSecondUse = !used.empty();
      if (symbol.isSecondUse)
        symbol.name = used;
    }
    symbols.push_back(symbol);
  }
  return symbols;
}

/// An operand of the role has the letter.
static bool hasLetter(const Recurrence &kind, seq::OperandRole role,
                      char letter) {
  return llvm::any_of(kind.getSignature(), [&](const auto &operand) {
    return operand.role == role && operand.letters.contains(letter);
  });
}

int64_t effc::frontend::countOf(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

static From readFrom(ConfigReader &reader) {
  return From(
      readName(reader, "from", {"token", "inner", "convolved", "tensor"}, 0));
}

/// `heads`: of a projection to heads of keys.
static Projection readProjection(ConfigReader &reader, bool heads = false) {
  Projection projection;
  projection.from = readFrom(reader);
  projection.rank =
      reader.getIntegerIfSet("rank", 1, kMostDimension).value_or(0);
  projection.bias = reader.getBoolean("bias", false);
  projection.feature = readFeature(reader, "activation", heads);
  return projection;
}

static std::optional<Projection> readGate(PartInput &in) {
  std::optional<Projection> gate;
  readInner(in, "gate",
            [&](PartInput &inner) { gate = readProjection(inner.reader); });
  return gate;
}

static RecurrentOperand readOperand(PartInput &in, Symbol symbol) {
  RecurrentOperand operand(symbol);
  bool said = readInner(in, symbol.name, [&](PartInput &inner) {
    ConfigReader &reader = inner.reader;
    operand.value = reader.getNumberIfSet("value", -1e30, 1e30);
    if (operand.value)
      return reader.expectNone({"from", "project", "rank", "bias", "blocks",
                                "convolution", "convolution_bias", "activation",
                                "gate", "unit"},
                               "where 'value' is given");
    bool heads = symbol.letters == "GK" || symbol.letters == "HK";
    operand.projection = readProjection(reader, heads);
    if (operand.projection.from == From::Tensor)
      return reader.expectNone({"project", "rank", "bias", "blocks",
                                "convolution", "convolution_bias", "activation",
                                "gate", "unit"},
                               "where 'from' is \"tensor\"");
    operand.projects = reader.getBoolean("project", true);
    operand.blocks = reader.getBoolean("blocks", false);
    operand.taps = reader.getIntegerIfSet("convolution", 2, 64).value_or(0);
    operand.tapsBias = reader.getBoolean("convolution_bias", false);
    if (operand.blocks)
      reader.expectNone({"rank"}, "where 'blocks' is true");
    if (operand.blocks && !operand.projects)
      reader.report("expects 'project' to be true where 'blocks' is true, but "
                    "got false");
    if (!operand.projects)
      reader.expectNone({"rank", "bias"}, "where 'project' is false");
    if (operand.taps == 0)
      reader.expectNone({"convolution_bias"}, "without 'convolution'");
    operand.gate = readGate(inner);
    readInner(inner, "unit", [&](PartInput &unit) {
      size_t kind =
          readName(unit.reader, "kind", {"sum_square", "max_length"}, 0);
      operand.measure =
          kind == 0 ? seq::NormMeasure::SumSquare : seq::NormMeasure::MaxLength;
      operand.unit.emplace();
      operand.unit->epsilon =
          unit.reader.getNumber("eps", 0, 1, kind == 0 ? 1e-6 : 1e-12);
    });
  });
  operand.present = said || !symbol.isOptional;
  return operand;
}

static RecurrentParameter readParameter(PartInput &in, Symbol symbol) {
  RecurrentParameter parameter{symbol, std::nullopt, std::nullopt};
  readInner(in, symbol.name, [&](PartInput &inner) {
    parameter.value = inner.reader.getNumberIfSet("value", -1e30, 1e30);
    if (!symbol.mayFollowRule)
      inner.reader.expectNone({"rule"}, "of a parameter that no rule gives");
    else if (parameter.value)
      inner.reader.expectNone({"rule"}, "where 'value' is given");
    else if (inner.reader.get("rule"))
      parameter.rule =
          seq::DecayRule(readName(inner.reader, "rule", {"retention"}, 0));
  });
  return parameter;
}

static void readNumbers(PartInput &in, RecurrentMixer &mixer) {
  for (StringRef word : wordsOf(mixer.kind->numbers)) {
    auto [name, text] = word.split('=');
    bool optional = name.consume_back("?"), positive = name.consume_front("+");
    std::optional<double> number =
        in.reader.getNumberIfSet(name, positive ? 1e-9 : 0, 1e9);
    double otherwise = 1 / std::sqrt(double(mixer.dims['K']));
    if (!text.empty())
      (void)text.getAsDouble(otherwise);
    if (number || !optional)
      mixer.numbers.emplace_back(name.str(), number.value_or(otherwise));
  }
}

static void readInnerToken(PartInput &in, RecurrentMixer &mixer) {
  readInner(in, "inner", [&](PartInput &inner) {
    ConfigReader &reader = inner.reader;
    mixer.inner.width = reader.requireInteger("width", 1, kMostDimension);
    mixer.inner.bias = reader.getBoolean("bias", false);
    mixer.inner.taps = reader.getIntegerIfSet("convolution", 2, 64).value_or(0);
    mixer.inner.tapsBias = reader.getBoolean("convolution_bias", true);
    if (mixer.inner.taps == 0)
      reader.expectNone({"convolution_bias"}, "without 'convolution'");
    mixer.inner.feature = readFeature(reader, "activation");
  });
}

static void readOutput(PartInput &in, RecurrentMixer &mixer) {
  RecurrentOutput &output = mixer.output;
  readInner(in, "output", [&](PartInput &inner) {
    ConfigReader &reader = inner.reader;
    output.gate = readGate(inner);
    output.gateFirst = reader.getBoolean("gate_before_norm", false);
    output.norm = readNorm(inner, "norm", output.norm);
    output.groups = reader.getInteger("groups", 1, kMostDimension, 1);
    output.feature = readFeature(reader, "activation");
    output.projects = reader.getBoolean("project", true);
    output.bias = reader.getBoolean("bias", false);
    output.glu = reader.getBoolean("glu", false);
    if (!output.gate || !output.norm.present)
      reader.expectNone({"gate_before_norm"}, "without 'gate' and 'norm'");
    if (!output.norm.present)
      reader.expectNone({"groups"}, "without 'norm'");
    if (!output.projects)
      reader.expectNone({"bias", "glu"}, "where 'project' is false");
    readInner(inner, "feed",
              [&](PartInput &feed) { output.feed = readFrom(feed.reader); });
  });
  int64_t width = mixer.dims['H'] * mixer.dims['V'];
  if (!in.reader.hasProblem() && width % output.groups != 0)
    in.reader.report("expects 'groups' of the output to divide its " +
                     Twine(width) + " channels, but got " +
                     Twine(output.groups));
  if (!in.reader.hasProblem() && !output.projects && width != in.width)
    in.reader.report("expects the output's " + Twine(in.width) +
                     " channels where 'project' is false, but got " +
                     Twine(width));
}

/// The channels of what `from` names; 0 where it is not there.
static int64_t widthOf(const PartInput &in, const RecurrentMixer &mixer,
                       From from) {
  switch (from) {
  case From::Token:
    return in.width;
  case From::Inner:
    return mixer.inner.width;
  case From::Convolved:
    return mixer.inner.taps ? mixer.inner.width : 0;
  case From::Tensor:
    return -1;
  }
  llvm_unreachable("every source is listed");
}

/// What operands say has to be there, and of the right size; what is there has
/// to be read.
static void checkSources(PartInput &in, const RecurrentMixer &mixer) {
  bool readsInner = false, readsConvolved = false;
  auto check = [&](StringRef who, From from, int64_t exactly) {
    readsInner |= from == From::Inner;
    readsConvolved |= from == From::Convolved;
    int64_t width = widthOf(in, mixer, from);
    if (width == 0)
      in.reader.report("expects 'inner' with a width, and a convolution where "
                       "'from' is \"convolved\", for " +
                       quote(who) + ", but got none");
    else if (exactly > 0 && width > 0 && width != exactly)
      in.reader.report("expects " + Twine(exactly) + " channels for " +
                       quote(who) + ", which is not projected, but got " +
                       Twine(width));
  };
  // A tensor of the same numbers for every token is an operand of its own.
  auto checkMade = [&](StringRef who, From from, int64_t exactly) {
    if (from != From::Tensor)
      return check(who, from, exactly);
    in.reader.report("expects 'from' to be \"token\", \"inner\" or "
                     "\"convolved\" for what is made of " +
                     quote(who) + ", but got \"tensor\"");
  };
  for (const RecurrentOperand &operand : mixer.operands) {
    if (!operand.present || operand.value || !operand.symbol.isRead())
      continue;
    llvm::SmallVector<int64_t> shape = mixer.shapeOf(operand.symbol.letters);
    int64_t size = countOf(shape);
    check(operand.symbol.name, operand.projection.from,
          operand.projects ? 0 : size);
    if (operand.gate)
      checkMade(operand.symbol.name, operand.gate->from, 0);
    if (operand.blocks &&
        widthOf(in, mixer, operand.projection.from) % shape[0] != 0)
      in.reader.report("expects the heads of " + quote(operand.symbol.name) +
                       " to divide the channels of which it has blocks, but "
                       "got " +
                       Twine(shape[0]));
  }
  if (mixer.output.gate)
    checkMade("gate", mixer.output.gate->from, 0);
  if (mixer.output.feed)
    checkMade("feed", *mixer.output.feed,
              mixer.dims.at('H') * mixer.dims.at('V'));
  if (mixer.inner.taps && !readsConvolved)
    in.reader.report("expects a 'from' that is \"convolved\" where 'inner' has "
                     "a convolution of " +
                     Twine(mixer.inner.taps) + " taps, but got none");
  if (mixer.inner.width && !readsInner && !readsConvolved)
    in.reader.report("expects a 'from' that is \"inner\" or \"convolved\" "
                     "where there is an 'inner' of width " +
                     Twine(mixer.inner.width) + ", but got none");
}

static RecurrentMixer readMixer(PartInput &in, const Recurrence &kind) {
  ConfigReader &reader = in.reader;
  RecurrentMixer mixer;
  mixer.kind = &kind;
  mixer.dims['H'] = reader.requireInteger("heads", 1, kMostDimension);
  mixer.dims['V'] = reader.requireInteger("values", 1, kMostDimension);
  mixer.dims['K'] = 1;
  if (hasLetter(kind, seq::OperandRole::State, 'K'))
    mixer.dims['K'] = reader.requireInteger("keys", 1, kMostDimension);
  mixer.dims['G'] = mixer.dims['H'];
  if (hasLetter(kind, seq::OperandRole::Token, 'G'))
    mixer.dims['G'] =
        reader.getInteger("groups", 1, kMostDimension, mixer.dims['H']);
  if (!reader.hasProblem() && mixer.dims['H'] % mixer.dims['G'] != 0)
    reader.report("expects 'heads' to be a multiple of 'groups' " +
                  Twine(mixer.dims['G']) + ", but got " +
                  Twine(mixer.dims['H']));
  readInnerToken(in, mixer);
  for (Symbol symbol : symbolsOf(kind, seq::OperandRole::Token))
    mixer.operands.push_back(symbol.isRead() ? readOperand(in, symbol)
                                             : RecurrentOperand(symbol));
  for (Symbol symbol : symbolsOf(kind, seq::OperandRole::Parameter))
    mixer.parameters.push_back(readParameter(in, symbol));
  if (!kind.positioned.empty())
    mixer.positions = readPositions(in, mixer.dims['K']);
  readNumbers(in, mixer);
  readOutput(in, mixer);
  if (!reader.hasProblem())
    checkSources(in, mixer);
  return mixer;
}

EmitPart effc::frontend::readRecurrence(PartInput &in, StringRef name) {
  for (const Recurrence &kind : kRecurrences) {
    if (name != kind.name)
      continue;
    RecurrentMixer mixer = readMixer(in, kind);
    return [mixer](ModelBuilder &model, const std::string &at, Value x) {
      return emitRecurrence(model, mixer, at, x);
    };
  }
  return {};
}

std::string effc::frontend::listRecurrences() {
  llvm::SmallVector<StringRef> names;
  for (const Recurrence &kind : kRecurrences)
    names.push_back(kind.name);
  return llvm::join(names, ", ");
}
