#include "frontend/families/Family.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/families/Mamba2.h"

using namespace effc::frontend;

llvm::ArrayRef<Family> effc::frontend::getFamilies() {
  static const Family families[] = {
      {"mamba2", "Mamba2ForCausalLM", importMamba2},
  };
  return families;
}

static std::string listFamilies(llvm::StringRef Family::*name) {
  std::string list;
  for (const Family &family : getFamilies())
    list += (list.empty() ? "" : ", ") + (family.*name).str();
  return list;
}

const Family *effc::frontend::findFamily(ConfigReader &config) {
  const std::string *modelType = config.getString("model_type");
  if (!modelType) {
    config.report("lacks 'model_type'");
    return nullptr;
  }
  const Family *family = llvm::find_if(getFamilies(), [&](const Family &f) {
    return f.modelType == *modelType;
  });
  if (family == getFamilies().end()) {
    config.report(
        "model_type " + quote(*modelType) +
        " is not supported; supported: " + listFamilies(&Family::modelType));
    return nullptr;
  }
  const JsonValue *architectures = config.get("architectures");
  if (!architectures || architectures->isNull())
    return family;
  const JsonArray *names = architectures->getArray();
  const std::string *name =
      names && names->size() == 1 ? names->front().getString() : nullptr;
  if (!name) {
    config.reportMismatch("architectures", "an array of one name",
                          *architectures);
    return nullptr;
  }
  if (*name != family->architecture) {
    config.report(
        "architecture " + quote(*name) +
        " is not supported; supported: " + listFamilies(&Family::architecture));
    return nullptr;
  }
  return family;
}
