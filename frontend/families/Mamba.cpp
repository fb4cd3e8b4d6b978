#include "frontend/families/Mamba.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/SelectiveMixer.h"
#include "frontend/model/TextModel.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

static Module import(FamilyInput &input, llvm::StringRef family,
                     bool innerNorms) {
  ConfigReader &reader = input.config;
  int64_t width = reader.requireInteger("hidden_size", 1, kMostDimension);
  int64_t layers = reader.requireInteger("num_hidden_layers", 1, kMostLayers);
  SelectiveConfig mixer;
  mixer.keys = reader.getInteger("state_size", 1, kMostDimension, 16);
  mixer.taps = reader.getInteger("conv_kernel", 2, 64, 4);
  mixer.projectionBias = reader.getBoolean("use_bias", false);
  mixer.convolutionBias = reader.getBoolean("use_conv_bias", true);
  double expand = reader.getNumber("expand", 1e-6, 1024, 2);
  mixer.inner = std::max<int64_t>(int64_t(expand * double(width)), 1);
  int64_t written =
      reader.getInteger("intermediate_size", 1, kMostDimension, mixer.inner);
  if (!reader.hasProblem() && written != mixer.inner)
    reader.report("expects 'intermediate_size' to be expand * hidden_size = " +
                  Twine(mixer.inner) + ", but got " + Twine(written));
  mixer.rank = readTimeStepRank(reader, "time_step_rank", width);
  if (innerNorms)
    mixer.innerNorm = reader.getNumber("mixer_rms_eps", 0, 1, 1e-6);
  NormConfig norm;
  norm.epsilon = reader.getNumber("layer_norm_epsilon", 0, 1, 1e-5);
  HeadConfig head;
  head.table = "backbone.embeddings.weight";
  head.tied = reader.getBoolean("tie_word_embeddings", true);
  if (readActivation(reader, "hidden_act", seq::Nonlinearity::Silu) !=
      seq::Nonlinearity::Silu)
    reader.reportMismatch("hidden_act", "silu", *reader.get("hidden_act"));
  ignoreHarmless(reader, input.remarks,
                 {"rescale_prenorm_residual", "residual_in_fp32",
                  "time_step_floor", "time_step_init_scheme", "time_step_max",
                  "time_step_min", "time_step_scale", "use_associative_scan",
                  "use_mambapy", "use_falcon_mambapy"});
  if (llvm::Error error = reader.finish())
    return error;
  TextModelConfig text;
  text.family = family;
  text.vocabulary = input.vocabulary;
  text.width = width;
  text.head = head;
  text.endNorm = "backbone.norm_f";
  text.norm = norm;
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < layers; ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = "backbone." + name;
      Value normed = model.norm(name + "norm", source + "norm", x, norm);
      x = model.add(
          name + "residual", x,
          emitSelectiveMixer(model, mixer, name, source + "mixer.", normed));
    }
    return x;
  });
}

Module effc::frontend::importMamba(FamilyInput &input) {
  return import(input, "mamba", /*innerNorms=*/false);
}

Module effc::frontend::importFalconMamba(FamilyInput &input) {
  return import(input, "falcon_mamba", /*innerNorms=*/true);
}
