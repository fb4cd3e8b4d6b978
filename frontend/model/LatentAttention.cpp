#include "frontend/model/LatentAttention.h"

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
    const auto &[heads, keys, shared, values, rank, queryRank, norm] = config;
    Value row = part(".latent", "kv_a_proj_with_mqa", x,
                     model.rows(0, rank, rank + shared, 1));
    row =
        model.norm(name + ".latent_norm", source + "kv_a_layernorm", row, norm);
    Value common = part(".shared_key", "kv_a_proj_with_mqa", x,
                        model.rows(rank, shared, rank + shared, 1));
    AttentionConfig attention;
    attention.heads = heads;
    attention.keys = rank + shared;
    attention.scale = 1 / std::sqrt(double(keys + shared));
    LayerAttention layer = streamed(model, name, {});
    AttentionExtras extras;
    Value query = emitQuery(x);
    addSinks(model, name, layer, query, extras);
    Value value;
    if (layer.sinks > 0)
      value = model.reshape(name, row, {1, rank});
    else
      extras.valuesOfKeys = rank;
    Value mixed = attend(
        model, name, attention, layer.window, query,
        model.reshape(name, join(".key", row, common, 1), {1, rank + shared}),
        value, extras);
    // The rows of the values, behind those of the keys for each head.
    Value y = model.linear(name + ".value", mixed,
                           matrices(".value", keys, values, rank,
                                    /*transposed=*/false));
    return model.project(name + ".out", source + "o_proj",
                         model.reshape(name, y, {heads * values}),
                         model.getWidth());
  }

private:
  /// [T, H, L + R]: (q M) c = q (M c), with a head's matrix M of keys.
  Value emitQuery(Value x) {
    int64_t stride = config.keys + config.shared, heads = config.heads;
    std::string tensor = "q_proj";
    if (config.queryRank > 0) {
      x = model.project(name + ".query_low", source + "q_a_proj", x,
                        config.queryRank);
      x = model.norm(name + ".query_norm", source + "q_a_layernorm", x,
                     config.norm);
      tensor = "q_b_proj";
    }
    Value own =
        part(".query", tensor, x, model.rows(0, config.keys, stride, heads));
    Value common = part(".shared_query", tensor, x,
                        model.rows(config.keys, config.shared, stride, heads));
    own = model.linear(
        name + ".key", model.reshape(name, own, {heads, config.keys}),
        matrices(".key", 0, config.rank, config.keys, /*transposed=*/true));
    return join(".query", own,
                model.reshape(name, common, {heads, config.shared}), 2);
  }

  Value part(const char *what, const std::string &tensor, Value x,
             seq::RowGroupsAttr rows) {
    return model.projectRows(name + what, source + tensor, x, rows);
  }

  /// Of each head's rows in the compressed row's matrix those from `offset` on,
  /// as a matrix [rows, columns].
  Value matrices(const char *what, int64_t offset, int64_t rows,
                 int64_t columns, bool transposed) {
    // Keys and values in tensors of their own, the keys' turned: [H, rows, columns].
    std::string own =
        source + (transposed ? "k_b_proj" : "v_b_proj") + ".weight";
    if (model.hasTensor(own))
      return model.blocks(name + what, WeightSource(own), config.heads, rows,
                          columns);
    WeightSource from(source + "kv_b_proj.weight");
    from.transposed = transposed;
    from.rows = model.rows(offset, transposed ? columns : rows,
                           config.keys + config.values, config.heads);
    return model.blocks(name + what, from, config.heads, rows, columns);
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
