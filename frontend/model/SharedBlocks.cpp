#include "frontend/model/SharedBlocks.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/model/LayerPattern.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using llvm::Twine;
using mlir::Value;

//===----------------------------------------------------------------------===//
// The configuration
//===----------------------------------------------------------------------===//

DecoderConfig effc::frontend::readSharedDecoder(ConfigReader &reader,
                                                int64_t vocabulary) {
  DecoderConfig decoder;
  decoder.vocabulary = vocabulary;
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
  return decoder;
}

std::vector<int64_t>
effc::frontend::readUses(ConfigReader &reader, int64_t layers,
                         llvm::function_ref<bool(int64_t layer)> otherwise) {
  llvm::StringRef key =
      reader.isSet("layer_types") ? "layer_types" : "layers_block_type";
  std::vector<unsigned> kinds = readLayerPattern(
      reader, key, layers, {"mamba", "hybrid", "linear_attention"},
      [&](int64_t layer) -> unsigned { return otherwise(layer) ? 1 : 0; });
  std::vector<int64_t> uses;
  for (int64_t layer = 0; layer < layers; ++layer)
    if (kinds[size_t(layer)] == 1)
      uses.push_back(layer);
  return uses;
}

void effc::frontend::checkSizesSaidAgain(
    ConfigReader &reader,
    llvm::ArrayRef<std::pair<const char *, int64_t>> sizes) {
  for (auto [key, size] : sizes) {
    if (!reader.isSet(key))
      continue;
    int64_t found = reader.getInteger(key, 1, kMostDimension, size);
    if (!reader.hasProblem() && found != size)
      reader.report("expects " + quote(key) + " to be " + Twine(size) +
                    ", which follows from other keys, but got " + Twine(found));
  }
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

/// Whether the file has a block for a layer of these names alone.
static bool hasOwnBlock(const SharedBlocksConfig &config,
                        llvm::function_ref<bool(const std::string &)> has,
                        const LayerNames &names) {
  std::string block = names.source + config.block;
  return has(block + "input_layernorm.weight") ||
         has(block + "pre_ff_layernorm.weight");
}

namespace {

/// A block's op in one of the layers that use it.
class BlockEmitter {
public:
  BlockEmitter(ModelBuilder &model, const SharedBlocksConfig &config,
               size_t use)
      : model(model), config(config), decoder(config.decoder), use(use),
        names(decoder, config.uses[use]) {
    // A layer's own tensors, where the file has them: only tied blocks are
    // stored once.
    int64_t first = config.uses[use % size_t(config.blocks)];
    bool isOwn = hasOwnBlock(
        config,
        [&](const std::string &tensor) { return model.hasTensor(tensor); },
        names);
    source = (isOwn ? names : LayerNames(decoder, first)).source + config.block;
    weights =
        isOwn ? names.name + "block."
              : "blocks." + std::to_string(use % size_t(config.blocks)) + ".";
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
    Value narrow = model.project(here + ".in", own + "0", x, *config.rank);
    return model.add(here, y,
                     model.project(here + ".out", own + "1", narrow, rows));
  }

  Value emitMlp(Value x) {
    const MlpConfig &mlp = decoder.mlp;
    std::string here = names.name + "mlp";
    Value gate, up;
    if (config.rank) {
      Value both = linear("gate_up", "feed_forward.gate_up_proj", x,
                          2 * mlp.hidden, mlp.bias);
      both =
          adapt("gate_up", "feed_forward.gate_up_proj_adapter_list", x, both);
      gate = model.slice(here, both, 0, mlp.hidden);
      up = model.slice(here, both, mlp.hidden, mlp.hidden);
    } else {
      gate = linear("gate", "feed_forward.gate_proj", x, mlp.hidden, mlp.bias);
      up = linear("up", "feed_forward.up_proj", x, mlp.hidden, mlp.bias);
    }
    Value hidden =
        model.mul(here, model.activate(here, gate, mlp.activation), up);
    return linear("down", "feed_forward.down_proj", hidden, decoder.width,
                  mlp.bias);
  }

  ModelBuilder &model;
  const SharedBlocksConfig &config;
  const DecoderConfig &decoder;
  size_t use;
  LayerNames names;
  std::string source, weights;
};

} // namespace

static Value emitSharingLayer(ModelBuilder &model,
                              const SharedBlocksConfig &config, int64_t layer,
                              EmitLayerMixer mixer, Value embeddings, Value x) {
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
  y = mixer(model, names.name, source + "mamba.", y);
  return model.add(names.name + "mixer_residual", x, y);
}

/// Of blocks that are stored for each use, the products of other uses.
static void leaveOtherUses(FamilyInput &input,
                           const SharedBlocksConfig &config) {
  if (!config.rank)
    return;
  std::vector<std::string> unread;
  auto hasOwn = [&](size_t use) {
    return hasOwnBlock(
        config,
        [&](const std::string &tensor) { return input.checkpoint.has(tensor); },
        LayerNames(config.decoder, config.uses[use]));
  };
  for (size_t use = 0; use < config.uses.size(); ++use) {
    if (!hasOwn(use))
      continue;
    std::string block =
        LayerNames(config.decoder, config.uses[use]).source + config.block;
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
effc::frontend::buildSharedBlocks(const SharedBlocksConfig &config,
                                  FamilyInput &input, EmitLayerMixer mixer) {
  leaveOtherUses(input, config);
  TextModelConfig text = textModelOf(config.decoder, input);
  text.endNorm = config.decoder.prefix + "final_layernorm";
  if (config.uses.empty())
    text.context = 0; // no state grows
  return buildTextModel(text, input, [&](ModelBuilder &model, Value x) {
    Value embeddings = x;
    for (int64_t layer = 0; layer < int64_t(config.decoder.layers.size());
         ++layer)
      x = emitSharingLayer(model, config, layer, mixer, embeddings, x);
    return x;
  });
}
