#include "frontend/model/LayerPattern.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc::frontend;
using llvm::Twine;

std::vector<unsigned> effc::frontend::readLayerPattern(
    ConfigReader &reader, llvm::StringRef key, int64_t layers,
    llvm::ArrayRef<llvm::StringRef> kinds,
    llvm::function_ref<unsigned(int64_t layer)> otherwise) {
  std::vector<unsigned> pattern;
  for (int64_t layer = 0; layer < layers; ++layer)
    pattern.push_back(otherwise(layer));
  if (!reader.isSet(key))
    return pattern;
  const JsonArray *names = reader.get(key)->getArray();
  if (!names) {
    reader.reportMismatch(key, "an array of names", *reader.get(key));
    return pattern;
  }
  if (int64_t(names->size()) != layers) {
    reader.report("expects " + quote(key) + " to name " + Twine(layers) +
                  " layers, but got " + Twine(names->size()));
    return pattern;
  }
  for (size_t layer = 0; layer < names->size(); ++layer) {
    const std::string *name = (*names)[layer].getString();
    const auto *kind =
        name ? llvm::find(kinds, llvm::StringRef(*name)) : kinds.end();
    if (kind == kinds.end()) {
      reader.reportMismatch(key, "names out of " + llvm::join(kinds, ", "),
                            (*names)[layer]);
      return pattern;
    }
    pattern[layer] = unsigned(kind - kinds.begin());
  }
  return pattern;
}

std::vector<bool> effc::frontend::readListedLayers(ConfigReader &reader,
                                                   llvm::StringRef key,
                                                   int64_t layers) {
  std::vector<bool> listed(size_t(layers), false);
  if (!reader.isSet(key))
    return listed;
  const JsonValue *value = reader.get(key);
  const JsonArray *list = value->getArray();
  if (!list) {
    reader.reportMismatch(key, "an array of layers", *value);
    return listed;
  }
  for (const JsonValue &element : *list) {
    std::optional<int64_t> layer = element.getInteger();
    if (!layer || *layer < 0 || *layer >= layers)
      reader.reportMismatch(key, "layers from 0 to " + Twine(layers - 1),
                            element);
    else
      listed[size_t(*layer)] = true;
  }
  return listed;
}
