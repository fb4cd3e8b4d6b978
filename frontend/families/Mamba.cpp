#include "frontend/families/Mamba.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/MambaSsmLayers.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/SelectiveMixer.h"
#include "frontend/model/TextModel.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

/// Layers of a norm and a mixer, under the names of both layouts.
static Module build(FamilyInput &input, llvm::StringRef family, int64_t width,
                    int64_t layers, const SelectiveConfig &mixer,
                    const MambaSsmLayers &around, const HeadConfig &head) {
  TextModelConfig text;
  text.family = family;
  text.vocabulary = input.vocabulary;
  text.width = width;
  text.head = head;
  text.endNorm = "backbone.norm_f";
  text.norm = around.norm;
  text.context = around.context;
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < layers; ++layer)
      x = emitMambaSsmLayer(model, around, layer, x,
                            [&](const std::string &name,
                                const std::string &source, Value normed) {
                              return emitSelectiveMixer(model, mixer, name,
                                                        source, normed);
                            });
    return x;
  });
}

/// What the authors' package calls the same numbers, which converted
/// checkpoints keep, and what it says of its kernels.
static void readNamesOfTheAuthors(ConfigReader &reader, FamilyInput &input,
                                  int64_t width, int64_t layers,
                                  int64_t inner) {
  const std::pair<llvm::StringLiteral, int64_t> kSame[] = {
      {"d_model", width}, {"n_layer", layers}, {"d_inner", inner}};
  for (const auto &[key, value] : kSame)
    reader.getInteger(key, value, value, value);
  if (!reader.getBoolean("rms_norm", true))
    reader.report("expects 'rms_norm' to be true, but got false");
  // Empty: any key of it is unknown here.
  if (const JsonObject *object = reader.getObjectIfSet("ssm_cfg")) {
    ConfigReader inner(reader, "ssm_cfg", *object);
    reader.finishInner(inner);
  }
  ignoreHarmless(reader, input.remarks,
                 {"fused_add_norm", "pad_vocab_size_multiple"});
}

/// What keeps flash-linear-attention's configurations of both Mambas apart from
/// the public library's, whose model types and tensors they share.
static bool isFlashLayout(ConfigReader &reader) {
  return reader.get("norm_eps") && !reader.get("layer_norm_epsilon");
}

static Module import(FamilyInput &input, llvm::StringRef family,
                     bool innerNorms) {
  ConfigReader &reader = input.config;
  bool isFlash = isFlashLayout(reader);
  int64_t width = reader.requireInteger("hidden_size", 1, kMostDimension);
  int64_t layers = reader.requireInteger("num_hidden_layers", 1, kMostLayers);
  SelectiveConfig mixer;
  mixer.keys = reader.getInteger("state_size", 1, kMostDimension, 16);
  mixer.taps = reader.getInteger("conv_kernel", 1, 64, 4);
  mixer.projectionBias = reader.getBoolean("use_bias", false);
  mixer.convolutionBias = reader.getBoolean("use_conv_bias", true);
  double expand = reader.getNumber("expand", 1e-6, 1024, 2);
  mixer.inner = std::max<int64_t>(int64_t(expand * double(width)), 1);
  // The released Falcon Mamba writes an 'expand' that is not its own.
  int64_t written =
      reader.getInteger("intermediate_size", 1, kMostDimension, mixer.inner);
  if (!reader.hasProblem() && written != mixer.inner)
    input.remarks.push_back("config.json: 'expand' is ignored: "
                            "'intermediate_size' says " +
                            std::to_string(written));
  mixer.inner = written;
  readNamesOfTheAuthors(reader, input, width, layers, mixer.inner);
  // Releases of flash-linear-attention write either name; a configuration with both
  // is refused as one with an unknown key.
  bool isShort = isFlash && !reader.get("time_step_rank");
  mixer.rank =
      readTimeStepRank(reader, isShort ? "dt_rank" : "time_step_rank", width);
  if (innerNorms)
    mixer.innerNorm = reader.getNumber("mixer_rms_eps", 0, 1, 1e-6);
  MambaSsmLayers around;
  around.norm.epsilon =
      reader.getNumber(isFlash ? "norm_eps" : "layer_norm_epsilon", 0, 1, 1e-5);
  HeadConfig head;
  head.table = "backbone.embeddings.weight";
  head.tied = reader.getBoolean("tie_word_embeddings", !isFlash);
  mixer.function =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Silu);
  ignoreHarmless(reader, input.remarks,
                 {"rescale_prenorm_residual", "residual_in_fp32",
                  "time_step_floor", "time_step_init_scheme", "time_step_max",
                  "time_step_min", "time_step_scale", "use_associative_scan",
                  "use_mambapy", "use_falcon_mambapy"});
  if (isFlash)
    ignoreHarmless(reader, input.remarks,
                   {"dt_init_floor", "dt_init_scheme", "dt_max", "dt_min",
                    "dt_scale", "fuse_cross_entropy",
                    "fuse_linear_cross_entropy", "fuse_norm", "use_l2warp"});
  if (llvm::Error error = reader.finish())
    return error;
  return build(input, family, width, layers, mixer, around, head);
}

Module effc::frontend::importMamba(FamilyInput &input) {
  return import(input, "mamba", /*innerNorms=*/false);
}

Module effc::frontend::importFalconMamba(FamilyInput &input) {
  return import(input, "falcon_mamba", /*innerNorms=*/true);
}

Module effc::frontend::importMambaSsm1(FamilyInput &input) {
  ConfigReader &reader = input.config;
  int64_t width = reader.requireInteger("d_model", 1, kMostDimension);
  int64_t layers = reader.requireInteger("n_layer", 1, kMostLayers);
  HeadConfig head;
  head.table = "backbone.embedding.weight";
  head.key = "tie_embeddings";
  // The package would load the one over the other.
  head.mayDiffer = false;
  head.tied = reader.getBoolean("tie_embeddings", true);
  MambaSsmLayers around = readMambaSsmLayers(input, width, layers);
  ignoreHarmless(reader, input.remarks, {"fused_add_norm", "residual_in_fp32"});
  SelectiveConfig mixer;
  mixer.inner = 2 * width;
  mixer.keys = 16;
  mixer.rank = (width + 15) / 16;
  if (const JsonObject *object = reader.getObjectIfSet("ssm_cfg")) {
    ConfigReader inner(reader, "ssm_cfg", *object);
    (void)inner.getString("layer");
    mixer.keys = inner.getInteger("d_state", 1, kMostDimension, 16);
    mixer.taps = inner.getInteger("d_conv", 2, 64, 4);
    mixer.inner = inner.getInteger("expand", 1, 1024, 2) * width;
    mixer.rank = readTimeStepRank(inner, "dt_rank", width);
    mixer.projectionBias = inner.getBoolean("bias", false);
    mixer.convolutionBias = inner.getBoolean("conv_bias", true);
    ignoreHarmless(inner, input.remarks,
                   {"dt_init", "dt_init_floor", "dt_max", "dt_min", "dt_scale",
                    "use_fast_path"});
    reader.finishInner(inner);
  }
  // Read with the vocabulary.
  (void)reader.get("pad_vocab_size_multiple");
  if (llvm::Error error = reader.finish())
    return error;
  return build(input, "mamba", width, layers, mixer, around, head);
}
