// mxfp4, as gpt-oss is released: of a tensor X of several matrices
//
//   X_blocks  U8 [E, N, K / 32, 16], two codes of E2M1 in a byte, the lower half first
//   X_scales  U8 [E, N, K / 32], powers of two by their exponent and 127
//
// which is [E N, K] here. Where the public library keeps X whole, X lies as [E, K, N].
#include "frontend/quantised/Methods.h"

using namespace effc::frontend;

static constexpr uint64_t kGroup = 32;

static llvm::Error define(QuantisedTensors &tensors, const std::string &name) {
  std::string codesName = name + "_blocks", scalesName = name + "_scales";
  auto codes = tensors.part(codesName, {ElementType::U8});
  if (!codes)
    return codes.takeError();
  llvm::ArrayRef<uint64_t> shape = codes->entry.shape;
  if (shape.size() != 4 || shape[3] != kGroup / 2 ||
      llvm::is_contained(shape, 0u))
    return tensors.refuse(*codes,
                          "expects matrices, rows, groups and 16 bytes of 32 "
                          "codes, but got " +
                              describeShape(shape));
  auto scales =
      tensors.part(scalesName, {ElementType::U8}, shape.drop_back(),
                   "a scale for each group of 32 codes of '" + codesName + "'");
  if (!scales)
    return scales.takeError();
  uint64_t rows = shape[0] * shape[1], groups = shape[2];
  QuantisedMatrix::Description matrix;
  matrix.codes = QuantisedMatrix::Codes::E2M1;
  matrix.storage = "mxfp4";
  matrix.packed = PackedIntegers::halves(rows, groups * kGroup);
  matrix.grid = {.rowsEach = 1,
                 .columnsEach = kGroup,
                 .rowStride = groups,
                 .columnStride = 1};
  matrix.scaleType = ElementType::U8;
  matrix.scaleCount = rows * groups;
  for (const std::string &part : {codesName, scalesName})
    tensors.remark("tensor '" + part + "' is a part of '" + name + "'");
  return tensors.define(name, matrix, {*codes, *scales});
}

QuantisedStep effc::frontend::readMxfp4(ConfigReader &config) {
  // What is whole is seen of the tensors; the other asks the public library to
  // widen what it loads.
  config.ignore({"modules_to_not_convert", "dequantize"});
  return [](QuantisedTensors &tensors) -> llvm::Error {
    for (const std::string &name : tensors.stemsOf("_blocks"))
      if (llvm::Error error = define(tensors, name))
        return error;
    // Whose codes are missing.
    for (const std::string &name : tensors.stemsOf("_scales"))
      if (!tensors.find(name + "_blocks"))
        if (llvm::Error error = define(tensors, name))
          return error;
    return llvm::Error::success();
  };
}
