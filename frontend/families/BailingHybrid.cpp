#include "frontend/families/BailingHybrid.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/Bailing.h"
#include "frontend/families/BailingMoe.h"
#include "frontend/families/FlashDelta.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

static KimiDeltaConfig readDelta(ConfigReader &reader, FamilyInput &input,
                                 const DecoderConfig &decoder) {
  KimiDeltaConfig delta;
  delta.heads = reader.requireInteger(
      reader.spelled("linear_num_heads", "num_attention_heads"), 1,
      kMostDimension);
  // Beside it the public library saves another width as 'head_dim'.
  delta.keys = reader.requireInteger(
      reader.spelled("linear_head_dim", "head_dim"), 1, kMostDimension);
  delta.taps = reader.getInteger(
      reader.spelled("linear_conv_kernel_dim", "short_conv_kernel_size"), 1, 64,
      4);
  ignoreHarmless(reader, input.remarks, {"head_dim", "short_conv_kernel_size"});
  delta.epsilon = decoder.norm.epsilon;
  delta.function = decoder.mlp.activation;
  delta.fullRank = true;
  delta.output = "dense";
  double bound = reader.getNumber("kda_lower_bound", -5, 0, -5);
  if (!reader.getBoolean("kda_safe_gate", true))
    return delta;
  if (bound == 0)
    reader.reportMismatch("kda_lower_bound", "a number below 0",
                          *reader.get("kda_lower_bound"));
  delta.leastDecay = bound;
  return delta;
}

/// Whether it is Ling 2.5, which has the same `model_type`.
static bool hasLightning(ConfigReader &reader) {
  const JsonValue *value = reader.get("architectures");
  const JsonArray *names = value ? value->getArray() : nullptr;
  return names && llvm::any_of(*names, [](const JsonValue &name) {
           const std::string *text = name.getString();
           return text && *text == "BailingMoeV2_5ForCausalLM";
         });
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
effc::frontend::importBailingHybrid(FamilyInput &input) {
  ConfigReader &reader = input.config;
  if (hasLightning(reader))
    return importBailingMoeLinear(input);
  BailingModel bailing = readBailing(input, "bailing_hybrid");
  DecoderConfig &decoder = bailing.decoder;
  std::vector<unsigned> attends =
      readBailingKinds(reader, int64_t(decoder.layers.size()));
  KimiDeltaConfig delta = readDelta(reader, input, decoder);
  delta.joinedTaps = input.names.areHeld();
  LatentConfig latent = readBailingLatent(input, decoder.context);
  latent.headGate = "g_proj";
  latent.bias = reader.getBoolean("attention_bias", false);
  reader.getInteger("rotary_dim", latent.shared, latent.shared, latent.shared);
  reader.expectAlways({"linear_silu", "no_kda_lora", "use_qk_norm"}, true);
  reader.expectAlways(
      {"use_bias", "use_kda_lora", "use_mla_nope", "use_qkv_bias"}, false);
  reader.expectString("gated_attention_proj_granularity_type", "head_wise");
  ignoreHarmless(reader, input.remarks,
                 {"group_norm_size", "num_kv_heads_for_linear_attn",
                  "partial_rotary_factor"});
  if (llvm::Error error = reader.finish())
    return error;
  return buildBailing(
      input, bailing, llvm::is_contained(attends, 1u),
      [&](ModelBuilder &model, int64_t layer, const std::string &name,
          const std::string &source, Value x) {
        return attends[size_t(layer)] == 1
                   ? emitLatentAttention(model, latent, name + "attention",
                                         source, x)
                   : emitKimiDelta(model, delta, name, source, x);
      });
}
