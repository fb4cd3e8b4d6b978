// The table of storages, in the syntax of the dialect.
#include "dialects/storage/Formats.h"

#include "dialects/storage/GroupedCodes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace effc;
using storage::GroupedCodes;

namespace {

struct Format {
  llvm::StringLiteral name, type;
};

// Blocks: ggml/src/ggml-common.h of llama.cpp, where the same names are used. Its
// K-quants have 256 elements in groups of 16 or 32, each with a scale of its own.
constexpr Format kFormats[] = {
    {"f32", "f32"},
    {"bf16", "bf16"},
    {"f16", "f16"},
    {"q4_0",
     R"(!storage.block<"q4_0", elements = 32, bytes = 18, digits = [2, 16],
        code = uint [4 at 16 [4, 8]] bias -8,
        scale = [f16 [16 at 0 [0, 0]]]>)"},
    {"q4_1",
     R"(!storage.block<"q4_1", elements = 32, bytes = 20, digits = [2, 16],
        code = uint [4 at 32 [4, 8]],
        scale = [f16 [16 at 0 [0, 0]]],
        plus = [f16 [16 at 16 [0, 0]]]>)"},
    {"q5_0",
     R"(!storage.block<"q5_0", elements = 32, bytes = 22, digits = [2, 2, 8],
        code = uint [4 at 48 [4, 64, 8], 1 at 16 [16, 8, 1]] bias -16,
        scale = [f16 [16 at 0 [0, 0, 0]]]>)"},
    {"q5_1",
     R"(!storage.block<"q5_1", elements = 32, bytes = 24, digits = [2, 2, 8],
        code = uint [4 at 64 [4, 64, 8], 1 at 32 [16, 8, 1]],
        scale = [f16 [16 at 0 [0, 0, 0]]],
        plus = [f16 [16 at 16 [0, 0, 0]]]>)"},
    {"q8_0",
     R"(!storage.block<"q8_0", elements = 32, bytes = 34, digits = [32],
        code = int [8 at 16 [8]],
        scale = [f16 [16 at 0 [0]]]>)"},
    {"q2_k",
     R"(!storage.block<"q2_k", elements = 256, bytes = 84, digits = [2, 4, 2, 16],
        code = uint [2 at 128 [256, 2, 128, 8]],
        scale = [f16 [16 at 640 [0, 0, 0, 0]],
            uint [4 at 0 [64, 16, 8, 0]]],
        minus = [f16 [16 at 656 [0, 0, 0, 0]],
            uint [4 at 4 [64, 16, 8, 0]]]>)"},
    {"q3_k",
     R"(!storage.block<"q3_k", elements = 256, bytes = 110, digits = [2, 2, 2, 2, 16],
        code = uint [2 at 256 [256, 4, 2, 128, 8],
            1 at 0 [4, 2, 1, 128, 8]] bias -4,
        scale = [f16 [16 at 864 [0, 0, 0, 0, 0]],
            uint [4 at 768 [4, 32, 16, 8, 0], 2 at 832 [4, 2, 16, 8, 0]] bias -32]>)"},
    {"q4_k",
     R"(!storage.block<"q4_k", elements = 256, bytes = 144, digits = [2, 2, 2, 32],
        code = uint [4 at 128 [512, 256, 4, 8]],
        scale = [f16 [16 at 0 [0, 0, 0, 0]],
            uint [4 at 32 [64, 16, 8, 0], 2 at 36 [2, 16, 8, 0]]],
        minus = [f16 [16 at 16 [0, 0, 0, 0]],
            uint [4 at 64 [36, 16, 8, 0], 2 at 68 [2, 16, 8, 0]]]>)"},
    {"q5_k",
     R"(!storage.block<"q5_k", elements = 256, bytes = 176, digits = [2, 2, 2, 32],
        code = uint [4 at 384 [512, 256, 4, 8], 1 at 128 [4, 2, 1, 8]],
        scale = [f16 [16 at 0 [0, 0, 0, 0]],
            uint [4 at 32 [64, 16, 8, 0], 2 at 36 [2, 16, 8, 0]]],
        minus = [f16 [16 at 16 [0, 0, 0, 0]],
            uint [4 at 64 [36, 16, 8, 0], 2 at 68 [2, 16, 8, 0]]]>)"},
    {"q6_k",
     R"(!storage.block<"q6_k", elements = 256, bytes = 210, digits = [2, 2, 2, 2, 16],
        code = uint [4 at 0 [512, 4, 256, 128, 8],
            2 at 1024 [256, 4, 2, 128, 8]] bias -32,
        scale = [f16 [16 at 1664 [0, 0, 0, 0, 0]],
            int [8 at 1536 [64, 32, 16, 8, 0]]]>)"},
    {"iq4_nl",
     R"(!storage.block<"iq4_nl", elements = 32, bytes = 18, digits = [2, 16],
        code = uint [4 at 16 [4, 8]] table
            [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113],
        scale = [f16 [16 at 0 [0, 0]]]>)"},
    {"iq4_xs",
     R"(!storage.block<"iq4_xs", elements = 256, bytes = 136, digits = [8, 2, 16],
        code = uint [4 at 64 [128, 4, 8]] table
            [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113],
        scale = [f16 [16 at 0 [0, 0, 0]],
            uint [4 at 32 [4, 0, 0], 2 at 16 [2, 0, 0]] bias -32]>)"},
    {"mxfp4",
     R"(!storage.block<"mxfp4", elements = 32, bytes = 17, digits = [2, 16],
        code = uint [4 at 8 [4, 8]] table
            [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12],
        scale = [e8m0 [8 at 0 [0, 0]] bias -1]>)"},
};

} // namespace

Type storage::formatOf(llvm::StringRef name, MLIRContext *context) {
  for (const Format &format : kFormats)
    if (format.name == name)
      return parseType(format.type, context);
  if (std::optional<GroupedCodes> grouped = GroupedCodes::parse(name))
    return grouped->describe(context);
  return name.starts_with("!") ? parseType(name, context) : Type();
}

llvm::ArrayRef<llvm::StringLiteral> storage::formatNames() {
  static const auto names = llvm::map_to_vector(
      kFormats, [](const Format &format) { return format.name; });
  return names;
}
