#include "frontend/model/LatentAttention.h"

#include "frontend/checkpoint/Refusal.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

LatentConfig effc::frontend::readLatentAttention(ConfigReader &reader) {
  auto size = [&](llvm::StringRef key) {
    return reader.requireInteger(key, 1, kMostDimension);
  };
  LatentConfig config;
  config.heads = size("num_attention_heads");
  // Each head has keys of its own, whatever this says.
  int64_t keyHeads =
      reader.getIntegerIfSet("num_key_value_heads", 1, kMostDimension)
          .value_or(config.heads);
  if (!reader.hasProblem() && config.heads % keyHeads != 0)
    reader.report("expects 'num_attention_heads' to be a multiple of "
                  "'num_key_value_heads' " +
                  llvm::Twine(keyHeads) + ", but got " +
                  llvm::Twine(config.heads));
  config.keys = size("qk_nope_head_dim");
  config.shared = size("qk_rope_head_dim");
  config.values = size("v_head_dim");
  config.rank = size("kv_lora_rank");
  config.queryRank =
      reader.getIntegerIfSet("q_lora_rank", 1, kMostDimension).value_or(0);
  return config;
}

namespace {

class LatentEmitter {
public:
  LatentEmitter(ModelBuilder &model, const LatentConfig &config,
                const std::string &name, const std::string &source)
      : model(model), config(config), name(name), source(source) {}

  Value emit(Value x) {
    int64_t heads = config.heads, keys = config.keys, shared = config.shared,
            values = config.values, rank = config.rank;
    Value row = part(".latent", "kv_a_proj_with_mqa", x,
                     model.rows(0, rank, rank + shared, 1), config.bias);
    row = model.norm(name + ".latent_norm", source + "kv_a_layernorm", row,
                     config.norm);
    Value common =
        part(".shared_key", "kv_a_proj_with_mqa", x,
             model.rows(rank, shared, rank + shared, 1), config.bias);
    AttentionConfig attention;
    attention.heads = heads;
    attention.keys = rank + shared;
    attention.scale = config.scoreScale / std::sqrt(double(keys + shared));
    LayerAttention layer;
    layer.rotary = config.rotary;
    layer = streamed(model, name, layer);
    Query query = emitQuery(x);
    AttentionExtras extras;
    extras.sinks = layer.sinks;
    if (layer.sinks > 0)
      extras.sinkQuery =
          join(".query", query.own,
               turn(model, name + ".sink_query", layer, query.common,
                    layer.sinks + layer.window - 1),
               2);
    Value whole = join(".query", query.own,
                       turn(model, name + ".query", layer, query.common), 2);
    common = model.reshape(name,
                           turn(model, name + ".shared_key", layer,
                                model.reshape(name, common, {1, shared})),
                           {shared});
    Value value;
    if (layer.sinks > 0)
      value = model.reshape(name, row, {1, rank});
    else
      extras.valuesOfKeys = rank;
    Value mixed = attend(
        model, name, attention, layer.window, whole,
        model.reshape(name, join(".key", row, common, 1), {1, rank + shared}),
        value, extras);
    // The rows of the values, behind those of the keys for each head.
    Value y =
        model.linear(name + ".value", mixed,
                     matrices(MatrixRole::Values, ".value", keys, values, rank,
                              /*transposed=*/false));
    if (!config.headGate.empty())
      y = gateHeads(x, y);
    return model.project(MatrixRole::AttentionOut, name + ".out",
                         source + config.output.str(),
                         model.reshape(name, y, {heads * values}),
                         model.getWidth(), config.bias);
  }

private:
  /// [T, H, L] in the compressed row's space: (q M) c = q (M c), with a head's
  /// matrix M of keys. And [T, H, R].
  struct Query {
    Value own, common;
  };

  /// y [T, H, V]
  Value gateHeads(Value x, Value y) {
    std::string here = name + ".gate";
    Value gate = model.activate(
        here,
        model.project(here, source + config.headGate.str(), x, config.heads),
        seq::Nonlinearity::Sigmoid);
    return model.mul(here, y,
                     seq::BroadcastOp::create(model.getBuilder(),
                                              model.at(here), gate, y,
                                              llvm::ArrayRef<int64_t>{0, 1}));
  }

  Query emitQuery(Value x) {
    int64_t stride = config.keys + config.shared, heads = config.heads;
    std::string tensor = "q_proj";
    if (config.queryRank > 0) {
      x = model.project(name + ".query_low", source + "q_a_proj", x,
                        config.queryRank, config.bias);
      x = model.norm(name + ".query_norm", source + "q_a_layernorm", x,
                     config.norm);
      tensor = "q_b_proj";
    }
    Value own =
        part(".query", tensor, x, model.rows(0, config.keys, stride, heads));
    Value common = part(".shared_query", tensor, x,
                        model.rows(config.keys, config.shared, stride, heads));
    own = model.linear(name + ".key",
                       model.reshape(name, own, {heads, config.keys}),
                       matrices(MatrixRole::Keys, ".key", 0, config.rank,
                                config.keys, /*transposed=*/true));
    return {own, model.reshape(name, common, {heads, config.shared})};
  }

  Value part(const char *what, const std::string &tensor, Value x,
             seq::RowGroupsAttr rows, bool bias = false) {
    return model.projectRows(name + what, source + tensor, x, rows, bias);
  }

  /// Of each head's rows in the compressed row's matrix those from `offset` on,
  /// as a matrix [rows, columns].
  Value matrices(MatrixRole role, const char *what, int64_t offset,
                 int64_t rows, int64_t columns, bool transposed) {
    // Keys and values in tensors of their own, the keys' turned: [H, rows, columns].
    std::string own =
        source + (transposed ? "k_b_proj" : "v_b_proj") + ".weight";
    if (model.hasTensor(own))
      return model.blocks(role, name + what, WeightSource(own), config.heads,
                          rows, columns);
    WeightSource from(source + "kv_b_proj.weight");
    from.transposed = transposed;
    from.rows = model.rows(offset, transposed ? columns : rows,
                           config.keys + config.values, config.heads);
    return model.blocks(role, name + what, from, config.heads, rows, columns);
  }

  Value join(const char *what, Value a, Value b, int64_t axis) {
    return seq::ConcatOp::create(model.getBuilder(), model.at(name + what),
                                 mlir::ValueRange{a, b}, axis);
  }

  ModelBuilder &model;
  const LatentConfig &config;
  const std::string &name, &source;
};

} // namespace

Value effc::frontend::emitLatentAttention(ModelBuilder &model,
                                          const LatentConfig &config,
                                          const std::string &name,
                                          const std::string &source, Value x) {
  return LatentEmitter(model, config, name, source).emit(x);
}
