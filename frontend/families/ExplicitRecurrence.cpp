// The recurrences of the explicit layout: a table of what each op takes, and
// one way from a normalised token to every operand of every one of them.
#include "frontend/families/ExplicitPart.h"

#include "frontend/checkpoint/Refusal.h"

#include <cmath>
#include <map>

using namespace effc;
using namespace effc::frontend;
using llvm::StringRef;
using llvm::Twine;
using mlir::Value;

namespace {

/// A recurrence of the dialect. Operands are listed in the op's order as
/// "symbol:shape", where the shape is that behind T in the letters H, G, K, V
/// and 1. Before a symbol, '~' marks what learns of positions, '@' another use
/// of an operand of that symbol with its positions, '?' an operand that may be
/// absent, and '!' the positions themselves.
struct Recurrence {
  llvm::StringLiteral name, op;
  StringRef tokens, parameters, states;
  /// Numbers: "name" (required), "name=1" or "name?"; `scale` is K^-1/2 where
  /// it is not said.
  StringRef numbers = "";
  bool hasSegments = false;
};

constexpr Recurrence kRecurrences[] = {
    {"linear_attention", "linear_attention", "~q:GK ~k:GK v:HV", "", "HKV",
     "scale"},
    {"normalised_attention", "normalised_attention", "~q:GK ~k:GK v:HV", "",
     "HKV HK", "scale eps=1e-10"},
    {"normalised_rotary", "normalised_rotary",
     "@q:GK @k:GK q:GK k:GK v:HV dt:H", "a_log:H dt_bias:H", "HKV HK",
     "eps=1e-10"},
    {"dynamic_mask_linear", "dynamic_mask_linear", "~q:GK ~k:GK v:HV delta:H",
     "", "HKV"},
    {"retention", "retention", "~q:GK ~k:GK v:HV", "log_decay:H", "HKV",
     "scale"},
    {"gated_retention", "gated_retention", "~q:GK ~k:GK v:HV gate:H", "", "HKV",
     "scale temperature=16"},
    {"gla", "gated_linear_attention",
     "~q:HK ~k:HK v:HV ?key_gate:HK ?value_gate:HV", "", "HKV",
     "scale temperature=16", true},
    {"hgrn", "hgrn", "x:HV forget:HV", "lower_bound:HV", "H1V"},
    {"hgrn2", "hgrn2", "q:HK forget:HK v:HV", "lower_bound:HK", "HKV", "scale"},
    {"ssd", "ssd", "x:HV dt:H ~b:GK ~c:GK", "a_log:H dt_bias:H d:H", "HKV",
     "dt_min? dt_max?"},
    {"mamba", "selective_scan", "x:HV dt:HV b:GK c:GK",
     "a_log:HKV dt_bias:HV d:HV", "HKV"},
    {"rodimus", "rodimus", "~q:HK ~k:HK v:HV select:HK temper:HK x:HV", "d:HV",
     "HKV", "scale"},
    {"delta_rule", "delta_rule", "~q:GK ~k:GK v:HV beta:H", "", "HKV", "scale"},
    {"gated_delta_rule", "gated_delta_rule", "~q:GK ~k:GK v:HV beta:H a:H",
     "a_log:H dt_bias:H", "HKV", "scale"},
    {"kda", "kimi_delta_attention", "~q:GK ~k:GK v:HV beta:H f:HK",
     "a_log:H dt_bias:HK", "HKV", "scale"},
    {"rwkv6", "rwkv6", "r:HK k:HK v:HV w:HK", "u:HK", "HKV"},
    {"rwkv7", "rwkv7", "r:HK w:HK k:HK v:HV kk:HK a:HK", "", "HKV"},
    {"mlstm", "mlstm", "~q:GK ~k:GK v:HV input:H forget:H", "", "HKV HK H",
     "scale eps=1e-6"},
    {"s4d", "s4d", "x:HV",
     "log_dt:HV log_a:HKV a_imaginary:HKV c:HKV c_imaginary:HKV d:HV",
     "HKV HKV"},
    {"rg_lru", "rg_lru", "x:HV recurrence:HV input:HV !positions:", "rate:HV",
     "H1V", "exponent=8"},
};

/// "~q:GK" taken apart.
struct Symbol {
  StringRef name, letters;
  char mark = 0;
};

llvm::SmallVector<Symbol> symbolsOf(StringRef list) {
  llvm::SmallVector<StringRef> words;
  list.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  llvm::SmallVector<Symbol> symbols;
  for (StringRef word : words) {
    Symbol symbol;
    if (StringRef("~@?!").contains(word.front())) {
      symbol.mark = word.front();
      word = word.drop_front();
    }
    std::tie(symbol.name, symbol.letters) = word.split(':');
    symbols.push_back(symbol);
  }
  return symbols;
}

/// Where an operand comes from: the token, or the wider token of 'inner',
/// before or after its convolution; or a tensor, the same for every token.
enum class From { Token, Inner, Convolved, Tensor };

/// A product with one matrix, or with two.
struct Projection {
  From from = From::Token;
  int64_t rank = 0;
  bool bias = false;
  FeatureChoice feature;
};

struct Operand {
  explicit Operand(Symbol symbol) : symbol(symbol) {}

  Symbol symbol;
  bool present = true;
  Projection projection;
  bool projects = true;
  /// A matrix for each head's channels.
  bool blocks = false;
  int64_t taps = 0;
  bool tapsBias = false;
  /// A number in place of everything.
  std::optional<double> value;
  /// Of length 1 in each head.
  std::optional<NormConfig> unit;
  seq::NormMeasure measure = seq::NormMeasure::SumSquare;
  /// What it is multiplied with.
  std::optional<Projection> gate;
};

struct Parameter {
  Symbol symbol;
  std::optional<double> value;
  std::optional<seq::DecayRule> rule;
};

struct InnerToken {
  int64_t width = 0;
  bool bias = false;
  int64_t taps = 0;
  bool tapsBias = false;
  FeatureChoice feature;
};

struct Output {
  std::optional<Projection> gate;
  bool gateFirst = false;
  NormChoice norm{/*present=*/false, /*hasWeight=*/true, {}};
  int64_t groups = 1;
  FeatureChoice feature;
  bool projects = true, bias = false;
  /// The product's first half times the sigmoid of its second.
  bool glu = false;
  /// What is added to the recurrence, times a weight per channel.
  std::optional<From> feed;
};

/// A recurrence of a configuration.
struct Mixer {
  const Recurrence *kind = nullptr;
  std::map<char, int64_t> dims;
  std::vector<Operand> operands;
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::string, double>> numbers;
  InnerToken inner;
  PositionChoice positions;
  Output output;

  llvm::SmallVector<int64_t> shapeOf(StringRef letters) const {
    llvm::SmallVector<int64_t> shape;
    for (char letter : letters)
      shape.push_back(letter == '1' ? 1 : dims.at(letter));
    return shape;
  }
};

int64_t countOf(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static From readFrom(ConfigReader &reader) {
  return From(
      readName(reader, "from", {"token", "inner", "convolved", "tensor"}, 0));
}

static Projection readProjection(ConfigReader &reader) {
  Projection projection;
  projection.from = readFrom(reader);
  projection.rank =
      reader.getIntegerIfSet("rank", 1, kMostDimension).value_or(0);
  projection.bias = reader.getBoolean("bias", false);
  projection.feature = readFeature(reader, "activation");
  return projection;
}

static std::optional<Projection> readGate(PartInput &in) {
  std::optional<Projection> gate;
  readInner(in, "gate",
            [&](PartInput &inner) { gate = readProjection(inner.reader); });
  return gate;
}

static Operand readOperand(PartInput &in, Symbol symbol) {
  Operand operand(symbol);
  bool said = readInner(in, symbol.name, [&](PartInput &inner) {
    ConfigReader &reader = inner.reader;
    operand.value = reader.getNumberIfSet("value", -1e30, 1e30);
    if (operand.value)
      return;
    operand.projection = readProjection(reader);
    operand.projects = reader.getBoolean("project", true);
    operand.blocks = reader.getBoolean("blocks", false);
    operand.taps = reader.getIntegerIfSet("convolution", 2, 64).value_or(0);
    operand.tapsBias = reader.getBoolean("convolution_bias", false);
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
  operand.present = said || symbol.mark != '?';
  return operand;
}

static Parameter readParameter(PartInput &in, Symbol symbol) {
  Parameter parameter{symbol, std::nullopt, std::nullopt};
  readInner(in, symbol.name, [&](PartInput &inner) {
    parameter.value = inner.reader.getNumberIfSet("value", -1e30, 1e30);
    if (inner.reader.get("rule"))
      parameter.rule =
          seq::DecayRule(readName(inner.reader, "rule", {"retention"}, 0));
  });
  return parameter;
}

static void readNumbers(PartInput &in, Mixer &mixer) {
  llvm::SmallVector<StringRef> words;
  mixer.kind->numbers.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    auto [name, text] = word.split('=');
    bool optional = name.consume_back("?");
    std::optional<double> number = in.reader.getNumberIfSet(name, 0, 1e9);
    double otherwise = 1 / std::sqrt(double(mixer.dims['K']));
    if (!text.empty())
      (void)text.getAsDouble(otherwise);
    if (number || !optional)
      mixer.numbers.emplace_back(name.str(), number.value_or(otherwise));
  }
}

static void readInnerToken(PartInput &in, Mixer &mixer) {
  readInner(in, "inner", [&](PartInput &inner) {
    ConfigReader &reader = inner.reader;
    mixer.inner.width = reader.requireInteger("width", 1, kMostDimension);
    mixer.inner.bias = reader.getBoolean("bias", false);
    mixer.inner.taps = reader.getIntegerIfSet("convolution", 2, 64).value_or(0);
    mixer.inner.tapsBias = reader.getBoolean("convolution_bias", true);
    mixer.inner.feature = readFeature(reader, "activation");
  });
}

static void readOutput(PartInput &in, Mixer &mixer) {
  Output &output = mixer.output;
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
static int64_t widthOf(const PartInput &in, const Mixer &mixer, From from) {
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

/// What operands say has to be there, and of the right size.
static void checkSources(PartInput &in, const Mixer &mixer) {
  auto check = [&](StringRef who, From from, int64_t exactly) {
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
  for (const Operand &operand : mixer.operands) {
    if (!operand.present || operand.value || operand.symbol.mark == '@' ||
        operand.symbol.mark == '!')
      continue;
    int64_t size = countOf(mixer.shapeOf(operand.symbol.letters));
    check(operand.symbol.name, operand.projection.from,
          operand.projects ? 0 : size);
    if (operand.gate)
      check(operand.symbol.name, operand.gate->from, 0);
    if (operand.blocks &&
        widthOf(in, mixer, operand.projection.from) % mixer.dims.at('H') != 0)
      in.reader.report("expects 'heads' to divide the channels of which " +
                       quote(operand.symbol.name) + " has blocks, but got " +
                       Twine(mixer.dims.at('H')));
  }
  if (mixer.output.gate)
    check("gate", mixer.output.gate->from, 0);
  if (mixer.output.feed)
    check("feed", *mixer.output.feed, mixer.dims.at('H') * mixer.dims.at('V'));
}

static Mixer readMixer(PartInput &in, const Recurrence &kind) {
  ConfigReader &reader = in.reader;
  Mixer mixer;
  mixer.kind = &kind;
  mixer.dims['H'] = reader.requireInteger("heads", 1, kMostDimension);
  mixer.dims['V'] = reader.requireInteger("values", 1, kMostDimension);
  mixer.dims['K'] = 1;
  if (kind.states.contains('K'))
    mixer.dims['K'] = reader.requireInteger("keys", 1, kMostDimension);
  mixer.dims['G'] = mixer.dims['H'];
  if (kind.tokens.contains('G'))
    mixer.dims['G'] =
        reader.getInteger("groups", 1, kMostDimension, mixer.dims['H']);
  if (!reader.hasProblem() && mixer.dims['H'] % mixer.dims['G'] != 0)
    reader.report("expects 'heads' to be a multiple of 'groups' " +
                  Twine(mixer.dims['G']) + ", but got " +
                  Twine(mixer.dims['H']));
  readInnerToken(in, mixer);
  llvm::SmallVector<Symbol> symbols = symbolsOf(kind.tokens);
  for (Symbol symbol : symbols)
    mixer.operands.push_back(symbol.mark == '@' || symbol.mark == '!'
                                 ? Operand(symbol)
                                 : readOperand(in, symbol));
  for (Symbol symbol : symbolsOf(kind.parameters))
    mixer.parameters.push_back(readParameter(in, symbol));
  if (llvm::any_of(symbols, [](const Symbol &symbol) {
        return symbol.mark == '~' || symbol.mark == '@';
      }))
    mixer.positions = readPositions(in, mixer.dims['K']);
  readNumbers(in, mixer);
  readOutput(in, mixer);
  if (!reader.hasProblem())
    checkSources(in, mixer);
  return mixer;
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

namespace {

/// One use of a mixer in a block.
class MixerEmitter {
public:
  MixerEmitter(ModelBuilder &model, const Mixer &mixer, const std::string &at,
               Value x)
      : model(model), mixer(mixer), at(at), dims(mixer.dims), token(x) {}

  Value emit() {
    emitInner();
    emitOperands();
    return emitOutput(emitRecurrence());
  }

private:
  void emitInner() {
    const InnerToken &config = mixer.inner;
    if (config.width == 0)
      return;
    inner = model.project(at + "inner", at + "inner", token, config.width,
                          config.bias);
    if (config.taps == 0) {
      inner = emitFeature(model, at + "inner", inner, config.feature);
      return;
    }
    convolved = emitFeature(
        model, at + "convolution",
        convolve(at + "convolution", inner, config.taps, config.tapsBias),
        config.feature);
  }

  Value convolve(const std::string &name, Value x, int64_t taps, bool bias) {
    int64_t channels = innerShape(x)[0];
    Value weight = model.taps(name, name + ".weight", taps, channels), shift;
    if (bias)
      shift = model.vector(name + "_bias", name + ".bias", channels);
    return model.shortConvolution(name, x, weight, shift,
                                  seq::Activation::None);
  }

  Value sourceOf(From from) const {
    return from == From::Token   ? token
           : from == From::Inner ? inner
                                 : convolved;
  }

  Value project(const std::string &name, const Projection &how, int64_t rows) {
    Value x = sourceOf(how.from);
    if (how.rank == 0)
      return model.project(name, name, x, rows, how.bias);
    Value low = model.project(name + ".0", name + ".0", x, how.rank);
    return model.project(name + ".1", name + ".1", low, rows, how.bias);
  }

  /// A product with a matrix for each head's channels: [T, H, V].
  Value projectBlocks(const std::string &name, const Projection &how) {
    Value x = sourceOf(how.from);
    int64_t heads = dims['H'], columns = innerShape(x)[0] / heads;
    Value weight = model.blocks(name, WeightSource(name + ".weight"), heads,
                                dims['V'], columns);
    Value bias;
    if (how.bias)
      bias = model.numbers(name + "_bias", WeightSource(name + ".bias"),
                           {heads, dims['V']});
    return model.linear(name, model.reshape(name, x, {heads, columns}), weight,
                        bias);
  }

  /// An operand that varies with the token, before its positions.
  Value emitOperand(const Operand &operand) {
    std::string name = at + operand.symbol.name.str();
    llvm::SmallVector<int64_t> shape = mixer.shapeOf(operand.symbol.letters);
    int64_t size = countOf(shape);
    Value y;
    if (operand.blocks)
      y = projectBlocks(name, operand.projection);
    else if (operand.projects)
      y = project(name, operand.projection, size);
    else
      y = sourceOf(operand.projection.from);
    if (operand.taps)
      y = convolve(name + ".convolution", y, operand.taps, operand.tapsBias);
    bool perHead = operand.projection.feature.kind == FeatureChoice::Taylor;
    if (!perHead)
      y = emitFeature(model, name, y, operand.projection.feature);
    if (operand.gate) {
      Value gate = emitFeature(model, name + ".gate",
                               project(name + ".gate", *operand.gate, size),
                               operand.gate->feature);
      y = model.mul(name, y, gate);
    }
    if (operand.unit)
      y = model.groupNorm(name, "", y, shape[0], /*size=*/0, *operand.unit,
                          operand.measure);
    if (innerShape(y) != llvm::ArrayRef<int64_t>(shape))
      y = model.reshape(name, y, shape);
    return perHead ? emitFeature(model, name, y, operand.projection.feature)
                   : y;
  }

  /// The same number, or the same tensor, for every token.
  Value emitConstant(const Operand &operand) {
    std::string name = at + operand.symbol.name.str();
    llvm::SmallVector<int64_t> shape = mixer.shapeOf(operand.symbol.letters);
    Value like;
    for (const auto &[other, value] : emitted)
      if (innerShape(value) == llvm::ArrayRef<int64_t>(shape))
        like = value;
    if (!like) {
      model.report(name + ": expects another operand of its shape that varies "
                          "with the token, but got none");
      return token;
    }
    if (shape.size() == 1) {
      // A vector is computed as one row.
      Value row = operand.value
                      ? constant(name, *operand.value, {1, shape[0]})
                      : model.numbers(name, WeightSource(name), {1, shape[0]});
      Value flat = seq::ReshapeOp::create(model.getBuilder(), model.at(name),
                                          row, shape);
      return model.broadcast(name, flat, like);
    }
    Value numbers = operand.value
                        ? constant(name, *operand.value, shape)
                        : model.numbers(name, WeightSource(name), shape);
    return seq::BroadcastOp::create(model.getBuilder(), model.at(name), numbers,
                                    like, llvm::ArrayRef<int64_t>{1, 2});
  }

  Value constant(const std::string &name, double number,
                 llvm::ArrayRef<int64_t> shape) {
    mlir::OpBuilder &builder = model.getBuilder();
    std::vector<double> rows(size_t(shape[0]), number);
    return model.computed(
        name,
        seq::RowNumbersAttr::get(builder.getContext(),
                                 builder.getDenseF64ArrayAttr(rows)),
        shape);
  }

  void emitOperands() {
    auto varies = [](const Operand &operand) {
      return operand.symbol.mark != '@' && operand.symbol.mark != '!' &&
             !operand.value && operand.projection.from != From::Tensor;
    };
    for (const Operand &operand : mixer.operands)
      if (operand.present && varies(operand))
        emitted[operand.symbol.name] = emitOperand(operand);
    for (const Operand &operand : mixer.operands)
      if (operand.present && !emitted.count(operand.symbol.name) &&
          operand.symbol.mark != '@' && operand.symbol.mark != '!')
        emitted[operand.symbol.name] = emitConstant(operand);
    for (const Operand &operand : mixer.operands) {
      Value value;
      if (operand.symbol.mark == '!')
        value = model.getPositions();
      else if (operand.present)
        value = emitted.at(operand.symbol.name);
      if (operand.symbol.mark == '~' || operand.symbol.mark == '@')
        value = emitPositions(model, at, mixer.positions, value);
      tokens.push_back(value);
      // Positions and features may have made keys wider.
      if (value)
        for (auto [letter, size] :
             llvm::zip(operand.symbol.letters, innerShape(value)))
          if (letter != '1')
            dims[letter] = size;
    }
  }

  Value emitParameter(const Parameter &parameter) {
    std::string name = at + parameter.symbol.name.str();
    llvm::SmallVector<int64_t> shape;
    for (char letter : parameter.symbol.letters)
      shape.push_back(dims[letter]);
    mlir::OpBuilder &builder = model.getBuilder();
    if (parameter.rule)
      return model.computed(name,
                            seq::HeadDecaysAttr::get(
                                builder.getContext(), *parameter.rule,
                                /*layer=*/0, /*layers=*/0, /*negated=*/false),
                            shape);
    if (!parameter.value)
      return model.numbers(name, WeightSource(name), shape);
    // Computed as rows of one number.
    llvm::SmallVector<int64_t> rows = {shape[0], countOf(shape) / shape[0]};
    Value numbers = constant(name, *parameter.value, rows);
    if (shape.size() == 2)
      return numbers;
    return seq::ReshapeOp::create(builder, model.at(name), numbers, shape);
  }

  Value emitRecurrence() {
    mlir::OpBuilder &builder = model.getBuilder();
    std::string name = at + "mixer";
    mlir::OperationState op(model.at(name), ("seq." + mixer.kind->op).str());
    llvm::SmallVector<int32_t> segments;
    for (Value value : tokens) {
      segments.push_back(value ? 1 : 0);
      if (value)
        op.operands.push_back(value);
    }
    for (const Parameter &parameter : mixer.parameters) {
      op.operands.push_back(emitParameter(parameter));
      segments.push_back(1);
    }
    Value like = valueOperand();
    op.types.push_back(like.getType());
    llvm::SmallVector<StringRef> states;
    mixer.kind->states.split(states, ' ');
    for (size_t i = 0; i < states.size(); ++i) {
      llvm::SmallVector<int64_t> shape;
      for (char letter : states[i])
        shape.push_back(letter == '1' ? 1 : dims[letter]);
      Value state =
          model.state(i == 0 ? name : name + "." + std::to_string(i), shape);
      op.operands.push_back(state);
      op.types.push_back(state.getType());
      segments.push_back(1);
    }
    for (const auto &[key, number] : mixer.numbers)
      op.addAttribute(key, builder.getF64FloatAttr(number));
    if (mixer.kind->hasSegments)
      op.addAttribute("operandSegmentSizes",
                      builder.getDenseI32ArrayAttr(segments));
    mlir::Operation *made = builder.create(op);
    for (Value next : made->getResults().drop_front())
      model.setNextState(next);
    return model.reshape(name, made->getResult(0), {dims['H'] * dims['V']});
  }

  /// The operand whose type the mixed tokens have.
  Value valueOperand() const {
    for (const auto &[operand, value] : llvm::zip(mixer.operands, tokens))
      if (value && operand.symbol.letters == "HV")
        return value;
    llvm_unreachable("every recurrence has values");
  }

  Value emitOutput(Value y) {
    const Output &config = mixer.output;
    if (config.feed) {
      Value weight = model.vector(at + "d", at + "d", innerShape(y)[0]);
      Value fed = sourceOf(*config.feed);
      y = model.add(at + "feed", y,
                    model.mul(at + "feed", fed,
                              model.broadcast(at + "feed", weight, fed)));
    }
    Value gate;
    if (config.gate)
      gate = emitFeature(model, at + "g",
                         project(at + "g", *config.gate, innerShape(y)[0]),
                         config.gate->feature);
    if (gate && config.gateFirst)
      y = model.mul(at + "gate", y, gate);
    y = emitNorm(model, at + "o_norm", y, config.norm, config.groups);
    if (gate && !config.gateFirst)
      y = model.mul(at + "gate", y, gate);
    y = emitFeature(model, at + "o", y, config.feature);
    if (!config.projects)
      return y;
    int64_t width = model.getWidth();
    y = model.project(at + "o", at + "o", y, config.glu ? 2 * width : width,
                      config.bias);
    if (!config.glu)
      return y;
    return model.mul(at + "o", model.slice(at + "o", y, 0, width),
                     model.activate(at + "o",
                                    model.slice(at + "o", y, width, width),
                                    seq::Nonlinearity::Sigmoid));
  }

  ModelBuilder &model;
  const Mixer &mixer;
  const std::string &at;
  std::map<char, int64_t> dims;
  Value token, inner, convolved;
  std::map<StringRef, Value> emitted;
  llvm::SmallVector<Value> tokens;
};

} // namespace

EmitPart effc::frontend::readRecurrence(PartInput &in, StringRef name) {
  for (const Recurrence &kind : kRecurrences) {
    if (name != kind.name)
      continue;
    Mixer mixer = readMixer(in, kind);
    return [mixer](ModelBuilder &model, const std::string &at, Value x) {
      return MixerEmitter(model, mixer, at, x).emit();
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
