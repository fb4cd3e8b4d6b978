#include "frontend/QuantisedConfig.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;

/// The bits of a weight, as tools write them: GPTQ, AWQ, HQQ and MLX a number
/// `bits`, EETQ and Quanto a word, bitsandbytes flags, fp8 in its name.
static std::string describeBits(const JsonObject &object) {
  for (llvm::StringRef key : {"bits", "w_bit", "nbits", "bits_per_weight"})
    if (const JsonValue *value = object.find(key); value && value->getNumber())
      return describeNumber(*value->getNumber()) + " bits";
  constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> kFlags[] = {
      {"load_in_4bit", "4 bits"},
      {"_load_in_4bit", "4 bits"},
      {"load_in_8bit", "8 bits"},
      {"_load_in_8bit", "8 bits"}};
  for (const auto &[key, bits] : kFlags)
    if (const JsonValue *value = object.find(key);
        value && value->getBoolean() == true)
      return bits.str();
  for (llvm::StringRef key : {"weights", "fmt", "format", "quant_algo"})
    if (const JsonValue *value = object.find(key); value && value->getString())
      return quote(*value->getString());
  return "";
}

static std::string describeMethod(const JsonObject &object) {
  for (llvm::StringRef key : {"quant_method", "method", "quant_algo"})
    if (const JsonValue *value = object.find(key); value && value->getString())
      return quote(*value->getString());
  return "";
}

void effc::frontend::refuseQuantised(ConfigReader &reader) {
  // MLX writes the second beside or in the place of the first, older releases
  // of compressed-tensors the third.
  for (llvm::StringRef key :
       {"quantization_config", "quantization", "compression_config"}) {
    if (!reader.isSet(key) || reader.isAllowed(key))
      continue;
    const JsonObject *object = reader.get(key)->getObject();
    std::string method = object ? describeMethod(*object) : "";
    std::string bits = object ? describeBits(*object) : "";
    if (method == bits)
      bits.clear();
    std::string how =
        method + (method.empty() || bits.empty() ? "" : ", ") + bits;
    reader.reportBeside(
        quote(key) + " says that the weights are quantised" +
        (how.empty() ? "" : " (" + how + ")") +
        ", which is not read: take the unquantised checkpoint from "
        "which this one was made, or write its weights in bf16, f16 "
        "or f32; where they are so already, --allow " +
        key);
  }
}
