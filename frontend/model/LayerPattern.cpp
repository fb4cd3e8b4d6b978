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
