// Any header over a buffer of any size: refused, or its tensors tile the
// buffer. The input is a whole file, so that the recorded checkpoints are
// seeds.
#include "frontend/checkpoint/Safetensors.h"

#include "llvm/Support/Endian.h"

using namespace effc::frontend;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 8)
    return 0;
  uint64_t length =
      std::min<uint64_t>(llvm::support::endian::read64le(data), size - 8);
  llvm::StringRef header(reinterpret_cast<const char *>(data) + 8, length);
  uint64_t bufferBytes = size - 8 - length;
  auto parsed = parseSafetensorsHeader(header, bufferBytes, "f");
  if (!parsed) {
    if (llvm::toString(parsed.takeError()).find('\n') != std::string::npos)
      __builtin_trap();
    return 0;
  }
  uint64_t end = 0;
  for (const TensorEntry &entry : parsed->entries) {
    if (entry.begin != end || entry.end < entry.begin)
      __builtin_trap();
    end = entry.end;
  }
  if (end != bufferBytes)
    __builtin_trap();
  return 0;
}
