#include "compiler/CompiledFile.h"

#include "codegen/artifact/ParameterCount.h"
#include "dialects/seq/Seq.h"
#include "dialects/storage/Storage.h"

#include "llvm/ADT/MapVector.h"
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
  uint64_t most = 0;
  for (auto [type, count] : elements) {
    if (count <= most)
      continue;
    most = count;
    file.weightType = storage::Storage::get(type).name().str();
  }
  if (auto layout =
          module->getAttrOfType<seq::StateLayoutAttr>("seq.state_layout"))
    file.bytesPerSession = static_cast<uint64_t>(layout.getSlotBytes());
  if (auto model = module->getAttrOfType<seq::ModelAttr>("seq.model"))
    file.maxContext = static_cast<uint64_t>(model.getMaxContext());
  return file;
}
