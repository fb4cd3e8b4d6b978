// Any bytes as the start of a GGUF file: its tokenizer is refused with one line, or is
// a tokenizer.json that is refused with one line or gives a tokenizer.
#include "frontend/gguf/Header.h"
#include "frontend/gguf/Tokenizer.h"

#include "test/fuzz/TokenizerChecks.h"

using namespace effc::frontend;
using namespace effc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto header = parseGgufHeader({data, size}, "f");
  if (!header) {
    llvm::consumeError(header.takeError()); // FuzzGguf
    return 0;
  }
  std::vector<std::string> remarks;
  auto described = describeGgufTokenizer(header->metadata, remarks);
  if (!described) {
    expectOneLine(described.takeError());
    return 0;
  }
  if (!*described)
    return 0;
  for (int32_t id : (*described)->ends)
    check(size_t(id) < (*described)->tokens.size());
  checkDescribed((*described)->text, (*described)->settings,
                 {reinterpret_cast<const char *>(data), size});
  return 0;
}
