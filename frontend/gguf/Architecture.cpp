#include "frontend/gguf/Architecture.h"

#include "frontend/gguf/architectures/Rows.h"

using namespace effc::frontend;

std::vector<const GgufArchitecture *> effc::frontend::listGgufArchitectures() {
  std::vector<const GgufArchitecture *> list;
  for (llvm::ArrayRef<GgufArchitecture> group :
       {kDeepSeekArchitectures, kExpertArchitectures, kGemmaArchitectures,
        kGptArchitectures, kLlamaArchitectures, kMambaArchitectures,
        kPlamoArchitectures, kQwenArchitectures, kQwenRwkvArchitectures,
        kRecurrentArchitectures, kRelativeArchitectures,
        kStateSpaceArchitectures})
    for (const GgufArchitecture &one : group)
      list.push_back(&one);
  llvm::sort(list, [](const auto *a, const auto *b) {
    return llvm::StringRef(a->name) < llvm::StringRef(b->name);
  });
  return list;
}

const GgufArchitecture *
effc::frontend::findGgufArchitecture(llvm::StringRef name) {
  for (const GgufArchitecture *one : listGgufArchitectures())
    if (one->name == name)
      return one;
  return nullptr;
}
