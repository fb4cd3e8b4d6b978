#include "compiler/GgufSummary.h"

#include "frontend/gguf/Model.h"

#include <charconv>

using namespace effc;

/// The fewest digits that read as the same number of its own type.
static std::string describeFloat(double number, bool isSingle) {
  char text[32];
  auto [end, error] = isSingle
                          ? std::to_chars(text, std::end(text), float(number))
                          : std::to_chars(text, std::end(text), number);
  return {text, end};
}

static std::string valueOf(const frontend::GgufValue &value, uint64_t index) {
  if (value.type == frontend::GgufValueType::String)
    return value.strings[index];
  if (value.isFloat())
    return describeFloat(value.getNumber(index),
                         value.type == frontend::GgufValueType::F32);
  std::optional<int64_t> integer = value.getInteger(index);
  if (value.type == frontend::GgufValueType::Bool)
    return *integer ? "true" : "false";
  return integer ? std::to_string(*integer) : "beyond i64";
}

llvm::Expected<GgufSummary> effc::summariseGguf(llvm::StringRef path,
                                                size_t values) {
  auto model = frontend::GgufModel::open(path);
  if (!model)
    return model.takeError();
  const frontend::GgufShard &first = (*model)->getShards().front();
  GgufSummary summary{first.version, first.alignment, {}, {}, {}};
  for (const frontend::GgufPair &pair : (*model)->getMetadata().getPairs()) {
    const frontend::GgufValue &value = pair.value;
    GgufSummary::Key key{pair.key,
                         frontend::getName(value.type).str(),
                         value.isArray,
                         value.count,
                         {}};
    for (uint64_t i = 0; i < std::min<uint64_t>(value.count, values); ++i)
      key.values.push_back(valueOf(value, i));
    summary.keys.push_back(std::move(key));
  }
  for (const frontend::GgufShard &shard : (*model)->getShards()) {
    summary.files.push_back({shard.file->getName(), shard.file->size()});
    for (const frontend::TensorEntry &entry : shard.tensors.entries)
      summary.tensors.push_back({entry.name, entry.type.getName().str(),
                                 shard.file->getName(), entry.shape,
                                 entry.end - entry.begin});
  }
  return summary;
}
