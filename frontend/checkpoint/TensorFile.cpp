#include "frontend/checkpoint/TensorFile.h"

#include "frontend/checkpoint/Safetensors.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace effc::frontend;

namespace {
/// A format, by the ending of its files' names.
struct Kind {
  llvm::StringLiteral ending;
  llvm::Expected<std::unique_ptr<TensorFile>> (*open)(llvm::StringRef path,
                                                      llvm::StringRef name);
};
constexpr Kind kKinds[] = {{".safetensors", openSafetensors}};
} // namespace

llvm::Expected<std::unique_ptr<TensorFile>>
TensorFile::open(llvm::StringRef path, llvm::StringRef name) {
  for (const Kind &kind : kKinds)
    if (name.ends_with(kind.ending))
      return kind.open(path, name);
  // An index may call its files as it likes.
  return openSafetensors(path, name);
}

TensorFile::TensorFile(std::unique_ptr<MappedFile> file, TensorTable table)
    : file(std::move(file)), table(std::move(table)) {
  const auto &entries = this->table.entries;
  byName.resize(entries.size());
  std::iota(byName.begin(), byName.end(), 0);
  llvm::sort(byName, [&](uint32_t a, uint32_t b) {
    return entries[a].name < entries[b].name;
  });
}

const TensorEntry *TensorFile::find(llvm::StringRef name) const {
  const auto &entries = table.entries;
  auto at =
      llvm::lower_bound(byName, name, [&](uint32_t i, llvm::StringRef name) {
        return llvm::StringRef(entries[i].name) < name;
      });
  if (at == byName.end() || entries[*at].name != name)
    return nullptr;
  return &entries[*at];
}

llvm::Expected<llvm::ArrayRef<uint8_t>>
TensorFile::view(const TensorEntry &entry) const {
  return file->view(getOffset(entry), entry.end - entry.begin);
}

std::string effc::frontend::describeShape(llvm::ArrayRef<uint64_t> shape) {
  if (shape.empty())
    return "scalar";
  // Nobody reads the end of a shape of a thousand dimensions.
  constexpr size_t kMost = 8;
  std::string text;
  for (uint64_t extent : shape.take_front(kMost))
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return shape.size() > kMost ? text + "x..." : text;
}
