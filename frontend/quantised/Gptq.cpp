// GPTQ (AutoGPTQ, GPTQModel), and what AutoRound packs alike: codes of b bits run down a column in words of 32 bits.
//
//   X.qweight I32 [K b / 32, N]   X.qzeros I32 [G, N b / 32]   X.scales [G, N]
//   X.g_idx   I32 [K]             the group of each input
//
//   w[n, k] = scales[g, n] (q[n, k] - z[g, n])
//
// The first format stores z - 1, the second z. Source: qlinear modules of both libraries;
// the numbers are the same in transformers' and llama.cpp's readers.
#include "frontend/quantised/Methods.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/Support/MathExtras.h"

using namespace effc::frontend;
using Axis = PackedIntegers::Axis;

namespace {

struct Gptq {
  unsigned bits = 0;
  int64_t groupSize = -1;   ///< -1: all inputs
  bool storesZeros = false; ///< else one less
  bool isOrdered = false;   ///< inputs were sorted (`desc_act`)
  /// Whether zeros have to be the middle of the codes.
  bool isSymmetric = false;

  llvm::Error adapt(QuantisedTensors &tensors) const;
  llvm::Error adapt(QuantisedTensors &tensors, llvm::StringRef stem) const;
  llvm::Expected<std::vector<uint32_t>> readGroups(QuantisedTensors &tensors,
                                                   llvm::StringRef stem,
                                                   uint64_t inputs,
                                                   uint64_t group) const;
};

} // namespace

llvm::Expected<std::vector<uint32_t>>
Gptq::readGroups(QuantisedTensors &tensors, llvm::StringRef stem,
                 uint64_t inputs, uint64_t group) const {
  std::string name = (stem + ".g_idx").str();
  if (tensors.find(name))
    return tensors.readGroups(name, inputs, group);
  if (!isOrdered)
    return std::vector<uint32_t>();
  return refuse("config.json: quantization_config: 'desc_act' says that "
                "inputs have groups of their own, but there is no " +
                quote(name));
}

llvm::Error Gptq::adapt(QuantisedTensors &tensors, llvm::StringRef stem) const {
  auto codes = tensors.part((stem + ".qweight").str(), {ElementType::I32});
  if (!codes)
    return codes.takeError();
  if (llvm::Error error = tensors.checkMatrix(*codes))
    return error;
  llvm::ArrayRef<uint64_t> shape = codes->entry.shape;
  if (shape[0] * 32 % bits != 0)
    return tensors.refuse(*codes, "expects words of whole codes of " +
                                      llvm::Twine(bits) + " bits, but got " +
                                      describeShape(shape));
  uint64_t inputs = shape[0] * 32 / bits, outputs = shape[1];
  uint64_t group = groupSize < 0 ? inputs : uint64_t(groupSize),
           groups = llvm::divideCeil(inputs, group);
  if (outputs * bits % 32 != 0)
    return tensors.refuse(*codes, "expects outputs whose zeros fill words of "
                                  "32 bits, but got " +
                                      llvm::Twine(outputs) + " of " +
                                      llvm::Twine(bits) + " bits");
  auto scales =
      tensors.groupScales((stem + ".scales").str(), inputs, group, outputs);
  if (!scales)
    return scales.takeError();
  auto zeros =
      tensors.part((stem + ".qzeros").str(), {ElementType::I32},
                   {groups, outputs * bits / 32}, "a zero for each scale");
  if (!zeros)
    return zeros.takeError();
  auto ordered = readGroups(tensors, stem, inputs, group);
  if (!ordered)
    return ordered.takeError();
  QuantisedMatrix::Description matrix;
  matrix.codes = QuantisedMatrix::Codes::IntegersLessZero;
  matrix.packed = {.rows = outputs,
                   .columns = inputs,
                   .bits = bits,
                   .packed = Axis::Columns,
                   .packedStride = outputs,
                   .otherStride = 1};
  matrix.grid = {.rowsEach = 1,
                 .columnsEach = group,
                 .rowStride = 1,
                 .columnStride = outputs};
  matrix.scaleType = scales->entry.type.getElement();
  matrix.scaleCount = groups * outputs;
  matrix.zeros = PackedIntegers{.rows = outputs,
                                .columns = groups,
                                .bits = bits,
                                .packed = Axis::Rows,
                                .packedStride = 1,
                                .otherStride = outputs * bits / 32};
  matrix.zeroBias = storesZeros ? 0 : 1;
  matrix.groups = std::move(*ordered);
  if (isSymmetric)
    matrix.zero = 1u << (bits - 1);
  if (llvm::Error error = tensors.leaveZerosAside((stem + ".bias").str()))
    return error;
  return tensors.define((stem + ".weight").str(), matrix,
                        {*codes, *scales, *zeros});
}

llvm::Error Gptq::adapt(QuantisedTensors &tensors) const {
  for (const std::string &stem : tensors.stemsOf(".qweight"))
    if (llvm::Error error = adapt(tensors, stem))
      return error;
  return llvm::Error::success();
}

/// Bits and groups, which are called the same everywhere.
static Gptq readShape(ConfigReader &config) {
  Gptq gptq;
  int64_t bits = config.requireInteger("bits", 2, 8);
  if (!llvm::is_contained({2, 3, 4, 8}, bits))
    config.report("expects 'bits' to be 2, 3, 4 or 8, but got " +
                  llvm::Twine(bits));
  gptq.bits = unsigned(bits);
  constexpr int64_t kMostGroup = int64_t(1) << 24;
  gptq.groupSize = config.requireInteger("group_size", -1, kMostGroup);
  if (gptq.groupSize == 0)
    config.report("expects 'group_size' to be -1 or 1 and more, but got 0");
  return gptq;
}

QuantisedStep effc::frontend::readGptq(ConfigReader &config) {
  Gptq gptq = readShape(config);
  gptq.isOrdered = config.getBoolean("desc_act", false);
  // Newer tools have one word under two keys.
  gptq.storesZeros = false;
  for (llvm::StringRef key : {"format", "checkpoint_format"})
    if (config.isSet(key))
      if (const std::string *format = config.getString(key)) {
        gptq.storesZeros |= *format == "gptq_v2";
        if (*format != "gptq" && *format != "gptq_v2")
          config.report("expects " + quote(key) +
                        " to be \"gptq\" or \"gptq_v2\", but got " +
                        quote(*format, '"'));
      }
  if (const std::string *type = config.getString("pack_dtype");
      type && *type != "int32")
    config.report("expects 'pack_dtype' to be \"int32\", but got " +
                  quote(*type, '"'));
  config.expectNone({"is_marlin_format"}, "where all matrices are alike");
  const JsonValue *dynamic = config.get("dynamic");
  if (dynamic && !dynamic->isNull() &&
      !(dynamic->getObject() && dynamic->getObject()->getMembers().empty()))
    config.reportMismatch("dynamic", "{}, since all matrices are alike",
                          *dynamic);
  // How it was made, or which code runs it.
  config.ignore({"sym",
                 "damp_percent",
                 "damp_auto_increment",
                 "static_groups",
                 "true_sequential",
                 "lm_head",
                 "model_name_or_path",
                 "model_file_base_name",
                 "meta",
                 "batch_size",
                 "pad_token_id",
                 "max_input_length",
                 "use_cuda_fp16",
                 "use_exllama",
                 "disable_exllama",
                 "exllama_config",
                 "cache_block_outputs",
                 "module_name_preceding_first_block",
                 "backend",
                 "tokenizer",
                 "modules_in_block_to_quantize",
                 "block_name_to_quantize",
                 "dataset",
                 "model_seqlen",
                 "act_group_aware",
                 "mse",
                 "method",
                 "modules_to_not_convert",
                 "groupsize",
                 "actorder"});
  return [gptq](QuantisedTensors &tensors) { return gptq.adapt(tensors); };
}

// Zeros as GPTQ's first format has them, which only those in the middle show: others
// are packed by other conventions too.
QuantisedStep effc::frontend::readAutoRound(ConfigReader &config) {
  Gptq gptq = readShape(config);
  gptq.storesZeros = gptq.isOrdered = false;
  gptq.isSymmetric = true;
  if (!config.getBoolean("sym", true))
    config.report("expects 'sym' to be true, but got false");
  const std::string *packing = config.getString("packing_format");
  if (!packing)
    config.report("lacks key 'packing_format'");
  else if (!llvm::StringRef(*packing).ends_with("auto_gptq"))
    config.report("expects 'packing_format' to be \"auto_round:auto_gptq\", "
                  "but got " +
                  quote(*packing, '"'));
  if (const std::string *type = config.getString("data_type");
      type && *type != "int")
    config.report("expects 'data_type' to be \"int\", but got " +
                  quote(*type, '"'));
  // How it was made. Tensors tell which modules are not quantised.
  config.ignore({"autoround_version",
                 "batch_size",
                 "iters",
                 "nsamples",
                 "low_gpu_mem_usage",
                 "low_cpu_mem_usage",
                 "seqlen",
                 "block_name_to_quantize",
                 "to_quant_block_names",
                 "extra_config",
                 "amp",
                 "dataset",
                 "enable_minmax_tuning",
                 "enable_norm_bias_tuning",
                 "enable_quanted_input",
                 "enable_alg_ext",
                 "enable_torch_compile",
                 "gradient_accumulate_steps",
                 "lr",
                 "minmax_lr",
                 "not_use_best_mse",
                 "scale_dtype",
                 "train_bs",
                 "backend",
                 "damp_percent",
                 "true_sequential",
                 "quant_lm_head",
                 "act_bits",
                 "act_data_type",
                 "act_dynamic",
                 "act_group_size",
                 "act_sym",
                 "super_bits",
                 "super_group_size"});
  return [gptq](QuantisedTensors &tensors) { return gptq.adapt(tensors); };
}
