#include "frontend/checkpoint/Checkpoint.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace effc::frontend;

static constexpr llvm::StringLiteral kWeightsFile = "model.safetensors";

/// Why a directory without model.safetensors cannot be read, naming the file
/// that its maker took for the weights.
static llvm::Error refuseDirectory(llvm::StringRef directory) {
  constexpr llvm::StringLiteral kWeightEndings[] = {
      ".safetensors", ".safetensors.index.json",
      ".bin",         ".bin.index.json",
      ".pt",          ".pth",
      ".ckpt",        ".gguf",
      ".msgpack",     ".h5",
      ".onnx"};
  std::vector<std::string> found;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator at(directory, error), end;
       !error && at != end; at.increment(error)) {
    llvm::StringRef file = llvm::sys::path::filename(at->path());
    if (llvm::any_of(kWeightEndings, [&](llvm::StringRef ending) {
          return file.ends_with(ending);
        }))
      found.push_back(file.str());
  }
  llvm::sort(found);
  std::string expected =
      "expects " + quote(kWeightsFile) + " in " + quote(directory) + ", but ";
  if (found.empty())
    return refuse(expected + "found no weights");
  auto index = llvm::find_if(found, [](llvm::StringRef file) {
    return file.ends_with(".index.json");
  });
  if (index != found.end())
    return refuse(expected + "found " + quote(*index) +
                  ": weights in several files are not supported");
  return refuse(expected + "found " + quote(found.front()) +
                ", which is not read");
}

llvm::Expected<std::unique_ptr<Checkpoint>>
Checkpoint::open(llvm::StringRef directory) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(directory, status))
    return refuse("cannot open " + quote(directory) + ": " +
                  llvm::StringRef(error.message()).lower());
  if (!llvm::sys::fs::is_directory(status))
    return refuse("expects " + quote(directory) +
                  " to be a checkpoint's directory, but got a file");
  std::unique_ptr<Checkpoint> checkpoint(new Checkpoint());
  checkpoint->directory = directory.str();
  std::string path = checkpoint->getPath(kWeightsFile);
  if (!llvm::sys::fs::exists(path) && !llvm::sys::fs::is_symlink_file(path))
    return refuseDirectory(directory);
  auto tensors = Safetensors::open(path, kWeightsFile);
  if (!tensors)
    return tensors.takeError();
  checkpoint->tensors = std::move(*tensors);
  return checkpoint;
}

std::string Checkpoint::getPath(llvm::StringRef file) const {
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, file);
  return path.str().str();
}

llvm::Expected<const SafetensorsEntry *>
Checkpoint::find(llvm::StringRef name) const {
  if (const SafetensorsEntry *entry = tensors->find(name))
    return entry;
  return refuse(tensors->getFile().getName() + ": lacks tensor " + quote(name));
}

llvm::Expected<const SafetensorsEntry *>
Checkpoint::take(llvm::StringRef name) {
  auto entry = find(name);
  if (entry)
    read.insert(name);
  return entry;
}

std::vector<llvm::StringRef> Checkpoint::getUnread() const {
  std::vector<llvm::StringRef> unread;
  for (const SafetensorsEntry &entry : tensors->getHeader().entries)
    if (!read.contains(entry.name))
      unread.push_back(entry.name);
  return unread;
}

llvm::Error Checkpoint::checkAllRead() const {
  std::vector<llvm::StringRef> unread = getUnread();
  if (unread.empty())
    return llvm::Error::success();
  std::string others;
  if (unread.size() > 1)
    others = " (and " + std::to_string(unread.size() - 1) + " more)";
  return refuse(tensors->getFile().getName() + ": tensor " +
                quote(unread.front()) + others + " has no place in the model");
}

llvm::Expected<TensorData> Checkpoint::getData(llvm::StringRef name) const {
  auto entry = find(name);
  if (!entry)
    return entry.takeError();
  auto bytes = tensors->view(**entry);
  if (!bytes)
    return bytes.takeError();
  return TensorData{(*entry)->type, (*entry)->shape, *bytes};
}

llvm::Expected<bool> Checkpoint::areEqual(llvm::StringRef a,
                                          llvm::StringRef b) const {
  auto first = getData(a);
  if (!first)
    return first.takeError();
  auto second = getData(b);
  if (!second)
    return second.takeError();
  return first->type == second->type && first->shape == second->shape &&
         first->bytes == second->bytes;
}
