#include "frontend/families/FlashSamba.h"

#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/SelectiveMixer.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

using Module = llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>;

Module effc::frontend::importFlashSamba(FamilyInput &input) {
  ConfigReader &reader = input.config;
  FlashConfig config = readFlash(input, 4);
  config.family = "samba";
  config.norm.epsilon = reader.getNumber("norm_eps", 0, 1, 1e-5);
  config.head.table = "backbone.embeddings.weight";
  // 'intermediate_size' is Mamba's here; the gated layers go by the ratio.
  double ratio = reader.getNumberIfSet("hidden_ratio", 0, 1024).value_or(4);
  config.mlp.hidden = widthOfMlp(config.width, ratio);
  SelectiveConfig mixer;
  double expand = reader.getNumber("expand", 1e-6, 1024, 2);
  mixer.inner = std::max<int64_t>(int64_t(expand * double(config.width)), 1);
  mixer.inner = reader.getIntegerIfSet("intermediate_size", 1, kMostDimension)
                    .value_or(mixer.inner);
  mixer.keys = reader.getInteger("state_size", 1, kMostDimension, 16);
  mixer.taps = reader.getInteger("conv_kernel", 1, 64, 4);
  mixer.projectionBias = reader.getBoolean("use_bias", false);
  mixer.rank = readTimeStepRank(reader, "time_step_rank", config.width);
  requireOneOf(reader, "hidden_act", {"swish", "silu"});
  // The library does not hand "use_conv_bias" to its layers.
  ignoreHarmless(reader, input.remarks,
                 {"use_conv_bias", "fuse_norm", "residual_in_fp32",
                  "rescale_prenorm_residual", "time_step_floor",
                  "time_step_init_scheme", "time_step_max", "time_step_min",
                  "time_step_scale"});
  if (llvm::Error error = reader.finish())
    return error;
  leaveAside(input, {"rotary.inv_freq"});
  TextModelConfig text = textOf(config, input);
  text.endNorm = "backbone.norm_f";
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      std::string name = "layers." + std::to_string(layer) + ".";
      std::string source = "backbone." + name;
      Value normed = model.norm(name + "mixer_norm", source + "mixer_norm", x,
                                config.norm);
      Value mixed = config.attention.count(layer)
                        ? emitFlashAttention(model, config, name,
                                             source + "mixer.", normed, layer)
                        : emitSelectiveMixer(model, mixer, name,
                                             source + "mixer.", normed);
      x = model.add(name + "mixer_residual", x, mixed);
      normed =
          model.norm(name + "mlp_norm", source + "mlp_norm", x, config.norm);
      Value inner =
          emitMlp(model, config.mlp, {name + "mlp", source + "mlp."}, normed);
      x = model.add(name + "mlp_residual", x, inner);
    }
    return x;
  });
}
