// Any bytes as a file of importance: refused by one line, or each matrix has a
// number at least, and all are finite and 0 or more.
#include "frontend/importance/ImportanceFile.h"

#include <cmath>

using namespace effc::frontend;

static void require(bool holds) {
  if (!holds)
    __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto file = ImportanceFile::parse(llvm::ArrayRef(data, size), "f");
  if (!file) {
    require(llvm::toString(file.takeError()).find('\n') == std::string::npos);
    return 0;
  }
  if (file->size() == 0)
    return 0;
  const ImportanceFile::Numbers *numbers = file->find(file->getExample());
  require(numbers && !numbers->empty());
  for (float number : *numbers)
    require(std::isfinite(number) && number >= 0);
  return 0;
}
