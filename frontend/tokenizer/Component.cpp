#include "frontend/tokenizer/Component.h"

#include "frontend/checkpoint/Refusal.h"

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
