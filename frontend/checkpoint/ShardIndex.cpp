#include "frontend/checkpoint/ShardIndex.h"

#include "frontend/checkpoint/Json.h"
#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/STLExtras.h"

using namespace effc::frontend;

static constexpr size_t kMostFiles = 512;
static constexpr size_t kMostNameBytes = 255;

/// (IX3)
static bool isPlainName(llvm::StringRef file) {
  constexpr llvm::StringLiteral kEnding = ".safetensors";
  return file.size() > kEnding.size() && file.size() <= kMostNameBytes &&
         file.ends_with(kEnding) && !file.contains('/') && !file.contains('\\');
}

/// (IX5)
static llvm::Error checkMetadata(const JsonValue &metadata,
                                 llvm::StringRef file) {
  const JsonObject *object = metadata.getObject();
  if (!object)
    return refuse(file + ": expects 'metadata' to be an object, but got " +
                  metadata.describe());
  const JsonValue *size = object->find("total_size");
  // Written as a float where a library has divided by the bits of an element.
  if (size && !(size->getNumber() && *size->getNumber() >= 0))
    return refuse(file +
                  ": expects 'total_size' to be a count of bytes, but "
                  "got " +
                  size->describe());
  return llvm::Error::success();
}

/// (IX2), (IX3), (IX4)
static llvm::Error readMap(const JsonObject &map, llvm::StringRef file,
                           ShardIndex &index) {
  if (map.getMembers().empty())
    return refuse(file + ": expects tensors in 'weight_map', but got none");
  for (const JsonMember &member : map.getMembers()) {
    const std::string *shard = member.value.getString();
    if (!shard)
      return refuse(file + ": expects a file's name for tensor " +
                    quote(member.key) + ", but got " + member.value.describe());
    if (!isPlainName(*shard))
      return refuse(file + ": expects tensor " + quote(member.key) +
                    " in a .safetensors file of the same directory, but got " +
                    quote(*shard));
    index.files.push_back(*shard);
  }
  llvm::sort(index.files);
  index.files.erase(llvm::unique(index.files), index.files.end());
  if (index.files.size() > kMostFiles)
    return refuse(file + ": expects at most " + llvm::Twine(kMostFiles) +
                  " files, but got " + llvm::Twine(index.files.size()));
  for (const JsonMember &member : map.getMembers()) {
    auto at = llvm::lower_bound(index.files, *member.value.getString());
    index.tensors.emplace_back(member.key, at - index.files.begin());
  }
  llvm::sort(index.tensors);
  return llvm::Error::success();
}

llvm::Expected<ShardIndex>
effc::frontend::parseShardIndex(llvm::StringRef text, llvm::StringRef name) {
  JsonLimits limits;
  limits.bytes = ShardIndex::kMostBytes;
  limits.depth = 8;
  limits.nonFinite = false;
  auto value = parseJson(text, name, limits);
  if (!value)
    return value.takeError();
  const JsonObject *object = value->getObject();
  if (!object)
    return refuse(name + ": expects an object, but got " + value->describe());
  if (const JsonValue *metadata = object->find("metadata"))
    if (llvm::Error error = checkMetadata(*metadata, name))
      return error;
  const JsonValue *map = object->find("weight_map");
  if (!map)
    return refuse(name + ": lacks 'weight_map'");
  if (!map->getObject())
    return refuse(name + ": expects 'weight_map' to be an object, but got " +
                  map->describe());
  ShardIndex index;
  for (const JsonMember &member : object->getMembers())
    if (member.key != "metadata" && member.key != "weight_map")
      index.unknownKeys.push_back(member.key);
  if (llvm::Error error = readMap(*map->getObject(), name, index))
    return error;
  return index;
}

const uint32_t *ShardIndex::find(llvm::StringRef tensor) const {
  auto at = llvm::lower_bound(tensors, tensor,
                              [](const auto &entry, llvm::StringRef name) {
                                return llvm::StringRef(entry.first) < name;
                              });
  return at != tensors.end() && at->first == tensor ? &at->second : nullptr;
}
