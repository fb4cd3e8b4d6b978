// AWQ as AutoAWQ's `gemm` writes it: codes of 4 bits, eight outputs in a word in an
// order of their own.
//
//   X.qweight I32 [K, N / 8]   X.qzeros I32 [G, N / 8]   X.scales [G, N]
//
//   w[n, k] = (q[n, k] - z[g, n]) scales[g, n],   g = k / group_size
//
// Output 8 j + 2 a + b is nibble a + 4 b of word j (awq/utils/packing_utils.py,
// AWQ_ORDER).
#include "frontend/quantised/Methods.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;
using Axis = PackedIntegers::Axis;

static constexpr uint8_t kNibbles[] = {0, 4, 1, 5, 2, 6, 3, 7};

static llvm::Error adapt(QuantisedTensors &tensors, llvm::StringRef stem,
                         int64_t groupSize) {
  auto codes = tensors.part((stem + ".qweight").str(), {ElementType::I32});
  if (!codes)
    return codes.takeError();
  if (llvm::Error error = tensors.checkMatrix(*codes))
    return error;
  uint64_t inputs = codes->entry.shape[0], words = codes->entry.shape[1],
           outputs = words * 8;
  uint64_t group = groupSize < 0 ? inputs : uint64_t(groupSize);
  if (inputs % group != 0)
    return tensors.refuse(
        *codes, "expects inputs in groups of " + llvm::Twine(group) +
                    " ('group_size'), but got " + llvm::Twine(inputs));
  uint64_t groups = inputs / group;
  auto scales =
      tensors.groupScales((stem + ".scales").str(), inputs, group, outputs);
  if (!scales)
    return scales.takeError();
  auto zeros = tensors.part((stem + ".qzeros").str(), {ElementType::I32},
                            {groups, words}, "a zero for each scale");
  if (!zeros)
    return zeros.takeError();
  QuantisedMatrix::Description matrix;
  matrix.codes = QuantisedMatrix::Codes::IntegersLessZero;
  matrix.packed = {.rows = outputs,
                   .columns = inputs,
                   .bits = 4,
                   .packed = Axis::Rows,
                   .packedStride = 1,
                   .otherStride = words,
                   .places = kNibbles};
  matrix.grid = {.rowsEach = 1,
                 .columnsEach = group,
                 .rowStride = 1,
                 .columnStride = outputs};
  matrix.scaleType = scales->entry.type.getElement();
  matrix.scaleCount = groups * outputs;
  matrix.zeros = matrix.packed;
  matrix.zeros->columns = groups;
  return tensors.define((stem + ".weight").str(), matrix,
                        {*codes, *scales, *zeros});
}

QuantisedStep effc::frontend::readAwq(ConfigReader &config) {
  if (int64_t bits = config.getInteger("bits", 1, 16, 4); bits != 4)
    config.report("expects 'bits' to be 4, but got " + llvm::Twine(bits));
  constexpr int64_t kMostGroup = int64_t(1) << 24;
  int64_t groupSize = config.requireInteger("group_size", -1, kMostGroup);
  if (groupSize == 0)
    config.report("expects 'group_size' to be -1 or 1 and more, but got 0");
  for (llvm::StringRef key : {"version", "format"})
    if (config.isSet(key))
      if (const std::string *version = config.getString(key);
          version && llvm::StringRef(*version).lower() != "gemm")
        config.report("expects " + quote(key) + " to be \"gemm\", but got " +
                      quote(*version, '"') +
                      ": the order of codes is another one");
  if (!config.getBoolean("zero_point", true))
    config.report("expects 'zero_point' to be true, but got false");
  config.ignore({"modules_to_not_convert", "do_fuse", "fuse_max_seq_len",
                 "modules_to_fuse", "exllama_config", "backend", "desc_act",
                 "sym"});
  return [groupSize](QuantisedTensors &tensors) -> llvm::Error {
    for (const std::string &stem : tensors.stemsOf(".qweight"))
      if (llvm::Error error = adapt(tensors, stem, groupSize))
        return error;
    return llvm::Error::success();
  };
}
