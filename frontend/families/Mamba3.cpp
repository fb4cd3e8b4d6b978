#include "frontend/families/Mamba3.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/FlashModel.h"
#include "frontend/families/MambaSsmLayers.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/StateSpaceConfig.h"
#include "frontend/model/TextModel.h"
#include "frontend/model/TrapezoidalMixer.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

/// What the layouts call the same.
namespace {
struct Names {
  llvm::StringLiteral width, keys, values, groups;
};
} // namespace

static constexpr Names kFlash = {"hidden_size", "state_size", "head_dim",
                                 "n_groups"};
static constexpr Names kAuthors = {"d_model", "d_state", "headdim", "ngroups"};

/// The sizes of the mixer, for a model of `width`.
static TrapezoidalConfig readMixer(ConfigReader &reader, const Names &names,
                                   int64_t width) {
  constexpr int64_t kMost = kMostStateSpaceDimension;
  TrapezoidalConfig mixer;
  mixer.keys = reader.getInteger(names.keys, 2, kMost, 128);
  mixer.values = reader.getInteger(names.values, 1, kMost, 64);
  mixer.groups = reader.getInteger(names.groups, 1, kMost, 1);
  int64_t expand = reader.getInteger("expand", 1, 1024, 2);
  mixer.leastRate = reader.getNumber("A_floor", 1e-12, 1e9, 1e-4);
  mixer.outputNorm = reader.getBoolean("is_outproj_norm", false);
  // A state then takes several products per token.
  if (reader.getBoolean("is_mimo", false))
    reader.report("expects 'is_mimo' to be false, but got true: states that "
                  "take several keys and values per token are not supported");
  double turned = reader.getNumber("rope_fraction", 0, 1, 0.5);
  if (reader.hasProblem())
    return mixer;
  if (turned != 0.5 && turned != 1)
    reader.report("expects 'rope_fraction' to be 0.5 or 1, but got " +
                  describeNumber(turned));
  mixer.pairs = int64_t(double(mixer.keys) * turned) / 2;
  if (mixer.pairs < 1)
    reader.report("expects " + quote(names.keys) + " of at least " +
                  Twine(turned == 1 ? 2 : 4) + " with 'rope_fraction' " +
                  describeNumber(turned) + ", but got " + Twine(mixer.keys));
  int64_t inner = expand * width;
  if (inner % mixer.values != 0 || inner / mixer.values > kMost) {
    reader.report("expects " + quote(names.values) + " to divide 'expand' * " +
                  quote(names.width) + " = " + Twine(inner) + " into at most " +
                  Twine(kMost) + " heads, but got " + Twine(mixer.values));
    return mixer;
  }
  mixer.heads = inner / mixer.values;
  if (mixer.heads % mixer.groups != 0)
    reader.report("expects the " + Twine(mixer.heads) +
                  " heads to be a multiple of " + quote(names.groups) +
                  ", but got " + Twine(mixer.groups));
  return mixer;
}

static TextModelConfig describe(FamilyInput &input, int64_t width,
                                const NormConfig &norm) {
  TextModelConfig text;
  text.family = "mamba3";
  text.vocabulary = input.vocabulary;
  text.width = width;
  text.endNorm = "backbone.norm_f";
  text.norm = norm;
  return text;
}

static Module build(const TextModelConfig &text, int64_t layers,
                    const TrapezoidalConfig &mixer,
                    const MambaSsmLayers &around, FamilyInput &input) {
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < layers; ++layer)
      x = emitMambaSsmLayer(model, around, layer, x,
                            [&](const std::string &name,
                                const std::string &source, Value normed) {
                              return emitTrapezoidalMixer(model, mixer, name,
                                                          source, normed);
                            });
    return x;
  });
}

Module effc::frontend::importMamba3(FamilyInput &input) {
  ConfigReader &reader = input.config;
  int64_t width = reader.requireInteger(kFlash.width, 1, kMostDimension);
  int64_t layers = reader.getInteger("num_hidden_layers", 1, kMostLayers, 48);
  MambaSsmLayers around;
  around.norm.epsilon = reader.getNumber("norm_eps", 0, 1, 1e-5);
  TrapezoidalConfig mixer = readMixer(reader, kFlash, width);
  mixer.epsilon = around.norm.epsilon;
  mixer.bias = reader.getBoolean("use_bias", false);
  TextModelConfig text = describe(input, width, around.norm);
  text.head.table = "backbone.embeddings.weight";
  text.head.tied = reader.getBoolean("tie_word_embeddings", false);
  // No layer reads "hidden_act".
  ignoreHarmless(reader, input.remarks,
                 {"chunk_size", "dt_init_floor", "dt_max", "dt_min",
                  "fuse_cross_entropy", "fuse_linear_cross_entropy",
                  "fuse_norm", "hidden_act", "mimo_rank", "num_heads",
                  "rescale_prenorm_residual", "residual_in_fp32",
                  "use_l2warp"});
  if (llvm::Error error = reader.finish())
    return error;
  return build(text, layers, mixer, around, input);
}

/// The package has changed what makes a rate of decay of a number, and no key
/// of its configurations says which it was.
static RateActivation readRateActivation(ConfigReader &reader) {
  constexpr llvm::StringLiteral kKey = "A_activation";
  const std::string *name = reader.getString(kKey);
  if (name && *name == "softplus")
    return RateActivation::Softplus;
  if (name && *name == "heavy_tail")
    return RateActivation::HeavyTail;
  if (!reader.hasProblem())
    reader.report(
        "expects " + quote(kKey) +
        " to be \"softplus\" or \"heavy_tail\", but " +
        (name ? "got \"" + *name + "\"" : std::string("it is absent")) +
        ": mamba_ssm's Mamba3 made rates by softplus until 2026-06-02 and "
        "since "
        "then by 1 + x and 1 / (1 - x); add the key for the code that trained "
        "this checkpoint");
  return RateActivation::Softplus;
}

Module effc::frontend::importMambaSsm3(FamilyInput &input) {
  ConfigReader &reader = input.config;
  int64_t width = reader.requireInteger(kAuthors.width, 1, kMostDimension);
  int64_t layers = reader.requireInteger("n_layer", 1, kMostLayers);
  MambaSsmLayers around = readMambaSsmLayers(input, width, layers);
  TrapezoidalConfig mixer;
  if (const JsonObject *object = reader.getObjectIfSet("ssm_cfg")) {
    ConfigReader inner(reader, "ssm_cfg", *object);
    inner.ignore({"layer"});
    mixer = readMixer(inner, kAuthors, width);
    mixer.rate = readRateActivation(inner);
    ignoreHarmless(inner, input.remarks,
                   {"chunk_size", "dropout", "dt_init_floor", "dt_max",
                    "dt_min", "fuse_pregate_headwise_norm", "mimo_rank"});
    reader.finishInner(inner);
  }
  TextModelConfig text = describe(input, width, around.norm);
  text.context = around.context;
  text.head.table = "backbone.embedding.weight";
  text.head.tied = reader.getBoolean("tie_embeddings", true);
  text.head.key = "tie_embeddings";
  // The package would load the one over the other.
  text.head.mayDiffer = false;
  ignoreHarmless(reader, input.remarks, {"fused_add_norm", "residual_in_fp32"});
  // Read with the vocabulary.
  (void)reader.get("pad_vocab_size_multiple");
  if (llvm::Error error = reader.finish())
    return error;
  return build(text, layers, mixer, around, input);
}
