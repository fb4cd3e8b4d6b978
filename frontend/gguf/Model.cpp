#include "frontend/gguf/Model.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/gguf/BlockScales.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace effc::frontend;

bool effc::frontend::isGgufFile(llvm::StringRef path) {
  if (!llvm::sys::fs::is_regular_file(path))
    return false;
  if (path.ends_with_insensitive(".gguf"))
    return true;
  auto file = MappedFile::open(path, path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  uint8_t start[4] = {};
  llvm::consumeError(
      (*file)->read(0, llvm::MutableArrayRef(start).take_front(
                           std::min<uint64_t>((*file)->size(), sizeof start))));
  return isGguf(start);
}

/// As many files as Checkpoint takes.
static constexpr int64_t kMostShards = 512;

/// "-00002-of-00003.gguf"; `number` from 1 on.
static std::string endingOf(int64_t number, int64_t count) {
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("-%05d-of-%05d.gguf", int(number), int(count));
  return text;
}

llvm::Error GgufModel::openShard(llvm::StringRef name) {
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, name);
  auto file = MappedFile::open(path, name);
  if (!file)
    return file.takeError();
  auto bytes = (*file)->view(0, (*file)->size());
  if (!bytes)
    return bytes.takeError();
  auto header = parseGgufHeader(*bytes, name);
  if (!header)
    return header.takeError();
  // What was read is the file only if no page was missing.
  if (llvm::Error error = (*file)->checkUnchanged())
    return error;
  auto number = uint32_t(shards.size());
  for (const auto &[index, entry] : llvm::enumerate(header->tensors.entries))
    if (auto [at, isNew] =
            byName.try_emplace(entry.name, number, uint32_t(index));
        !isNew)
      return refuse("tensor " + quote(entry.name) + " is in " + quote(name) +
                    " and in " +
                    quote(shards[at->second.first].file->getName()));
  shards.push_back({std::move(*file), header->version, header->alignment,
                    std::move(header->tensors)});
  if (!metadata) {
    metadata = std::move(header->metadata);
    return llvm::Error::success();
  }
  GgufMetadata &own = header->metadata;
  int64_t count = int64_t(*metadata->getInteger("split.count", 1, kMostShards));
  for (auto [key, expected] :
       {std::pair<llvm::StringRef, int64_t>{"split.no", number},
        {"split.count", count}})
    if (int64_t found = own.requireInteger(key, 0, 65535);
        !own.hasProblem() && found != expected)
      own.report("expects " + quote(key) + " to be " + llvm::Twine(expected) +
                 ", but got " + llvm::Twine(found) +
                 ": the file is not the one that its name says");
  for (const GgufPair &pair : own.getPairs())
    if (llvm::StringRef key = pair.key;
        !key.starts_with("split.") && !key.starts_with("general."))
      own.report("key " + quote(key) +
                 " is in a further file: keys belong into the first");
  return own.getProblem();
}

/// (GM1) to (GM6)
llvm::Error GgufModel::openOthers(llvm::StringRef first) {
  GgufMetadata &keys = *metadata;
  std::optional<int64_t> count = keys.getInteger("split.count", 1, kMostShards);
  int64_t number = keys.getInteger("split.no", 0, 65535).value_or(0);
  std::optional<int64_t> tensors =
      keys.getInteger("split.tensors.count", 0, int64_t(1) << 30);
  if (llvm::Error error = keys.getProblem())
    return error;
  if (count && number != 0)
    return refuse(first + ": is file " + llvm::Twine(number + 1) + " of " +
                  llvm::Twine(*count) +
                  ": name the first, which has the keys (\"...-00001-of-" +
                  endingOf(1, *count).substr(10, 5) + ".gguf\")");
  if (count && *count > 1) {
    std::string ending = endingOf(1, *count);
    llvm::StringRef stem = first;
    if (!stem.consume_back(ending))
      return refuse(first + ": is the first of " + llvm::Twine(*count) +
                    " files: expects its name to end with " + quote(ending) +
                    ", so that the others can be found");
    for (int64_t shard = 2; shard <= *count; ++shard)
      if (llvm::Error error = openShard(stem.str() + endingOf(shard, *count)))
        return error;
  }
  if (tensors && *tensors != int64_t(byName.size()))
    return refuse(first + ": expects " + llvm::Twine(*tensors) +
                  " tensors ('split.tensors.count'), but the files have " +
                  llvm::Twine(byName.size()));
  return llvm::Error::success();
}

/// (GM7)
llvm::Error GgufModel::checkKind() {
  constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> kKinds[] = {
      {"adapter", "an adapter, which is added to the weights of a model: merge "
                  "them first (llama-export-lora)"},
      {"mmproj", "a projector of images or sounds, which belongs beside a "
                 "model's own file: name that one"},
      {"imatrix", "a matrix of importances, which is used to make other files "
                  "and has no weights"}};
  const std::string *kind = metadata->getString("general.type");
  if (!kind || *kind == "model")
    return metadata->getProblem();
  for (const auto &[name, is] : kKinds)
    if (*kind == name)
      return refuse(metadata->getFile() + ": is " + is);
  return refuse(metadata->getFile() +
                ": expects 'general.type' to be \"model\", but got " +
                quote(*kind, '"'));
}

llvm::Expected<std::unique_ptr<GgufModel>>
GgufModel::open(llvm::StringRef path) {
  std::unique_ptr<GgufModel> model(new GgufModel());
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  model->directory = folder.empty() ? "." : folder.str();
  llvm::StringRef name = llvm::sys::path::filename(path);
  if (llvm::Error error = model->openShard(name))
    return error;
  if (llvm::Error error = model->openOthers(name))
    return error;
  if (llvm::Error error = model->checkKind())
    return error;
  return model;
}

const TensorEntry *GgufModel::find(llvm::StringRef name) const {
  auto at = byName.find(name);
  if (at == byName.end())
    return nullptr;
  return &shards[at->second.first].tensors.entries[at->second.second];
}

llvm::Expected<llvm::ArrayRef<uint8_t>>
GgufModel::view(const TensorEntry &entry) const {
  const GgufShard &shard = shards[byName.find(entry.name)->second.first];
  return shard.file->view(shard.tensors.dataOffset + entry.begin,
                          entry.end - entry.begin);
}

llvm::Error GgufModel::checkScales() const {
  for (const GgufShard &shard : shards)
    for (const TensorEntry &entry : shard.tensors.entries) {
      const GgufType *type = findGgufType(entry.type.getName());
      auto bytes = view(entry);
      if (!bytes)
        return bytes.takeError();
      if (std::optional<uint64_t> block = findBadScale(*type, *bytes))
        return refuse(shard.file->getName() + ": tensor " + quote(entry.name) +
                      ": a scale of block " + llvm::Twine(*block) + " (" +
                      type->name +
                      ") is infinite or no number: the file is "
                      "damaged");
    }
  return llvm::Error::success();
}
