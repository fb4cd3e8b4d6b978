// The table of storages, in the syntax of the dialect.
#include "dialects/storage/Formats.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace effc;

namespace {

struct Format {
  llvm::StringLiteral name, type;
};

// Blocks: ggml/src/ggml-common.h of llama.cpp, where the same name is used.
constexpr Format kFormats[] = {
    {"f32", "f32"},
    {"bf16", "bf16"},
    {"f16", "f16"},
    {"q8_0", "!storage.block<\"q8_0\", elements = 32, bytes = 34, "
             "digits = [32], code = int [8 at 16 [8]], "
             "scale = [f16 [16 at 0 [0]]]>"},
};

} // namespace

Type storage::formatOf(llvm::StringRef name, MLIRContext *context) {
  for (const Format &format : kFormats)
    if (format.name == name)
      return parseType(format.type, context);
  return name.starts_with("!") ? parseType(name, context) : Type();
}

llvm::ArrayRef<llvm::StringLiteral> storage::formatNames() {
  static const auto names = llvm::map_to_vector(
      kFormats, [](const Format &format) { return format.name; });
  return names;
}
