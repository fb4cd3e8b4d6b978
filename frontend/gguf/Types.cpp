// Sources: ggml/include/ggml.h (numbers), ggml/src/ggml-common.h (sizes and
// places) of llama.cpp.
#include "frontend/gguf/Types.h"

#include "llvm/ADT/STLExtras.h"

using namespace effc::frontend;

static constexpr uint32_t kFirst[] = {0}, kFirstTwo[] = {0, 2},
                          kOf2[] = {80, 82}, kOf3[] = {108}, kOf6[] = {208},
                          kOfTernary[] = {52}, kOfTernary2[] = {64};

namespace {
/// A type and the name of its storage (dialects/storage/Formats.h), which those
/// of whole elements do not need.
struct Row {
  GgufType type;
  llvm::StringLiteral storage;
};
} // namespace

// A storage may be named here before there is one: a tensor of the type is then
// refused by the type's name where it is a weight.
static constexpr Row kTypes[] = {
    {{0, "F32", 1, 4, {}}, ""},
    {{1, "F16", 1, 2, {}}, ""},
    {{2, "Q4_0", 32, 18, kFirst}, "q4_0"},
    {{3, "Q4_1", 32, 20, kFirstTwo}, "q4_1"},
    {{6, "Q5_0", 32, 22, kFirst}, "q5_0"},
    {{7, "Q5_1", 32, 24, kFirstTwo}, "q5_1"},
    {{8, "Q8_0", 32, 34, kFirst}, "q8_0"},
    {{9, "Q8_1", 32, 36, kFirstTwo}, "q8_1"},
    {{10, "Q2_K", 256, 84, kOf2}, "q2_k"},
    {{11, "Q3_K", 256, 110, kOf3}, "q3_k"},
    {{12, "Q4_K", 256, 144, kFirstTwo}, "q4_k"},
    {{13, "Q5_K", 256, 176, kFirstTwo}, "q5_k"},
    {{14, "Q6_K", 256, 210, kOf6}, "q6_k"},
    {{15, "Q8_K", 256, 292, {}}, "q8_k"},
    {{16, "IQ2_XXS", 256, 66, kFirst}, "iq2_xxs"},
    {{17, "IQ2_XS", 256, 74, kFirst}, "iq2_xs"},
    {{18, "IQ3_XXS", 256, 98, kFirst}, "iq3_xxs"},
    {{19, "IQ1_S", 256, 50, kFirst}, "iq1_s"},
    {{20, "IQ4_NL", 32, 18, kFirst}, "iq4_nl"},
    {{21, "IQ3_S", 256, 110, kFirst}, "iq3_s"},
    {{22, "IQ2_S", 256, 82, kFirst}, "iq2_s"},
    {{23, "IQ4_XS", 256, 136, kFirst}, "iq4_xs"},
    {{24, "I8", 1, 1, {}}, ""},
    {{25, "I16", 1, 2, {}}, ""},
    {{26, "I32", 1, 4, {}}, ""},
    {{27, "I64", 1, 8, {}}, ""},
    {{28, "F64", 1, 8, {}}, ""},
    {{29, "IQ1_M", 256, 56, {}}, "iq1_m"},
    {{30, "BF16", 1, 2, {}}, ""},
    {{34, "TQ1_0", 256, 54, kOfTernary}, "tq1_0"},
    {{35, "TQ2_0", 256, 66, kOfTernary2}, "tq2_0"},
    {{39, "MXFP4", 32, 17, {}, 0}, "mxfp4"},
    {{40, "NVFP4", 64, 36, {}}, "nvfp4"},
    {{41, "Q1_0", 128, 18, kFirst}, "q1_0"},
    {{42, "Q2_0", 64, 18, kFirst}, "q2_0"},
};

TensorType GgufType::getTensorType() const {
  const Row *row = llvm::find_if(
      kTypes, [&](const Row &row) { return row.type.number == number; });
  if (row->storage.empty())
    return *parseElementType(name);
  return TensorType::ofBlocks(row->type.name, row->storage);
}

const GgufType *effc::frontend::findGgufType(int32_t number) {
  for (const Row &row : kTypes)
    if (row.type.number == number)
      return &row.type;
  return nullptr;
}

const GgufType *effc::frontend::findGgufType(llvm::StringRef name) {
  for (const Row &row : kTypes)
    if (row.type.name == name)
      return &row.type;
  return nullptr;
}
