#include "frontend/model/RotaryConfig.h"

#include "frontend/checkpoint/Refusal.h"

#include "mlir/IR/Builders.h"

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using seq::RotaryScaling;

namespace {

constexpr double kMostTheta = 1e15, kMostFactor = 1e9;

/// Reads one object of scaling, which may be empty.
class ScalingReader {
public:
  ScalingReader(ConfigReader &outer, ConfigReader &scaling, FamilyInput &input,
                const RotaryRequest &request)
      : outer(outer), scaling(scaling), input(input), request(request),
        builder(input.context) {}

  RotaryConfig read() {
    RotaryScaling kind = readKind();
    std::optional<double> outside;
    if (!request.thetaKey.empty())
      outside = outer.getNumberIfSet(request.thetaKey, 1e-6, kMostTheta);
    theta = chooseOne("rope_theta",
                      scaling.getNumberIfSet("rope_theta", 1e-6, kMostTheta),
                      request.thetaKey, outside)
                .value_or(request.theta);
    if (request.thetaInstead)
      theta = *request.thetaInstead;
    RotaryConfig config;
    if (isProportional) {
      readProportional(config);
      return config;
    }
    config.pairs = readPairs(kind);
    if (scaling.hasProblem() || outer.hasProblem())
      return config;
    readQueryScales(config);
    switch (kind) {
    case RotaryScaling::Default:
      config.frequencies = make(kind, {});
      break;
    case RotaryScaling::Linear:
      config.frequencies = make(kind, readFactor());
      break;
    case RotaryScaling::DynamicSteps:
      readDynamic(config);
      break;
    case RotaryScaling::Llama3:
      readLlama3(config);
      break;
    case RotaryScaling::Yarn:
      readYarn(config);
      break;
    case RotaryScaling::Longrope:
      readLongrope(config);
      break;
    case RotaryScaling::Dynamic:
    case RotaryScaling::LongropeSteps:
      llvm_unreachable("no configuration names it");
    }
    return config;
  }

private:
  /// A number that may stand in the object of scaling and outside of it, where
  /// it has to be the same.
  std::optional<double> chooseOne(llvm::StringRef key,
                                  std::optional<double> inner,
                                  llvm::StringRef outerKey,
                                  std::optional<double> beside) {
    if (inner && beside && *inner != *beside)
      scaling.report("expects " + quote(key) + " to be " + quote(outerKey) +
                     " of config.json, " + describeNumber(*beside) +
                     ", but got " + describeNumber(*inner));
    return inner ? inner : beside;
  }

  RotaryScaling readKind() {
    const std::string *name = nullptr;
    for (llvm::StringRef key : {"type", "rope_type"})
      if (scaling.isSet(key))
        name = scaling.getString(key);
    if (!name)
      return RotaryScaling::Default;
    constexpr std::pair<llvm::StringLiteral, RotaryScaling> kKinds[] = {
        {"default", RotaryScaling::Default},
        {"linear", RotaryScaling::Linear},
        {"dynamic", RotaryScaling::DynamicSteps},
        {"llama3", RotaryScaling::Llama3},
        {"yarn", RotaryScaling::Yarn},
        {"longrope", RotaryScaling::Longrope},
        {"su", RotaryScaling::Longrope}};
    for (const auto &[spelling, kind] : kKinds)
      if (*name == spelling)
        return kind;
    isProportional = *name == "proportional";
    if (!isProportional)
      scaling.report("rope_type " + quote(*name) +
                     " is not supported; supported: default, linear, dynamic, "
                     "llama3, yarn, longrope, proportional");
    return RotaryScaling::Default;
  }

  /// Pairs of the whole head, of which the first ones turn and the others do not.
  void readProportional(RotaryConfig &config) {
    config.pairs = request.keys / 2;
    if (request.keys % 2 != 0)
      return outer.report("expects an even number of channels for rope_type "
                          "'proportional', but got " +
                          Twine(request.keys));
    double share =
        scaling.getNumberIfSet(request.shareKey, 0, 1).value_or(request.turned);
    double factor =
        scaling.getNumberIfSet("factor", 1, kMostFactor).value_or(1);
    auto turned = int64_t(share * double(request.keys) / 2);
    // No position turns by what f32 could tell from 0.
    constexpr double kStill = 1e30;
    llvm::SmallVector<double> divisors(size_t(config.pairs), kStill);
    std::fill_n(divisors.begin(), turned, factor);
    config.frequencies = make(RotaryScaling::Longrope, {}, 0, {}, {},
                              builder.getDenseF64ArrayAttr(divisors));
  }

  void readQueryScales(RotaryConfig &config) {
    if (request.queryScaleKey.empty() || !scaling.isSet(request.queryScaleKey))
      return;
    double beta = scaling.getNumber(request.queryScaleKey, 0, kMostFactor, 0);
    if (beta > 0)
      config.queryScales = seq::PositionScalesAttr::get(
          input.context, number(beta), readOriginal());
  }

  /// Of an odd number of channels the public library turns one more, and counts
  /// frequencies by the odd number; its yarn cannot.
  int64_t readPairs(RotaryScaling kind) {
    llvm::StringRef key = request.shareKey;
    llvm::StringRef outerKey =
        request.outerShareKey.empty() ? key : request.outerShareKey;
    double share = chooseOne(key, scaling.getNumberIfSet(key, 0, 1), outerKey,
                             outer.getNumberIfSet(outerKey, 0, 1))
                       .value_or(request.turned);
    auto turned = int64_t(double(request.keys) * share);
    int64_t pairs = (turned + 1) / 2;
    bool isOdd = turned % 2 != 0;
    if (!scaling.hasProblem() && (turned < 1 || 2 * pairs > request.keys ||
                                  (isOdd && kind == RotaryScaling::Yarn)))
      outer.report("expects an even number of channels to turn, but got " +
                   Twine(turned) + " of " + Twine(request.keys) + " with " +
                   quote(key) + " " + describeNumber(share));
    else if (isOdd && pairs > 1) // theta^(-2 i / turned) by pairs
      theta = std::pow(theta, double(2 * pairs) / double(turned));
    return pairs;
  }

  mlir::FloatAttr number(double value) {
    return builder.getF64FloatAttr(value);
  }

  mlir::FloatAttr readFactor() {
    if (!scaling.isSet("factor"))
      scaling.report("lacks 'factor'");
    return number(scaling.getNumber("factor", 1, kMostFactor, 1));
  }

  /// The positions that the longest sequence has: with a window, places in a
  /// cache of what stays in sight.
  int64_t longest() const {
    const StreamedKeys &streamed = input.streamed;
    if (streamed.window > 0)
      return streamed.sinks + streamed.window;
    return input.contextWanted > 0 ? input.contextWanted : request.context;
  }

  int64_t readOriginal() {
    constexpr llvm::StringLiteral kKey = "original_max_position_embeddings";
    // Where both have it, the configuration's own counts.
    std::optional<int64_t> inner =
        scaling.getIntegerIfSet(kKey, 1, kMostContext);
    return outer.getIntegerIfSet(kKey, 1, kMostContext)
        .value_or(inner.value_or(request.context));
  }

  seq::RotaryFrequenciesAttr make(RotaryScaling kind, mlir::FloatAttr factor,
                                  int64_t original = 0,
                                  mlir::FloatAttr low = {},
                                  mlir::FloatAttr high = {},
                                  mlir::DenseF64ArrayAttr divisors = {}) {
    return seq::RotaryFrequenciesAttr::get(
        input.context, kind, number(theta), factor, original,
        /*planned_context=*/0, low, high, divisors);
  }

  // No stretch is due where no sequence outgrows the context. The public
  // library's rule is for `max_position_embeddings`, whatever the original.
  void readDynamic(RotaryConfig &config) {
    for (llvm::StringRef key :
         scaling.ignore({"original_max_position_embeddings"}))
      input.remarks.push_back(scaling.getFile().str() + ": " + quote(key) +
                              " is ignored: dynamic positions follow "
                              "'max_position_embeddings'");
    mlir::FloatAttr factor = readFactor();
    if (longest() <= request.context)
      config.frequencies = make(RotaryScaling::Default, {});
    else if (config.pairs < 2)
      outer.report("expects at least 2 pairs of channels for dynamic rotary "
                   "positions, but got " +
                   Twine(config.pairs));
    else
      config.frequencies =
          make(RotaryScaling::DynamicSteps, factor, request.context);
  }

  void readLlama3(RotaryConfig &config) {
    double low = scaling.getNumber("low_freq_factor", 1e-6, kMostFactor, 1);
    double high = scaling.getNumber("high_freq_factor", 1e-6, kMostFactor, 4);
    if (low >= high)
      return scaling.report("expects 'low_freq_factor' below "
                            "'high_freq_factor', but got " +
                            describeNumber(low) + " and " +
                            describeNumber(high));
    mlir::FloatAttr factor = readFactor();
    config.frequencies = make(RotaryScaling::Llama3, factor, readOriginal(),
                              number(low), number(high));
  }

  void readYarn(RotaryConfig &config) {
    mlir::FloatAttr factor = readFactor();
    double fast =
        scaling.getNumberIfSet("beta_fast", 1e-6, kMostFactor).value_or(32);
    double slow =
        scaling.getNumberIfSet("beta_slow", 1e-6, kMostFactor).value_or(1);
    if (slow >= fast)
      return scaling.report("expects 'beta_slow' below 'beta_fast', but got " +
                            describeNumber(slow) + " and " +
                            describeNumber(fast));
    auto stretch = [&](double scale) {
      double f = factor.getValueAsDouble();
      return f <= 1 ? 1 : 0.1 * scale * std::log(f) + 1;
    };
    double all =
        scaling.getNumberIfSet("mscale_all_dim", 0, kMostFactor).value_or(0);
    double scale = scaling.getNumberIfSet("mscale", 0, kMostFactor).value_or(0);
    config.amplitude =
        scale != 0 && all != 0 ? stretch(scale) / stretch(all) : stretch(1);
    readAmplitude(config);
    int64_t original = readOriginal();
    if (scaling.getBoolean("truncate", true))
      config.frequencies = make(RotaryScaling::Yarn, factor, original,
                                number(slow), number(fast));
    else
      config.frequencies =
          make(RotaryScaling::Longrope, {}, 0, {}, {},
               listDivisors(config.pairs, factor.getValueAsDouble(), original,
                            slow, fast));
  }

  /// yarn's frequencies as divisors of each pair's own, where the ramp begins
  /// and ends between two pairs: those that turn `fast` and `slow` times in
  /// `original` positions.
  mlir::DenseF64ArrayAttr listDivisors(int64_t pairs, double factor,
                                       int64_t original, double slow,
                                       double fast) {
    auto pairThatTurns = [&](double times) {
      return double(pairs) *
             std::log(double(original) / (times * 2 * std::numbers::pi)) /
             std::log(theta);
    };
    double first = std::max(pairThatTurns(fast), 0.0);
    double last =
        std::min(pairThatTurns(slow), double(2 * pairs - 1)); // as the library
    if (first == last)
      last += 0.001; // the same
    llvm::SmallVector<double> divisors;
    for (int64_t pair = 0; pair < pairs; ++pair) {
      double share =
          std::clamp((double(pair) - first) / (last - first), 0.0, 1.0);
      divisors.push_back(1 / (share / factor + 1 - share));
    }
    return builder.getDenseF64ArrayAttr(divisors);
  }

  void readAmplitude(RotaryConfig &config) {
    config.amplitude =
        scaling.getNumberIfSet("attention_factor", 0, kMostFactor)
            .value_or(config.amplitude);
  }

  mlir::DenseF64ArrayAttr readDivisors(llvm::StringRef key, int64_t pairs) {
    const JsonValue *value = scaling.get(key);
    const JsonArray *numbers = value ? value->getArray() : nullptr;
    if (!numbers || int64_t(numbers->size()) != pairs) {
      if (value && !numbers)
        scaling.reportMismatch(key, "an array of " + Twine(pairs) + " numbers",
                               *value);
      else
        scaling.report(value ? "expects " + quote(key) + " to have " +
                                   Twine(pairs) +
                                   " numbers, one for each pair of channels "
                                   "that turn, but got " +
                                   Twine(numbers->size())
                             : "lacks " + quote(key));
      return {};
    }
    llvm::SmallVector<double> divisors;
    for (const JsonValue &element : *numbers) {
      std::optional<double> divisor = element.getNumber();
      if (!divisor || !(*divisor > 0) || !std::isfinite(*divisor)) {
        scaling.reportMismatch(key, "numbers above 0", element);
        return {};
      }
      divisors.push_back(*divisor);
    }
    return builder.getDenseF64ArrayAttr(divisors);
  }

  // Which list of divisors applies follows from a token's position, not from
  // how long a sequence gets: keys are kept as they were turned.
  void readLongrope(RotaryConfig &config) {
    int64_t original = readOriginal();
    mlir::DenseF64ArrayAttr brief = readDivisors("short_factor", config.pairs);
    mlir::DenseF64ArrayAttr extended =
        readDivisors("long_factor", config.pairs);
    double ratio = double(request.context) / double(original);
    double factor =
        scaling.getNumberIfSet("factor", 1, kMostFactor).value_or(ratio);
    config.amplitude =
        factor <= 1
            ? 1
            : std::sqrt(1 + std::log(factor) / std::log(double(original)));
    readAmplitude(config);
    if (scaling.hasProblem() || outer.hasProblem())
      return;
    if (longest() <= original) {
      config.frequencies = make(RotaryScaling::Longrope, {}, 0, {}, {}, brief);
      return;
    }
    input.remarks.push_back("config.json: 'short_factor' scales rotary "
                            "positions of the first " +
                            std::to_string(original) +
                            " tokens, 'long_factor' those of the others");
    llvm::SmallVector<double> both(brief.asArrayRef());
    llvm::append_range(both, extended.asArrayRef());
    config.frequencies = make(RotaryScaling::LongropeSteps, {}, original, {},
                              {}, builder.getDenseF64ArrayAttr(both));
  }

  ConfigReader &outer, &scaling;
  FamilyInput &input;
  const RotaryRequest &request;
  mlir::Builder builder;
  double theta = 0;
  bool isProportional = false;
};

} // namespace

static bool isSame(const JsonValue &a, const JsonValue &b) {
  if (a.getNumber() || b.getNumber())
    return a.getNumber() == b.getNumber();
  const JsonArray *first = a.getArray(), *second = b.getArray();
  if (first && second)
    return llvm::equal(*first, *second, isSame);
  return !first && !second && !a.getObject() && !b.getObject() &&
         a.describe() == b.describe();
}

/// The key under which both spellings have a setting.
static llvm::StringRef spellingOfRelease5(llvm::StringRef key) {
  return key == "type" ? "rope_type" : key;
}

/// Releases 5 write `rope_parameters`; tools that know releases 4 add
/// `rope_scaling` to it, or leave it there. Both have to say the same: the
/// library lets the older one win, other readers the newer one.
static void checkBothSpellings(ConfigReader &reader, const JsonObject &now) {
  const JsonObject *before = reader.getObjectIfSet("rope_scaling");
  if (!before)
    return;
  auto find = [](const JsonObject &object, llvm::StringRef key) {
    const JsonValue *value = object.find(key);
    if (!value && key == "rope_type")
      value = object.find("type");
    return value && !value->isNull() ? value : nullptr;
  };
  auto describe = [](const JsonValue *value) {
    return value ? value->describe() : std::string("nothing");
  };
  auto check = [&](llvm::StringRef key) {
    const JsonValue *a = find(now, key), *b = find(*before, key);
    bool isSet = a || b;
    if (isSet && !(a && b && isSame(*a, *b)))
      reader.report("'rope_parameters' and 'rope_scaling' say different "
                    "things: " +
                    quote(key) + " is " + describe(a) + " in the one and " +
                    describe(b) + " in the other");
  };
  check("rope_type"); // others follow from it
  for (const JsonMember &member : before->getMembers())
    check(spellingOfRelease5(member.key));
  // What stood outside of `rope_scaling` in releases 4.
  for (const JsonMember &member : now.getMembers())
    if (member.key != "rope_theta" && member.key != "partial_rotary_factor")
      check(spellingOfRelease5(member.key));
}

RotaryConfig effc::frontend::readRotary(ConfigReader &reader,
                                        FamilyInput &input,
                                        const RotaryRequest &request) {
  const JsonValue otherwise = llvm::cantFail(parseJson(
      request.otherwise.empty() ? "{}" : request.otherwise, "config.json"));
  const JsonObject *object = nullptr;
  std::string key = "rope_scaling";
  if (reader.isSet("rope_parameters")) {
    key = "rope_parameters";
    object = reader.getObjectIfSet("rope_parameters");
    // One object for each kind of layers, of which other calls read the others.
    const JsonValue *inner = object && !request.layerType.empty()
                                 ? object->find(request.layerType)
                                 : nullptr;
    if (inner && inner->getObject()) {
      key += "." + request.layerType.str();
      object = inner->getObject();
    }
    if (object && request.scaled)
      checkBothSpellings(reader, *object);
  } else if (request.scaled) {
    object = reader.getObjectIfSet("rope_scaling");
  }
  ConfigReader scaling(reader, key, object ? *object : *otherwise.getObject());
  RotaryConfig config = ScalingReader(reader, scaling, input, request).read();
  // A note of the authors of YaRN: whether the model has been trained with it.
  llvm::SmallVector<llvm::StringRef> notes = {"finetuned"};
  llvm::append_range(notes, request.harmless);
  for (llvm::StringRef note : scaling.ignore(notes))
    input.remarks.push_back(scaling.getFile().str() + ": " + quote(note) +
                            " is ignored: it does not change the results");
  reader.finishInner(scaling);
  return config;
}

void effc::frontend::ignoreRotary(ConfigReader &reader, FamilyInput &input) {
  const JsonObject *rope = reader.getObjectIfSet("rope_parameters");
  if (!rope)
    return;
  for (const JsonMember &member : rope->getMembers())
    if (!member.value.isNull())
      input.remarks.push_back(
          "config.json: rope_parameters: " + quote(member.key) +
          " is ignored: no channel turns");
}
