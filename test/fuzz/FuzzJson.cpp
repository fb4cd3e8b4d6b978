// Any text: parsed or refused with one line, under both settings; what was
// parsed can be described.
#include "frontend/checkpoint/Json.h"

using namespace effc::frontend;

static size_t describeAll(const JsonValue &value) {
  size_t length = value.describe().size();
  if (const JsonArray *array = value.getArray())
    for (const JsonValue &element : *array)
      length += describeAll(element);
  if (const JsonObject *object = value.getObject())
    for (const JsonMember &member : object->getMembers()) {
      length += describeAll(member.value);
      if (object->find(member.key) != &member.value)
        __builtin_trap();
    }
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  for (bool nonFinite : {false, true}) {
    JsonLimits limits;
    limits.nonFinite = nonFinite;
    auto value = parseJson(text, "f", limits);
    if (value)
      describeAll(*value);
    else if (llvm::toString(value.takeError()).find('\n') != std::string::npos)
      __builtin_trap();
  }
  return 0;
}
