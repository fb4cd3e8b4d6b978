// Numbers of 8 bits with scales of blocks or rows.
//
//   fp8         X.weight F8_E4M3 [N, K]   X.weight_scale_inv [ceil(N / r), ceil(K / c)]
//               for blocks of r x c, `weight_block_size`; without it one scale
//   fbgemm_fp8  X.weight F8_E4M3 [N, K]   X.weight_scale [N, 1]
//
//   w[n, k] = q[n, k] scale
//
// The name notwithstanding, scales multiply (weight_dequant in DeepSeek-V3's
// inference/kernel.py; the last block of a row or column may be smaller).
#include "frontend/quantised/Methods.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/Support/MathExtras.h"

using namespace effc::frontend;

static constexpr ElementType kNumbers[] = {ElementType::F8E4M3,
                                           ElementType::F8E5M2};
static constexpr ElementType kScales[] = {
    ElementType::F32, ElementType::BF16, ElementType::F16, ElementType::F8E8M0};

static bool isNumbers(const TensorEntry &entry) {
  return llvm::any_of(kNumbers, [&](ElementType type) {
    return entry.type == TensorType(type);
  });
}

/// `rows` x `columns` share a scale; 0: all do.
static llvm::Error adapt(QuantisedTensors &tensors, llvm::StringRef stem,
                         llvm::StringRef scaleName, uint64_t rows,
                         uint64_t columns) {
  auto codes = tensors.part((stem + ".weight").str(), kNumbers);
  if (!codes)
    return codes.takeError();
  if (llvm::Error error = tensors.checkMatrix(*codes))
    return error;
  uint64_t outputs = codes->entry.shape[0], inputs = codes->entry.shape[1];
  rows = rows ? rows : outputs;
  columns = columns ? columns : inputs;
  uint64_t down = llvm::divideCeil(outputs, rows),
           across = llvm::divideCeil(inputs, columns);
  auto scales = tensors.part((stem + scaleName).str(), kScales);
  if (!scales)
    return scales.takeError();
  // Dimensions of 1 may be left out.
  bool isOne = down == 1 && across == 1;
  bool isScalar = llvm::all_of(scales->entry.shape,
                               [](uint64_t extent) { return extent == 1; });
  bool isVector = across == 1 && scales->entry.shape == std::vector{down};
  if (!(isOne && isScalar) && !isVector)
    if (llvm::Error error = tensors.checkShape(
            *scales, {down, across},
            "a scale for " + std::to_string(rows) + " x " +
                std::to_string(columns) + " of " + std::to_string(outputs) +
                " x " + std::to_string(inputs)))
      return error;
  QuantisedMatrix::Description matrix;
  matrix.codes = codes->entry.type.getElement() == ElementType::F8E4M3
                     ? QuantisedMatrix::Codes::E4M3
                     : QuantisedMatrix::Codes::E5M2;
  matrix.packed = PackedIntegers::bytes(outputs, inputs);
  matrix.grid = {.rowsEach = rows,
                 .columnsEach = columns,
                 .rowStride = across,
                 .columnStride = 1};
  matrix.scaleType = scales->entry.type.getElement();
  matrix.scaleCount = down * across;
  return tensors.define(codes->entry.name, matrix, {*codes, *scales});
}

static llvm::Error adaptAll(QuantisedTensors &tensors,
                            llvm::StringRef scaleName, uint64_t rows,
                            uint64_t columns) {
  for (const std::string &stem : tensors.stemsOf(".weight"))
    if (isNumbers(*tensors.find(stem + ".weight")))
      if (llvm::Error error = adapt(tensors, stem, scaleName, rows, columns))
        return error;
  tensors.leaveAside({".input_scale", ".activation_scale", ".k_scale",
                      ".v_scale", ".output_scale"});
  return llvm::Error::success();
}

QuantisedStep effc::frontend::readFp8(ConfigReader &config) {
  uint64_t size[2] = {0, 0};
  constexpr llvm::StringLiteral kSize = "weight_block_size";
  constexpr uint64_t kMostBlock = uint64_t(1) << 24;
  if (config.isSet(kSize)) {
    const JsonValue &value = *config.get(kSize);
    const JsonArray *pair = value.getArray();
    bool isPair = pair && pair->size() == 2;
    for (size_t i = 0; isPair && i < 2; ++i) {
      size[i] = (*pair)[i].getUnsigned().value_or(0);
      isPair = size[i] >= 1 && size[i] <= kMostBlock;
    }
    if (!isPair)
      config.reportMismatch(kSize,
                            "rows and columns, two integers of 1 or "
                            "more",
                            value);
  }
  if (const std::string *type = config.getString("expert_dtype");
      type && *type != "fp8")
    config.report("expects 'expert_dtype' to be \"fp8\", but got " +
                  quote(*type, '"'));
  config.ignore({"activation_scheme", "fmt", "scale_fmt", "dequantize",
                 "modules_to_not_convert", "modules_to_convert",
                 "ignored_layers"});
  uint64_t rows = size[0], columns = size[1];
  return [rows, columns](QuantisedTensors &tensors) {
    return adaptAll(tensors, ".weight_scale_inv", rows, columns);
  };
}

QuantisedStep effc::frontend::readFbgemmFp8(ConfigReader &config) {
  config.ignore({"activation_scale_ub", "modules_to_not_convert"});
  return [](QuantisedTensors &tensors) {
    return adaptAll(tensors, ".weight_scale", 1, 0);
  };
}
