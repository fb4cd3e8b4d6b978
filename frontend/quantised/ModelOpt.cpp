// TensorRT Model Optimizer, as NVIDIA publishes checkpoints:
//
// A mixture has matrices of both; W4A16 says that activations were not rounded.
//
//   FP8    X.weight F8_E4M3 [N, K]      X.weight_scale F32, one or [N]
//   NVFP4  X.weight U8 [N, K / 2], e2m1, the lower half first
//          X.weight_scale F8_E4M3 [N, K / 16]   X.weight_scale_2 F32, one
//
//   w = q weight_scale (weight_scale_2)
//
// The product of the two scales is rounded to f32, then that with the code
// (NVFP4QTensor.dequantize of modelopt/torch/quantization/qtensor).
#include "frontend/quantised/Methods.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

#include <bit>

using namespace effc::frontend;
using Description = QuantisedMatrix::Description;

static bool isOne(const TensorMaker::Part &part) {
  return llvm::all_of(part.entry.shape,
                      [](uint64_t extent) { return extent == 1; });
}

static llvm::Error adaptFp8(QuantisedTensors &tensors, llvm::StringRef stem) {
  auto codes = tensors.part((stem + ".weight").str(), {ElementType::F8E4M3});
  if (!codes)
    return codes.takeError();
  if (llvm::Error error = tensors.checkMatrix(*codes))
    return error;
  auto scale = tensors.part((stem + ".weight_scale").str(), {ElementType::F32});
  if (!scale)
    return scale.takeError();
  uint64_t outputs = codes->entry.shape[0], inputs = codes->entry.shape[1];
  bool isShared = isOne(*scale);
  if (!isShared)
    if (llvm::Error error = tensors.checkShape(
            *scale, {outputs}, "a scale for each output, or one"))
      return error;
  Description matrix;
  matrix.codes = QuantisedMatrix::Codes::E4M3;
  matrix.packed = PackedIntegers::bytes(outputs, inputs);
  matrix.grid = {.rowsEach = isShared ? outputs : 1,
                 .columnsEach = inputs,
                 .rowStride = 1,
                 .columnStride = 1};
  matrix.scaleType = ElementType::F32;
  matrix.scaleCount = isShared ? 1 : outputs;
  return tensors.define(codes->entry.name, matrix, {*codes, *scale});
}

static llvm::Error adaptNvfp4(QuantisedTensors &tensors, llvm::StringRef stem) {
  auto codes = tensors.part((stem + ".weight").str(), {ElementType::U8});
  if (!codes)
    return codes.takeError();
  if (llvm::Error error = tensors.checkMatrix(*codes))
    return error;
  uint64_t outputs = codes->entry.shape[0], inputs = codes->entry.shape[1] * 2;
  constexpr uint64_t kGroup = 16;
  if (inputs % kGroup != 0)
    return tensors.refuse(*codes, "expects inputs in groups of 16, but got " +
                                      llvm::Twine(inputs));
  auto scales = tensors.part((stem + ".weight_scale").str(),
                             {ElementType::F8E4M3}, {outputs, inputs / kGroup},
                             "a scale for each group of 16 of " +
                                 std::to_string(inputs) + " inputs");
  if (!scales)
    return scales.takeError();
  auto factor =
      tensors.part((stem + ".weight_scale_2").str(), {ElementType::F32});
  if (!factor)
    return factor.takeError();
  if (!isOne(*factor))
    return tensors.refuse(*factor, "expects one number, but got shape " +
                                       describeShape(factor->entry.shape));
  Description matrix;
  matrix.codes = QuantisedMatrix::Codes::E2M1;
  matrix.packed = PackedIntegers::halves(outputs, inputs);
  matrix.grid = {.rowsEach = 1,
                 .columnsEach = kGroup,
                 .rowStride = inputs / kGroup,
                 .columnStride = 1};
  matrix.scaleType = ElementType::F32;
  matrix.scaleCount = outputs * inputs / kGroup;
  matrix.scales = [count = matrix.scaleCount](QuantisedMatrix::Bytes bytes)
      -> llvm::Expected<std::vector<uint32_t>> {
    auto factor =
        std::bit_cast<float>(llvm::support::endian::read32le(bytes[2].data()));
    std::vector<uint32_t> made(count);
    for (uint64_t i = 0; i < count; ++i)
      made[i] = std::bit_cast<uint32_t>(numberOfE4M3(bytes[1][i]) * factor);
    return made;
  };
  return tensors.define(codes->entry.name, matrix, {*codes, *scales, *factor});
}

QuantisedStep effc::frontend::readModelOpt(ConfigReader &config) {
  if (const std::string *algorithm = config.getString("quant_algo");
      algorithm &&
      !llvm::is_contained({"FP8", "NVFP4", "W4A16_NVFP4", "MIXED_PRECISION"},
                          llvm::StringRef(*algorithm)))
    config.report("'quant_algo' " + quote(*algorithm, '"') +
                  " is not read (what is: FP8, NVFP4, W4A16_NVFP4, "
                  "MIXED_PRECISION of these)");
  // Tensors say the rest.
  config.ignore({"config_groups", "weights", "input_activations", "ignore",
                 "exclude_modules", "producer", "quantized_layers",
                 "kv_cache_scheme", "kv_cache_quant_algo", "group_size",
                 "version"});
  return [](QuantisedTensors &tensors) -> llvm::Error {
    for (const std::string &stem : tensors.stemsOf(".weight")) {
      if (!tensors.find(stem + ".weight_scale"))
        continue;
      bool isHalves = tensors.find(stem + ".weight_scale_2") != nullptr;
      if (llvm::Error error = (isHalves ? adaptNvfp4 : adaptFp8)(tensors, stem))
        return error;
    }
    tensors.leaveAside({".input_scale", ".k_scale", ".v_scale",
                        ".k_proj.output_scale", ".v_proj.output_scale"});
    return llvm::Error::success();
  };
}
