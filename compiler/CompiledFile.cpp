#include "compiler/CompiledFile.h"

#include "codegen/artifact/ParameterCount.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Storage.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

llvm::Expected<effc::CompiledFile> effc::describeCompiledFile(StringRef path,
                                                              ModuleOp module) {
  CompiledFile file;
  if (std::error_code code = llvm::sys::fs::file_size(path, file.fileBytes))
    return llvm::createStringError("cannot read the size of '" + path +
                                   "': " + code.message());
  llvm::MapVector<Type, uint64_t> elements;
  for (seq::WeightOp weight : module.getOps<seq::WeightOp>()) {
    auto type = cast<RankedTensorType>(weight.getType());
    elements[type.getElementType()] +=
        static_cast<uint64_t>(type.getNumElements());
  }
  file.parameters = codegen::countParameters(module);
  uint64_t all = 0;
  for (auto [type, count] : elements)
    all += count;
  std::vector<std::pair<uint64_t, std::string>> byCount;
  for (auto [type, count] : elements)
    byCount.emplace_back(count, storage::Storage::get(type).name().str());
  llvm::sort(byCount, std::greater<>());
  // Norms and biases, which every model keeps wide, are no news.
  constexpr uint64_t kTold = 50; // one in so many elements
  for (const auto &[count, name] : byCount)
    if (count >= all / kTold)
      file.weightTypes.push_back(name);
  if (auto layout =
          module->getAttrOfType<seq::StateLayoutAttr>("seq.state_layout"))
    file.bytesPerSession = static_cast<uint64_t>(layout.getSlotBytes());
  if (auto model = module->getAttrOfType<seq::ModelAttr>("seq.model"))
    file.maxContext = static_cast<uint64_t>(model.getMaxContext());
  return file;
}
