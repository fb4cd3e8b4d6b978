// Any bytes as a GGUF file of a known architecture: refused by one line, or shown
// as a configuration and a checkpoint whose tensors' bytes can be had.
#include "frontend/gguf/Adapted.h"

#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace effc::frontend;

static void require(bool holds) {
  if (!holds)
    __builtin_trap();
}

/// A file in memory with these bytes, by its name in the file system.
static std::string fileOf(const uint8_t *data, size_t size) {
  static const int descriptor = memfd_create("m.gguf", 0);
  require(ftruncate(descriptor, 0) == 0);
  require(pwrite(descriptor, data, size, 0) == ssize_t(size));
  return "/proc/self/fd/" + std::to_string(descriptor);
}

static void checkLine(llvm::Error error) {
  std::string message = llvm::toString(std::move(error));
  require(!message.empty() && message.find('\n') == std::string::npos);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto model = GgufModel::open(fileOf(data, size));
  if (!model) {
    checkLine(model.takeError());
    return 0;
  }
  auto adapted = adaptGguf(std::move(*model), {"llama.a"});
  if (!adapted) {
    checkLine(adapted.takeError());
    return 0;
  }
  require(adapted->config.getObject()->find("model_type"));
  for (const auto &file : adapted->checkpoint->getFiles())
    for (const TensorEntry &entry : file->getEntries()) {
      auto tensor = adapted->checkpoint->getData(entry.name);
      if (!tensor)
        checkLine(adapted->say(tensor.takeError()));
      else
        require(entry.isMade() ||
                tensor->bytes.size() == entry.end - entry.begin);
    }
  if (llvm::Error error = adapted->checkpoint->checkAllRead())
    checkLine(adapted->say(std::move(error)));
  return 0;
}
