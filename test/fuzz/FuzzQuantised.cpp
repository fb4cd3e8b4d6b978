// Any text as quantization_config, and after a NUL any bytes as the safetensors file
// beside it: refused by one line, or matrices whose blocks can be had and are whole.
#include "dialects/storage/Formats.h"
#include "frontend/quantised/Methods.h"

#include "mlir/IR/MLIRContext.h"

#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace effc;
using namespace effc::frontend;

/// LLVM's headers, compiled with the sanitizer, poison memory of the distribution's
/// libraries, which were compiled without.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}

static void require(bool holds) {
  if (!holds)
    __builtin_trap();
}

/// A file in memory with these bytes, by its name in the file system.
static std::string fileOf(llvm::StringRef bytes) {
  static const int descriptor = memfd_create("model.safetensors", 0);
  require(ftruncate(descriptor, 0) == 0);
  require(pwrite(descriptor, bytes.data(), bytes.size(), 0) ==
          ssize_t(bytes.size()));
  return "/proc/self/fd/" + std::to_string(descriptor);
}

static void checkLine(llvm::Error error) {
  std::string message = llvm::toString(std::move(error));
  require(!message.empty() && message.find('\n') == std::string::npos);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto [text, bytes] =
      llvm::StringRef(reinterpret_cast<const char *>(data), size).split('\0');
  auto json = parseJson(("{\"quantization_config\": " + text + "}").str(), "c");
  if (!json) {
    checkLine(json.takeError());
    return 0;
  }
  auto file = TensorFile::open(fileOf(bytes), "f");
  if (!file) {
    checkLine(file.takeError());
    return 0;
  }
  std::vector<std::unique_ptr<TensorFile>> files;
  files.push_back(std::move(*file));
  std::unique_ptr<Checkpoint> checkpoint = Checkpoint::of("", std::move(files));
  ConfigReader reader("c", *json->getObject());
  Remarks remarks;
  if (llvm::Error error =
          readQuantised(reader, context, *checkpoint, remarks)) {
    checkLine(std::move(error));
    return 0;
  }
  if (llvm::Error error = reader.finish())
    checkLine(std::move(error));
  for (const TensorEntry &entry :
       checkpoint->getFiles().front()->getEntries()) {
    if (!entry.maker)
      continue;
    auto tensor = checkpoint->getData(entry.name);
    if (!tensor) {
      checkLine(tensor.takeError());
      continue;
    }
    storage::Storage storage = *tensor->type.getStorage(&context);
    require(tensor->shape.size() == 2 &&
            storage.divides(int64_t(tensor->shape[1])));
    auto count = tensor->shape[0] * tensor->shape[1];
    require(tensor->bytes.size() == size_t(storage.bytes(int64_t(count))));
    require(readNumbers<float>(tensor->type, tensor->bytes, &context).size() ==
            count);
  }
  return 0;
}
