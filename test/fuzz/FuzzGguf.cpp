// Any bytes as a GGUF file: refused by one line, or its tensors lie in the file,
// in order and apart, and its values can be asked for by every type.
#include "frontend/gguf/BlockScales.h"
#include "frontend/gguf/Header.h"

using namespace effc::frontend;

static void require(bool holds) {
  if (!holds)
    __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::ArrayRef<uint8_t> file(data, size);
  auto header = parseGgufHeader(file, "f");
  if (!header) {
    require(llvm::toString(header.takeError()).find('\n') == std::string::npos);
    return 0;
  }
  uint64_t end = 0;
  for (const TensorEntry &entry : header->tensors.entries) {
    require(entry.begin >= end && entry.end > entry.begin);
    end = entry.end;
    const GgufType *type = findGgufType(entry.type.getName());
    (void)findBadScale(*type,
                       file.slice(header->tensors.dataOffset + entry.begin,
                                  entry.end - entry.begin));
  }
  require(header->tensors.dataOffset + end <= size);
  GgufMetadata &keys = header->metadata;
  for (const GgufPair &pair : keys.getPairs()) {
    llvm::StringRef key = pair.key;
    keys.getInteger(key, -5, 1000);
    keys.getNumber(key, -1, 1);
    keys.getBoolean(key);
    keys.getString(key);
    keys.getStrings(key);
    keys.getIntegers(key, 0, 9);
    keys.getNumbers(key, 3);
    keys.getBooleans(key);
    keys.getIntegerForEach(key, 0, 9, 4);
  }
  if (llvm::Error error = keys.getProblem())
    require(llvm::toString(std::move(error)).find('\n') == std::string::npos);
  return 0;
}
