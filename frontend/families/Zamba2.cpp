#include "frontend/families/Zamba2.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/Decoder.h"
#include "frontend/model/LayerPattern.h"
#include "frontend/model/StateSpaceMixer.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

namespace {

struct Zamba2Config {
  DecoderConfig decoder;
  StateSpaceConfig mixer;
  /// The layers that use a shared block, in their order.
  std::vector<int64_t> uses;
  /// Blocks, which the uses take in turn.
  int64_t blocks = 1;
  /// R: each use adds products of this rank to those of its block.
  int64_t rank = 128;
  /// Whether to those of queries, keys and values too.
  bool adaptsAttention = false;
};

} // namespace

static void readKinds(ConfigReader &reader, Zamba2Config &config) {
  auto layers = int64_t(config.decoder.layers.size());
  llvm::StringRef key =
      reader.isSet("layer_types") ? "layer_types" : "layers_block_type";
  std::vector<unsigned> kinds = readLayerPattern(
      reader, key, layers, {"mamba", "hybrid", "linear_attention"},
      [](int64_t layer) -> unsigned {
        // That of the 2.7B model.
        bool isUse = layer < 43 ? layer > 0 && layer % 6 == 0
                                : layer == 47 || layer == 51;
        return isUse ? 1 : 0;
      });
  for (int64_t layer = 0; layer < layers; ++layer)
    if (kinds[size_t(layer)] == 1)
      config.uses.push_back(layer);
  config.blocks = reader.getInteger("num_mem_blocks", 1, kMostLayers, 1);
}

/// Keys that say once more what others do.
static void checkRepeated(ConfigReader &reader, const Zamba2Config &config) {
  const AttentionConfig &attention = config.decoder.attention;
  int64_t width = config.decoder.width;
  std::pair<const char *, int64_t> sizes[] = {
      {"attention_hidden_size", 2 * width},
      {"attention_head_dim", attention.keys},
      {"mamba_headdim", config.mixer.values},
      {"kv_channels", width / attention.heads},
      {"num_query_groups", attention.heads}};
  for (auto [key, size] : sizes) {
    if (!reader.isSet(key))
      continue;
    int64_t found = reader.getInteger(key, 1, kMostDimension, size);
    if (!reader.hasProblem() && found != size)
      reader.report("expects " + quote(key) + " to be " + Twine(size) +
                    ", which follows from other keys, but got " + Twine(found));
  }
  constexpr llvm::StringLiteral kUses = "hybrid_layer_ids";
  std::vector<bool> listed =
      readListedLayers(reader, kUses, int64_t(config.decoder.layers.size()));
  auto count = size_t(llvm::count(listed, true));
  bool isSame = llvm::all_of(
      config.uses, [&](int64_t layer) { return listed[size_t(layer)]; });
  if (reader.isSet(kUses) && !reader.hasProblem() &&
      !(isSame && count == config.uses.size()))
    reader.report("expects " + quote(kUses) + " to name the " +
                  Twine(config.uses.size()) +
                  " hybrid layers of the kinds, but got " + Twine(count));
}

static StateSpaceConfig readMixer(ConfigReader &reader, FamilyInput &input,
                                  int64_t width) {
  constexpr int64_t kMost = kMostStateSpaceDimension;
  StateSpaceConfig mixer;
  mixer.heads = reader.getInteger("n_mamba_heads", 1, kMost, 8);
  mixer.groups = reader.getInteger("mamba_ngroups", 1, kMost, 1);
  mixer.keys = reader.getInteger("mamba_d_state", 1, kMost, 64);
  mixer.taps = reader.getInteger("mamba_d_conv", 2, 64, 4);
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
  DecoderConfig &decoder = config.decoder;
  decoder.family = "zamba2";
  decoder.vocabulary = input.vocabulary;
  decoder.width = reader.requireInteger("hidden_size", 1, kMostDimension);
  decoder.layers.resize(
      reader.requireInteger("num_hidden_layers", 1, kMostLayers));
  decoder.mlp.hidden =
      reader.getIntegerIfSet("intermediate_size", 1, kMostDimension)
          .value_or(4 * decoder.width);
  decoder.mlp.activation =
      readActivation(reader, "hidden_act", seq::Nonlinearity::Gelu);
  decoder.context =
      reader.getInteger("max_position_embeddings", 1, kMostContext, 4096);
  if (reader.getBoolean("use_long_context", false))
    decoder.context = 16384;
  decoder.norm.epsilon = reader.getNumber("rms_norm_eps", 0, 1, 1e-5);
  decoder.head.tied = reader.getBoolean("tie_word_embeddings", true);
  AttentionConfig &attention = decoder.attention;
  // Tokens and their embeddings side by side.
  attention = readEqualHeads(reader, "num_attention_heads", 2 * decoder.width,
                             "hidden_size");
  int64_t keyHeads =
      reader.getIntegerIfSet("num_key_value_heads", 1, kMostDimension)
          .value_or(attention.heads);
  if (!reader.hasProblem() && attention.heads % keyHeads != 0)
    reader.report("expects 'num_attention_heads' to be a multiple of "
                  "'num_key_value_heads' " +
                  Twine(keyHeads) + ", but got " + Twine(attention.heads));
  attention.keyHeads = keyHeads;
  attention.scale = 1 / std::sqrt(double(attention.keys) / 2);
  readKinds(reader, config);
  config.mixer = readMixer(reader, input, decoder.width);
  decoder.mlp.bias = config.mixer.inputBias;
  config.rank = reader.getInteger("adapter_rank", 1, kMostDimension, 128);
  config.adaptsAttention =
      reader.getBoolean("use_shared_attention_adapter", false);
  if (config.adaptsAttention && !reader.hasProblem() &&
      keyHeads != attention.heads)
    reader.report("expects 'num_key_value_heads' to be 'num_attention_heads' " +
                  Twine(attention.heads) +
                  " beside 'use_shared_attention_adapter', but got " +
                  Twine(keyHeads));
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

namespace {

/// A block's op in one of the layers that use it.
class BlockEmitter {
public:
  BlockEmitter(ModelBuilder &model, const Zamba2Config &config, size_t use)
      : model(model), config(config), decoder(config.decoder), use(use),
        names(decoder, config.uses[use]) {
    // A layer's own tensors, where the file has them: only tied blocks are
    // stored once.
    int64_t first = config.uses[use % size_t(config.blocks)];
    bool isOwn = hasOwn(
        [&](const std::string &tensor) { return model.hasTensor(tensor); },
        names);
    source = isOwn ? names.source + kBlock
                   : LayerNames(decoder, first).source + kBlock;
    weights =
        isOwn ? names.name + "block."
              : "blocks." + std::to_string(use % size_t(config.blocks)) + ".";
  }

  static constexpr const char *kBlock = "shared_transformer.";

  /// Whether the file has a block for a layer of these names alone.
  static bool hasOwn(llvm::function_ref<bool(const std::string &)> has,
                     const LayerNames &names) {
    std::string block = names.source + kBlock;
    return has(block + "input_layernorm.weight") ||
           has(block + "pre_ff_layernorm.weight");
  }

  /// [T, D] of tokens and their embeddings, [T, D] each.
  Value emit(Value x, Value embeddings) {
    const AttentionConfig &attention = decoder.attention;
    std::string here = names.name + "attention";
    Value both = seq::ConcatOp::create(model.getBuilder(), model.at(here),
                                       mlir::ValueRange{x, embeddings},
                                       /*axis=*/1);
    both = norm("attention_norm", "input_layernorm", both, 2 * decoder.width);
    auto project = [&](const std::string &part, int64_t heads) {
      std::string tensor = "self_attn." + part + "_proj";
      Value y = linear(part, tensor, both, heads * attention.keys, false);
      if (config.adaptsAttention)
        y = adapt(part, "self_attn.linear_" + part + "_adapter_list", both, y);
      return model.reshape(here, y, {heads, attention.keys});
    };
    LayerAttention layer =
        streamed(model, here, decoder.layers[size_t(config.uses[use])]);
    Value query = project("q", attention.heads),
          key = project("k", attention.keyHeads),
          value = project("v", attention.keyHeads);
    AttentionExtras extras;
    addSinks(model, here, layer, query, extras);
    Value mixed = attend(model, here, attention, layer.window,
                         turn(model, here + ".query", layer, query),
                         turn(model, here + ".key", layer, key), value, extras);
    mixed = model.reshape(here, mixed, {attention.inner()});
    Value y = linear("o", "self_attn.o_proj", mixed, decoder.width, false);
    return emitMlp(norm("mlp_norm", "pre_ff_layernorm", y, decoder.width));
  }

private:
  Value norm(const char *part, const char *tensor, Value x, int64_t channels) {
    return model.rmsNorm(names.name + part, x,
                         vector(part, source + tensor + ".weight", channels),
                         decoder.norm.epsilon);
  }

  Value vector(const std::string &part, const std::string &tensor,
               int64_t size) {
    std::string weight = weights + part;
    return model.isDeclared(weight) ? model.parameter(weight)
                                    : model.vector(weight, tensor, size);
  }

  /// The product with a matrix of the block, and its bias.
  Value linear(const std::string &part, const std::string &tensor, Value x,
               int64_t rows, bool hasBias) {
    std::string weight = weights + part;
    auto columns =
        llvm::cast<mlir::RankedTensorType>(x.getType()).getDimSize(1);
    Value matrix =
        model.isDeclared(weight)
            ? model.parameter(weight)
            : model.matrix(weight, source + tensor + ".weight", rows, columns);
    Value bias;
    if (hasBias)
      bias = vector(part + "_bias", source + tensor + ".bias", rows);
    return model.linear(names.name + part, x, matrix, bias);
  }

  /// `y`, and what the use's own product of low rank makes of x.
  Value adapt(const std::string &part, const std::string &list, Value x,
              Value y) {
    std::string here = names.name + part + ".adapter",
                own = source + list + "." + std::to_string(use) + ".";
    auto rows = llvm::cast<mlir::RankedTensorType>(y.getType()).getDimSize(1);
    Value narrow = model.project(here + ".in", own + "0", x, config.rank);
    return model.add(here, y,
                     model.project(here + ".out", own + "1", narrow, rows));
  }

  Value emitMlp(Value x) {
    const MlpConfig &mlp = decoder.mlp;
    std::string here = names.name + "mlp";
    Value both = linear("gate_up", "feed_forward.gate_up_proj", x,
                        2 * mlp.hidden, mlp.bias);
    both = adapt("gate_up", "feed_forward.gate_up_proj_adapter_list", x, both);
    Value gate = model.activate(here, model.slice(here, both, 0, mlp.hidden),
                                mlp.activation);
    Value hidden =
        model.mul(here, gate, model.slice(here, both, mlp.hidden, mlp.hidden));
    return linear("down", "feed_forward.down_proj", hidden, decoder.width,
                  mlp.bias);
  }

  ModelBuilder &model;
  const Zamba2Config &config;
  const DecoderConfig &decoder;
  size_t use;
  LayerNames names;
  std::string source, weights;
};

} // namespace

static Value emitLayer(ModelBuilder &model, const Zamba2Config &config,
                       int64_t layer, Value embeddings, Value x) {
  const DecoderConfig &decoder = config.decoder;
  LayerNames names(decoder, layer);
  std::string source = names.source;
  Value taken = x;
  auto known = llvm::find(config.uses, layer);
  if (known != config.uses.end()) {
    auto use = size_t(known - config.uses.begin());
    Value block = BlockEmitter(model, config, use).emit(x, embeddings);
    block = model.project(names.name + "linear", source + "linear", block,
                          decoder.width);
    taken = model.add(names.name + "block_residual", x, block);
    source += "mamba_decoder.";
  }
  Value y = model.norm(names.name + "mixer_norm", source + "input_layernorm",
                       taken, decoder.norm);
  y = emitStateSpaceMixer(model, config.mixer, names.name, source + "mamba.",
                          y);
  return model.add(names.name + "mixer_residual", x, y);
}

/// Of blocks that are stored for each use, the products of other uses.
static void leaveOtherUses(FamilyInput &input, const Zamba2Config &config) {
  std::vector<std::string> unread;
  auto hasOwn = [&](size_t use) {
    return BlockEmitter::hasOwn(
        [&](const std::string &tensor) { return input.checkpoint.has(tensor); },
        LayerNames(config.decoder, config.uses[use]));
  };
  for (size_t use = 0; use < config.uses.size(); ++use) {
    if (!hasOwn(use))
      continue;
    std::string block = LayerNames(config.decoder, config.uses[use]).source +
                        BlockEmitter::kBlock;
    for (size_t other = 0; other < config.uses.size(); ++other) {
      bool isReadHere = other == use || (other % size_t(config.blocks) == use &&
                                         !hasOwn(other));
      for (const char *list : {"self_attn.linear_q_adapter_list.",
                               "self_attn.linear_k_adapter_list.",
                               "self_attn.linear_v_adapter_list.",
                               "feed_forward.gate_up_proj_adapter_list."})
        if (!isReadHere)
          unread.push_back(block + list + std::to_string(other) + ".");
    }
  }
  llvm::SmallVector<llvm::StringRef> starts(unread.begin(), unread.end());
  leaveAside(input, {"rotary_emb.inv_freq"}, starts);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importZamba2(FamilyInput &input) {
  Zamba2Config config = readZamba2(input);
  if (llvm::Error error = input.config.finish())
    return error;
  leaveOtherUses(input, config);
  TextModelConfig text = textModelOf(config.decoder, input);
  text.endNorm = config.decoder.prefix + "final_layernorm";
  config.mixer.normGroups = chooseNormGroups(config.mixer, input);
  if (config.uses.empty())
    text.context = 0; // no state grows
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    Value embeddings = x;
    for (int64_t layer = 0; layer < int64_t(config.decoder.layers.size());
         ++layer)
      x = emitLayer(model, config, layer, embeddings, x);
    return x;
  });
}
