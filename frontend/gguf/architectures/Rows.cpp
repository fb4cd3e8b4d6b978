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
