#include "frontend/checkpoint/HeldNames.h"

#include "llvm/ADT/STLExtras.h"

using namespace effc::frontend;

HeldNames::HeldNames(const Checkpoint &checkpoint,
                     llvm::ArrayRef<HeldName> rules,
                     llvm::ArrayRef<llvm::StringRef> signs) {
  for (const auto &file : checkpoint.getFiles())
    for (const TensorEntry &entry : file->getEntries())
      if (llvm::any_of(signs, [&](llvm::StringRef sign) {
            return llvm::StringRef(entry.name).contains(sign);
          })) {
        this->rules = rules;
        this->sign = entry.name;
        return;
      }
}

std::string HeldNames::nameOf(llvm::StringRef released) const {
  std::string name = released.str();
  for (const HeldName &rule : rules)
    if (size_t at = name.find(rule.released); at != std::string::npos)
      name.replace(at, rule.released.size(), rule.held);
  return name;
}
