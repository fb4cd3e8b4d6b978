#include "frontend/quantised/Methods.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/StringExtras.h"

using namespace effc::frontend;

static constexpr QuantisedMethod kMethods[] = {
    {"auto-round", readAutoRound},
    {"awq", readAwq},
    {"bitsandbytes", readBitsAndBytes},
    {"compressed-tensors", readCompressedTensors},
    {"fbgemm_fp8", readFbgemmFp8},
    {"fp8", readFp8},
    {"gptq", readGptq},
    {"modelopt", readModelOpt},
    {"mxfp4", readMxfp4}};

llvm::ArrayRef<QuantisedMethod> effc::frontend::quantisedMethods() {
  return kMethods;
}

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

static std::string describe(llvm::StringRef key, const JsonValue &value) {
  const JsonObject *object = value.getObject();
  std::string method = object ? describeMethod(*object) : "";
  std::string bits = object ? describeBits(*object) : "";
  if (method == bits)
    bits.clear();
  std::string how =
      method + (method.empty() || bits.empty() ? "" : ", ") + bits;
  return quote(key) + " says that the weights are quantised" +
         (how.empty() ? "" : " (" + how + ")");
}

static const QuantisedMethod *methodOf(const JsonValue &config) {
  const JsonObject *object = config.getObject();
  const JsonValue *name = object ? object->find("quant_method") : nullptr;
  if (!name || !name->getString())
    return nullptr;
  for (const QuantisedMethod &method : kMethods)
    if (method.name == *name->getString())
      return &method;
  return nullptr;
}

static void refuseMethod(ConfigReader &reader, llvm::StringRef key) {
  reader.reportBeside(
      describe(key, *reader.get(key)) + ", which is not read (what is: " +
      llvm::join(llvm::map_range(
                     kMethods,
                     [](const QuantisedMethod &method) { return method.name; }),
                 ", ") +
      "): take the unquantised checkpoint from which this one was made, or "
      "write its weights in bf16, f16 or f32; where they are so already, "
      "--allow " +
      key);
}

llvm::Error effc::frontend::readQuantised(ConfigReader &reader,
                                          mlir::MLIRContext &context,
                                          Checkpoint &checkpoint,
                                          Remarks &remarks) {
  // MLX writes the second beside or in the place of the first, older releases
  // of compressed-tensors the third.
  constexpr llvm::StringLiteral kKey = "quantization_config";
  for (llvm::StringRef key : {"quantization", "compression_config"})
    if (reader.isSet(key) && !reader.isAllowed(key))
      refuseMethod(reader, key);
  if (!reader.isSet(kKey) || reader.isAllowed(kKey))
    return llvm::Error::success();
  const JsonValue &config = *reader.get(kKey);
  const QuantisedMethod *method = methodOf(config);
  if (!method) {
    refuseMethod(reader, kKey);
    return llvm::Error::success();
  }
  if (!checkpoint.hasWeights()) {
    reader.reportBeside(describe(kKey, config) +
                        ", but how each is stored is known of tensors alone, "
                        "and there are none: where those of another type "
                        "may stand for them, --allow " +
                        kKey);
    return llvm::Error::success();
  }
  ConfigReader inner(reader, kKey, *config.getObject());
  inner.ignore({"quant_method"});
  QuantisedStep step = method->read(inner);
  reader.finishInner(inner);
  if (llvm::Error error = reader.getProblem())
    return error;
  context.loadDialect<storage::StorageDialect>();
  QuantisedTensors tensors(context, checkpoint);
  if (llvm::Error error = step(tensors))
    return error;
  if (tensors.countDefined() == 0)
    return refuse("config.json: " + describe(kKey, config) + ", but " +
                  quote(checkpoint.getListName()) +
                  " has no such matrix: where its weights are whole, --allow " +
                  kKey);
  tensors.replace(checkpoint, remarks);
  return llvm::Error::success();
}
