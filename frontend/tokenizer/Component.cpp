#include "frontend/tokenizer/Component.h"

#include "frontend/checkpoint/Refusal.h"
#include "runtime/schema/TokenizerLimits.h"

using namespace effc;
using namespace effc::frontend;

llvm::Expected<Component>
effc::frontend::readComponent(llvm::StringRef file, llvm::StringRef role,
                              const JsonValue *value) {
  Component component;
  component.where = (file + ": " + role).str();
  if (!value || value->isNull())
    return component;
  component.object = value->getObject();
  if (!component.object)
    return refuse(file + ": expects '" + role +
                  "' to be an object or null, but got " + value->describe());
  const JsonValue *type = component.object->find("type");
  if (!type || !type->getString())
    return refuse(component.where +
                  ": expects 'type' to be a string, but got " +
                  (type ? type->describe() : "nothing"));
  component.type = *type->getString();
  component.where += " " + quote(component.type);
  return component;
}

llvm::Error effc::frontend::refuseComponent(llvm::StringRef file,
                                            llvm::StringRef role,
                                            const Component &component,
                                            llvm::StringRef supported) {
  std::string found = component.object ? quote(component.type) : "null";
  return refuse(file + ": " + role + " " + found +
                " is not supported; supported: " + supported);
}

llvm::Error effc::frontend::checkStepCount(llvm::StringRef file, size_t steps) {
  if (steps <= artifact::kMostTokenizerSteps)
    return llvm::Error::success();
  return refuse(file + ": expects at most " +
                llvm::Twine(artifact::kMostTokenizerSteps) + " steps in a row");
}

void effc::frontend::checkStepText(ConfigReader &reader, llvm::StringRef key,
                                   const std::string &text) {
  if (text.size() > artifact::kMostStepTextBytes)
    reader.report("expects " + quote(key) + " to be a string of at most " +
                  llvm::Twine(artifact::kMostStepTextBytes) +
                  " bytes, but got " + llvm::Twine(text.size()));
}

llvm::Expected<const JsonArray *>
effc::frontend::readSequence(const Component &component, llvm::StringRef key) {
  ConfigReader reader(component.where, *component.object);
  reader.get("type");
  const JsonValue *value = reader.get(key);
  if (!value)
    reader.report("lacks " + quote(key));
  else if (!value->getArray())
    reader.reportMismatch(key, "an array", *value);
  if (llvm::Error error = reader.finish())
    return error;
  return value->getArray();
}
