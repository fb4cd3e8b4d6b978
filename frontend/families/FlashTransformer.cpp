#include "frontend/families/FlashTransformer.h"

#include "frontend/families/FlashModel.h"
#include "frontend/model/Decoder.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importFlashTransformer(FamilyInput &input) {
  ConfigReader &reader = input.config;
  FlashConfig config = readFlash(input, 4);
  config.family = "transformer";
  reader.expectNone({"attn"}, "in a model whose layers all attend");
  auto how = readFlashAttention(reader, input, config);
  for (int64_t layer = 0; layer < config.layers; ++layer)
    config.attention[layer] = how;
  requireOneOf(reader, "hidden_act", {"swish"});
  // Norms have weights whatever it says.
  ignoreHarmless(reader, input.remarks, {"elementwise_affine", "fuse_norm"});
  if (llvm::Error error = reader.finish())
    return error;
  auto noMixer = [](ModelBuilder &, const std::string &, const std::string &,
                    Value, int64_t) -> Value {
    llvm_unreachable("every layer attends");
  };
  return buildFlash(config, input, noMixer);
}
