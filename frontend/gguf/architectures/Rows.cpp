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
