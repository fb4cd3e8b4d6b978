#include "frontend/gguf/Config.h"

#include "frontend/checkpoint/Refusal.h"

#include <cmath>

using namespace effc::frontend;

static constexpr double kMost = 1e15;

static void setNumbers(GgufConfig &config, llvm::StringRef field,
                       llvm::ArrayRef<double> numbers, llvm::StringRef tensor) {
  JsonArray array;
  for (double number : numbers)
    array.push_back(JsonValue(number));
  config.set(field, JsonValue(std::move(array)), tensor);
}

/// The same for all positions: what the converter makes of llama3's rule.
bool effc::frontend::describeRotaryFactors(GgufConfig &config,
                                           GgufConfig &scaling) {
  constexpr llvm::StringLiteral kTensor = "rope_freqs.weight";
  auto factors = config.takeNumbers(kTensor);
  if (!factors)
    return false;
  scaling.setText("rope_type", "longrope", kTensor);
  setNumbers(scaling, "short_factor", *factors, kTensor);
  setNumbers(scaling, "long_factor", *factors, kTensor);
  scaling.setNumber("attention_factor", 1, kTensor);
  return true;
}

/// Two lists of divisors, one for positions within the first context.
static void describeLongrope(GgufConfig &config, GgufConfig &scaling) {
  for (auto [tensor, field] : {std::pair<llvm::StringRef, llvm::StringRef>{
                                   "rope_factors_short.weight", "short_factor"},
                               {"rope_factors_long.weight", "long_factor"}})
    if (auto factors = config.takeNumbers(tensor))
      setNumbers(scaling, field, *factors, tensor);
  scaling.copy({"rope.scaling.original_context_length",
                "original_max_position_embeddings"});
  scaling.copy(
      {"rope.scaling.attn_factor", "attention_factor", GgufKeyKind::Number});
  scaling.copy({"rope.scaling.factor", "factor", GgufKeyKind::Number});
}

static void describeYarn(GgufConfig &config, GgufConfig &scaling) {
  scaling.copy({"rope.scaling.factor", "factor", GgufKeyKind::Number});
  scaling.copy({"rope.scaling.original_context_length",
                "original_max_position_embeddings"});
  scaling.copy(
      {"rope.scaling.yarn_beta_fast", "beta_fast", GgufKeyKind::Number});
  scaling.copy(
      {"rope.scaling.yarn_beta_slow", "beta_slow", GgufKeyKind::Number});
  // The format's own library multiplies its magnitude, 0.1 ln(factor) + 1, by it
  // (ggml_rope_yarn).
  std::string key = config.keyOf("rope.scaling.attn_factor");
  if (auto share = config.getKeys().getNumber(key, 0, kMost)) {
    double factor =
        config.getKeys()
            .getNumber(config.keyOf("rope.scaling.factor"), 1, kMost)
            .value_or(1);
    scaling.setNumber("attention_factor", *share * (0.1 * std::log(factor) + 1),
                      key);
  } else { // the whole magnitude, of configurations that say it
    scaling.copy({"rope.scaling.yarn_attn_factor", "attention_factor",
                  GgufKeyKind::Number});
  }
}

void effc::frontend::describeRotary(GgufConfig &config, const GgufRotary &how) {
  GgufMetadata &keys = config.getKeys();
  config.copy({"rope.freq_base", "rope_theta", GgufKeyKind::Number});
  if (!config.has("rope.freq_base")) // as the format's own library has it
    config.setNumber("rope_theta", 1e4, config.keyOf("rope.freq_base"));
  std::string turnedKey = config.keyOf("rope.dimension_count");
  int64_t channels = how.channels > 0 ? how.channels : config.getHeadWidth();
  if (auto turned = keys.getInteger(turnedKey, 1, channels);
      turned && *turned != channels)
    config.setNumber("partial_rotary_factor",
                     double(*turned) / double(channels), turnedKey);
  // Whether the model was trained with its scaling.
  keys.ignore({config.keyOf("rope.scaling.finetuned")});

  std::string kindKey = config.keyOf("rope.scaling.type");
  const std::string *kind = keys.getString(kindKey);
  GgufConfig inner = config.startInner();
  GgufConfig &scaling = how.isObject ? config : inner;
  auto finish = [&] {
    if (!how.isObject)
      config.setObject("rope_scaling", std::move(inner));
  };
  auto sayNone = [&] {
    if (how.isObject)
      config.setText("rope_type", "default", kindKey);
  };
  if (describeRotaryFactors(config, scaling)) {
    if (kind && *kind != "none")
      keys.report("expects no scaling beside tensor 'rope_freqs.weight', but "
                  "got " +
                  quote(kindKey) + " " + quote(*kind, '"'));
    return finish();
  }
  bool isLinear = kind ? *kind == "linear"
                       : config.has("rope.scaling.factor") ||
                             config.has("rope.scale_linear");
  if (isLinear) {
    bool isOld = !config.has("rope.scaling.factor");
    std::string key =
        config.keyOf(isOld ? "rope.scale_linear" : "rope.scaling.factor");
    double factor = keys.getNumber(key, 0, kMost).value_or(1);
    // 0 stands for none in old files.
    if (factor == 0 || factor == 1)
      return sayNone();
    scaling.setText("rope_type", "linear", kindKey);
    scaling.setNumber("factor", factor, key);
    // It would say something of the scaling alone.
    keys.ignore({config.keyOf("rope.scaling.original_context_length")});
  } else if (config.getModel().find("rope_factors_long.weight") &&
             (!kind || *kind == "longrope")) {
    scaling.setText("rope_type", "longrope", "rope_factors_long.weight");
    describeLongrope(config, scaling);
  } else if (!kind || *kind == "none") {
    keys.ignore({config.keyOf("rope.scaling.original_context_length"),
                 config.keyOf("rope.scaling.factor")});
    return sayNone();
  } else if (*kind == "yarn") {
    scaling.setText("rope_type", "yarn", kindKey);
    describeYarn(config, scaling);
    if (how.describeYarn)
      how.describeYarn(config, scaling);
    if (!how.truncates)
      scaling.setBoolean("truncate", false, kindKey);
  } else if (*kind == "longrope") {
    keys.report("lacks tensor 'rope_factors_long.weight', which " +
                quote(kindKey) + " \"longrope\" asks for");
    return;
  } else {
    keys.report("expects " + quote(kindKey) +
                " to be none, linear, yarn or longrope, but got " +
                quote(*kind, '"'));
    return;
  }
  finish();
}
