#include "frontend/gguf/architectures/Rows.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;

void effc::frontend::describeHeads(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  std::string keyWidth = config.keyOf("attention.key_length"),
              valueWidth = config.keyOf("attention.value_length");
  if (keys.has(keyWidth))
    config.setInteger("head_dim", config.getHeadWidth(), keyWidth);
  if (auto values = keys.getInteger(valueWidth, 1, int64_t(1) << 20);
      values && *values != config.getHeadWidth())
    keys.report("expects " + quote(valueWidth) + " to be " +
                llvm::Twine(config.getHeadWidth()) +
                ", the channels of a key, but got " + llvm::Twine(*values));
}

void effc::frontend::describeDenseLayers(GgufConfig &config) {
  std::vector<int64_t> dense;
  for (int64_t layer = 0; layer < config.getLayers(); ++layer)
    if (!config.getModel().find(
            ("blk." + llvm::Twine(layer) + ".ffn_gate_inp.weight").str()))
      dense.push_back(layer);
  config.setIntegers("mlp_only_layers", dense, "blk.*.ffn_gate_inp.weight");
}

void effc::frontend::describeWindowPattern(GgufConfig &config, int64_t period) {
  GgufMetadata &keys = config.getKeys();
  std::string key = config.keyOf("attention.sliding_window_pattern");
  std::vector<llvm::StringRef> kinds;
  const GgufValue *value = keys.find(key);
  std::optional<std::vector<bool>> listed;
  if (value && value->isArray)
    listed = keys.getBooleans(
        key, uint64_t(config.getLayers() + config.getFurtherLayers()));
  else if (auto given = keys.getInteger(key, 1, 1024))
    period = *given;
  for (int64_t layer = 0; layer < config.getLayers(); ++layer) {
    bool slides = listed ? (*listed)[size_t(layer)] : (layer + 1) % period != 0;
    // A file without a window has none in any layer.
    kinds.push_back(slides && config.has("attention.sliding_window")
                        ? "sliding_attention"
                        : "full_attention");
  }
  config.setTexts("layer_types", kinds, key);
}

bool effc::frontend::anyLayerHas(GgufConfig &config, llvm::StringRef tensor) {
  bool isThere = false;
  for (int64_t layer = 0; layer < config.getLayers() && !isThere; ++layer)
    isThere = config.getModel().find(
        ("blk." + llvm::Twine(layer) + "." + tensor).str());
  return isThere;
}

void effc::frontend::describeBias(GgufConfig &config, llvm::StringRef field,
                                  llvm::StringRef tensor) {
  config.setBoolean(field, anyLayerHas(config, tensor),
                    ("blk.0." + tensor).str());
}

llvm::SmallVector<bool>
effc::frontend::describeAttendingLayers(GgufConfig &config) {
  std::string key = config.keyOf("attention.head_count_kv");
  llvm::SmallVector<bool> attends;
  int64_t keyHeads = 0; // of the first layer that has any
  for (int64_t heads : config.getKeyHeads()) {
    attends.push_back(heads > 0);
    if (keyHeads == 0)
      keyHeads = heads;
    if (heads > 0 && heads != keyHeads)
      config.getKeys().report(
          "expects " + quote(key) +
          " to be the same for each layer that has any, but got " +
          llvm::Twine(keyHeads) + " and " + llvm::Twine(heads));
  }
  config.setInteger("num_key_value_heads", std::max<int64_t>(keyHeads, 1), key);
  return attends;
}

static constexpr int64_t kMostChannels = int64_t(1) << 24;

int64_t effc::frontend::readStateSpaceHead(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  std::string innerKey = config.keyOf("ssm.inner_size"),
              headsKey = config.keyOf("ssm.time_step_rank");
  int64_t inner = keys.requireInteger(innerKey, 1, kMostChannels),
          heads = keys.requireInteger(headsKey, 1, int64_t(1) << 20);
  if (!keys.hasProblem() && inner % heads != 0)
    keys.report("expects " + quote(innerKey) + " to be a multiple of " +
                quote(headsKey) + " " + llvm::Twine(heads) + ", but got " +
                llvm::Twine(inner));
  return std::max<int64_t>(inner / heads, 1);
}

int64_t effc::frontend::readStateSpaceExpansion(GgufConfig &config) {
  GgufMetadata &keys = config.getKeys();
  std::string key = config.keyOf("ssm.inner_size");
  int64_t inner = keys.requireInteger(key, 1, kMostChannels);
  if (!keys.hasProblem() && inner % config.getWidth() != 0)
    keys.report("expects " + quote(key) + " to be a multiple of " +
                llvm::Twine(config.getWidth()) + ", but got " +
                llvm::Twine(inner));
  return inner / config.getWidth();
}

GgufPeriod effc::frontend::findPeriod(GgufConfig &config,
                                      llvm::ArrayRef<bool> holds,
                                      llvm::StringRef key) {
  auto layers = int64_t(holds.size());
  llvm::SmallVector<int64_t> where;
  for (int64_t layer = 0; layer < layers; ++layer)
    if (holds[size_t(layer)])
      where.push_back(layer);
  if (where.empty())
    return {layers + 1, layers};
  GgufPeriod found{where.size() > 1 ? where[1] - where[0] : layers, where[0]};
  for (int64_t layer = 0; layer < layers; ++layer)
    if (holds[size_t(layer)] != (layer % found.period == found.offset)) {
      config.getKeys().report(
          "expects " + quote(key) +
          " to single out every so many layers, but layer " +
          llvm::Twine(layer) + " breaks the period of " +
          llvm::Twine(found.period));
      break;
    }
  return found;
}
