// Any text as model.safetensors.index.json: refused with one line, or plain
// names of files, each of which some tensor is in.
#include "frontend/checkpoint/ShardIndex.h"

using namespace effc::frontend;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  auto index = parseShardIndex(text, "f");
  if (!index) {
    if (llvm::toString(index.takeError()).find('\n') != std::string::npos)
      __builtin_trap();
    return 0;
  }
  std::vector<bool> used(index->files.size());
  for (const auto &[tensor, file] : index->tensors) {
    if (file >= used.size() || *index->find(tensor) != file)
      __builtin_trap();
    used[file] = true;
  }
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i] || index->files[i].find('/') != std::string::npos)
      __builtin_trap();
  return 0;
}
