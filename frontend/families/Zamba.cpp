#include "frontend/families/Zamba.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/SelectiveMixer.h"
#include "frontend/model/SharedBlocks.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct ZambaConfig {
  SharedBlocksConfig blocks;
  SelectiveConfig mixer;
};

} // namespace

static SelectiveConfig readHeadedMixer(ConfigReader &reader, int64_t width) {
  SelectiveConfig mixer;
  mixer.heads = reader.getInteger("n_mamba_heads", 1, kMostDimension, 2);
  mixer.keys = reader.getInteger("mamba_d_state", 1, kMostDimension, 16);
  mixer.taps = reader.getInteger("mamba_d_conv", 1, 64, 4);
  mixer.inner = reader.getInteger("mamba_expand", 1, 1024, 2) * width;
  mixer.rank = readTimeStepRank(reader, "mamba_dt_rank", width);
  mixer.convolutionBias = reader.getBoolean("mamba_conv_bias", true);
  mixer.projectionBias = reader.getBoolean("mamba_proj_bias", false);
  if (!reader.hasProblem() && mixer.inner % mixer.heads != 0)
    reader.report(
        "expects 'mamba_expand' * 'hidden_size' " + Twine(mixer.inner) +
        " to be a multiple of 'n_mamba_heads', but got " + Twine(mixer.heads));
  mixer.function =
      readActivation(reader, "hidden_mamba_act", seq::Nonlinearity::Silu);
  return mixer;
}

/// Which layers use the block, where no list says so: the third, and behind it
/// one of each period.
static std::vector<int64_t> readUsesOfPeriod(ConfigReader &reader,
                                             int64_t layers) {
  int64_t period = reader.getInteger("attn_layer_period", 1, kMostLayers, 6);
  int64_t offset = reader.getInteger("attn_layer_offset", 0, kMostLayers, 4);
  return readUses(reader, layers, [&](int64_t layer) {
    return layer == 2 || (layer > 2 && (layer - 3) % period == offset);
  });
}

static ZambaConfig readZamba(FamilyInput &input) {
  ConfigReader &reader = input.config;
  ZambaConfig config;
  SharedBlocksConfig &blocks = config.blocks;
  DecoderConfig &decoder = blocks.decoder;
  decoder = readSharedDecoder(reader, input.vocabulary);
  decoder.family = "zamba";
  blocks.block = "shared_transf.";
  blocks.uses = readUsesOfPeriod(reader, int64_t(decoder.layers.size()));
  config.mixer = readHeadedMixer(reader, decoder.width);
  checkSizesSaidAgain(reader, {{"attention_hidden_size", 2 * decoder.width},
                               {"attention_head_dim", decoder.attention.keys}});
  ignoreHarmless(reader, input.remarks,
                 {"num_logits_to_keep", "time_step_floor", "time_step_max",
                  "time_step_min", "use_associative_scan",
                  "use_mamba_kernels"});
  return config;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importZamba(FamilyInput &input) {
  ZambaConfig config = readZamba(input);
  if (llvm::Error error = input.config.finish())
    return error;
  return buildSharedBlocks(config.blocks, input,
                           [&](ModelBuilder &model, const std::string &name,
                               const std::string &source, Value x) {
                             return emitSelectiveMixer(model, config.mixer,
                                                       name, source, x);
                           });
}
