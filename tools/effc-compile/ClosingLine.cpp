#include "tools/effc-compile/ClosingLine.h"

#include "tools/terminal/Quantities.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace effc;

static std::string targetsOf(const CompileOptions &options) {
  std::string names;
  for (const Target *target : options.targets) {
    names += (names.empty() ? "" : ", ") + target->name.str();
    if (target->device != tile::Device::Nvptx)
      continue;
    Products products = productsOf(target->device, options.pipeline.products);
    names += roundsOnGpus(products)
                 ? " (products of " + nameOf(products).str() + ")"
                 : " (exact products)";
  }
  return names;
}

static std::string weightsOf(const CompileOptions &options,
                             const CompiledFile &file) {
  if (options.weights == codegen::WeightsMode::None)
    return ", without weights";
  return file.weightTypes.empty()
             ? ""
             : ", " + llvm::join(file.weightTypes, " and ");
}

std::string effc::cli::closingLine(const CompileOptions &options,
                                   const CompiledFile &file) {
  std::string line = options.output + ": " + formatBytes(file.fileBytes) +
                     ", " + formatCount(file.parameters) + " parameters" +
                     weightsOf(options, file);
  if (!file.hasTokenizer && options.tokenizer &&
      llvm::sys::fs::is_directory(options.model))
    line += ", without a tokenizer";
  line += ", for " + targetsOf(options) + "; a sequence takes " +
          (file.maxContext ? "up to " : "") + formatBytes(file.bytesPerSession);
  if (file.maxContext)
    line += " (" + formatCount(file.maxContext) + " tokens)";
  return line;
}
