#include "frontend/families/Zamba2.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/LayerPattern.h"
#include "frontend/model/SharedBlocks.h"
#include "frontend/model/StateSpaceMixer.h"

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct Zamba2Config {
  SharedBlocksConfig blocks;
  StateSpaceConfig mixer;
};

} // namespace

/// Whether a layer of the 2.7B model uses a block.
static bool usesBlockByDefault(int64_t layer) {
  return layer < 43 ? layer > 0 && layer % 6 == 0 : layer == 47 || layer == 51;
}

/// Keys that say once more what others do.
static void checkRepeated(ConfigReader &reader, const Zamba2Config &config) {
  const DecoderConfig &decoder = config.blocks.decoder;
  const AttentionConfig &attention = decoder.attention;
  const std::vector<int64_t> &uses = config.blocks.uses;
  checkSizesSaidAgain(reader, {{"attention_hidden_size", 2 * decoder.width},
                               {"attention_head_dim", attention.keys},
                               {"mamba_headdim", config.mixer.values},
                               {"kv_channels", decoder.width / attention.heads},
                               {"num_query_groups", attention.heads}});
  constexpr llvm::StringLiteral kUses = "hybrid_layer_ids";
  std::vector<bool> listed =
      readListedLayers(reader, kUses, int64_t(decoder.layers.size()));
  auto count = size_t(llvm::count(listed, true));
  bool isSame =
      llvm::all_of(uses, [&](int64_t layer) { return listed[size_t(layer)]; });
  if (reader.isSet(kUses) && !reader.hasProblem() &&
      !(isSame && count == uses.size()))
    reader.report("expects " + quote(kUses) + " to name the " +
                  Twine(uses.size()) + " hybrid layers of the kinds, but got " +
                  Twine(count));
}

static StateSpaceConfig readMixer(ConfigReader &reader, FamilyInput &input,
                                  int64_t width) {
  constexpr int64_t kMost = kMostStateSpaceDimension;
  StateSpaceConfig mixer;
  mixer.heads = reader.getInteger("n_mamba_heads", 1, kMost, 8);
  mixer.groups = reader.getInteger("mamba_ngroups", 1, kMost, 1);
  mixer.keys = reader.getInteger("mamba_d_state", 1, kMost, 64);
  mixer.taps = reader.getInteger("mamba_d_conv", 1, 64, 4);
  int64_t inner = width * reader.getInteger("mamba_expand", 1, 1024, 2);
  mixer.inputBias = mixer.outputBias =
      reader.getBoolean("add_bias_linear", false);
  if (!reader.getBoolean("use_conv_bias", true))
    reader.report("expects 'use_conv_bias' to be true, but got false");
  auto check = [&](int64_t whole, const Twine &what, llvm::StringRef key,
                   int64_t part) {
    if (!reader.hasProblem() && whole % part != 0)
      reader.report("expects " + what + " " + Twine(whole) +
                    " to be a multiple of " + quote(key) + ", but got " +
                    Twine(part));
  };
  check(inner, "the mixer's channels", "n_mamba_heads", mixer.heads);
  check(mixer.heads, "'n_mamba_heads'", "mamba_ngroups", mixer.groups);
  mixer.values = std::max<int64_t>(1, inner / mixer.heads);
  // The public library bounds the time step of prompts by this, and that of
  // steps not.
  constexpr llvm::StringLiteral kLeast = "time_step_min";
  if (reader.getNumber(kLeast, 0, 1e9, 0.001) != 0.001)
    input.remarks.push_back("config.json: " + quote(kLeast) +
                            " is ignored: nothing bounds the time step");
  return mixer;
}

static Zamba2Config readZamba2(FamilyInput &input) {
  ConfigReader &reader = input.config;
  Zamba2Config config;
  SharedBlocksConfig &blocks = config.blocks;
  DecoderConfig &decoder = blocks.decoder;
  decoder = readSharedDecoder(reader, input.vocabulary);
  decoder.family = "zamba2";
  blocks.block = "shared_transformer.";
  if (reader.getBoolean("use_long_context", false))
    decoder.context = 16384;
  blocks.uses =
      readUses(reader, int64_t(decoder.layers.size()), usesBlockByDefault);
  blocks.blocks = reader.getInteger("num_mem_blocks", 1, kMostLayers, 1);
  config.mixer = readMixer(reader, input, decoder.width);
  decoder.mlp.bias = config.mixer.inputBias;
  blocks.rank = reader.getInteger("adapter_rank", 1, kMostDimension, 128);
  blocks.adaptsAttention =
      reader.getBoolean("use_shared_attention_adapter", false);
  const AttentionConfig &attention = decoder.attention;
  if (blocks.adaptsAttention && !reader.hasProblem() &&
      attention.keyHeads != attention.heads)
    reader.report("expects 'num_key_value_heads' to be 'num_attention_heads' " +
                  Twine(attention.heads) +
                  " beside 'use_shared_attention_adapter', but got " +
                  Twine(attention.keyHeads));
  if (reader.getBoolean("use_mem_rope", false)) {
    RotaryConfig rotary =
        readRotary(reader, input, {attention.keys, decoder.context});
    for (LayerAttention &layer : decoder.layers)
      layer.rotary = rotary;
  } else {
    ignoreHarmless(reader, input.remarks, {"rope_scaling", "rope_theta"});
    ignoreRotary(reader, input);
  }
  checkRepeated(reader, config);
  ignoreHarmless(reader, input.remarks,
                 {"chunk_size", "num_logits_to_keep", "time_step_floor",
                  "time_step_limit", "time_step_max", "use_mamba_kernels",
                  "use_mem_eff_path"});
  return config;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importZamba2(FamilyInput &input) {
  Zamba2Config config = readZamba2(input);
  if (llvm::Error error = input.config.finish())
    return error;
  config.mixer.normGroups = chooseNormGroups(config.mixer, input);
  return buildSharedBlocks(config.blocks, input,
                           [&](ModelBuilder &model, const std::string &name,
                               const std::string &source, Value x) {
                             return emitStateSpaceMixer(model, config.mixer,
                                                        name, source, x);
                           });
}
