#include "frontend/gguf/Config.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/STLExtras.h"

using namespace effc::frontend;

/// The bounds of any configuration (frontend/model/ModelInput.h), within which a
/// family has its own.
static constexpr int64_t kMostLayers = 1024, kMostDimension = int64_t(1) << 20,
                         kMostNumber = int64_t(1) << 30;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

void GgufConfig::set(llvm::StringRef field, JsonValue value,
                     llvm::StringRef key) {
  if (!key.empty())
    origins[field] = key.str();
  for (JsonMember &member : members)
    if (member.key == field) {
      member.value = std::move(value);
      return;
    }
  members.push_back({field.str(), std::move(value)});
}

void GgufConfig::assume(llvm::StringRef field, JsonValue value,
                        llvm::StringRef key) {
  remarks.push_back(getKeys().getFile() + ": no key says " + quote(field) +
                    " of config.json: it is taken to be " + value.describe());
  set(field, std::move(value), key);
}

void GgufConfig::rename(llvm::StringRef field, llvm::StringRef name) {
  for (JsonMember &member : members)
    if (member.key == field)
      member.key = name.str();
  if (auto origin = origins.find(field); origin != origins.end())
    origins[name] = std::string(origin->getValue());
}

void GgufConfig::setInteger(llvm::StringRef field, int64_t value,
                            llvm::StringRef key) {
  set(field,
      JsonValue(value < 0 ? JsonValue::Storage(value)
                          : JsonValue::Storage(uint64_t(value))),
      key);
}

void GgufConfig::setNumber(llvm::StringRef field, double value,
                           llvm::StringRef key) {
  set(field, JsonValue(value), key);
}

void GgufConfig::setBoolean(llvm::StringRef field, bool value,
                            llvm::StringRef key) {
  set(field, JsonValue(JsonValue::Storage(value)), key);
}

void GgufConfig::setText(llvm::StringRef field, llvm::StringRef value,
                         llvm::StringRef key) {
  set(field, JsonValue(value.str()), key);
}

void GgufConfig::setTexts(llvm::StringRef field,
                          llvm::ArrayRef<llvm::StringRef> values,
                          llvm::StringRef key) {
  JsonArray array;
  for (llvm::StringRef value : values)
    array.push_back(JsonValue(value.str()));
  set(field, JsonValue(std::move(array)), key);
}

void GgufConfig::setIntegers(llvm::StringRef field,
                             llvm::ArrayRef<int64_t> values,
                             llvm::StringRef key) {
  JsonArray array;
  for (int64_t value : values)
    array.push_back(JsonValue(JsonValue::Storage(value)));
  set(field, JsonValue(std::move(array)), key);
}

void GgufConfig::setObject(llvm::StringRef field, GgufConfig &&inner) {
  for (const auto &origin : inner.origins)
    origins[origin.getKey()] = origin.getValue();
  for (const auto &tensor : inner.taken)
    taken.insert(tensor.getKey());
  llvm::append_range(remarks, inner.remarks);
  set(field, std::move(inner).take());
}

JsonValue GgufConfig::take() && {
  return JsonValue(std::make_unique<JsonObject>(
      llvm::cantFail(JsonObject::create(std::move(members)))));
}

void GgufConfig::copy(const GgufKeyRow &row) {
  GgufMetadata &keys = getKeys();
  std::string key = keyOf(row.key);
  switch (row.kind) {
  case GgufKeyKind::Integer:
    if (auto value = keys.getInteger(key, 0, kMostNumber))
      setInteger(row.field, *value, key);
    return;
  case GgufKeyKind::Number:
    if (auto value = keys.getNumber(key, -1e30, 1e30))
      setNumber(row.field, *value, key);
    return;
  case GgufKeyKind::Boolean:
    if (auto value = keys.getBoolean(key))
      setBoolean(row.field, *value, key);
    return;
  case GgufKeyKind::SameInEachLayer:
    if (auto values = getForEachLayer(row.key, 0, kMostDimension)) {
      if (!llvm::all_equal(*values))
        keys.report("expects " + quote(key) +
                    " to be the same for each layer, but got " +
                    llvm::Twine(values->front()) + " and " +
                    llvm::Twine(*llvm::find_if(*values, [&](int64_t value) {
                      return value != values->front();
                    })));
      setInteger(row.field, values->front(), key);
    }
    return;
  case GgufKeyKind::Known:
    keys.ignore({key});
    return;
  }
}

//===----------------------------------------------------------------------===//
// What the file says
//===----------------------------------------------------------------------===//

std::optional<std::vector<int64_t>>
GgufConfig::getForEachLayer(llvm::StringRef key, int64_t least, int64_t most) {
  auto values = getKeys().getIntegerForEach(keyOf(key), least, most,
                                            uint64_t(layers + furtherLayers));
  if (values)
    values->resize(size_t(layers));
  return values;
}

std::optional<std::vector<double>>
GgufConfig::takeNumbers(llvm::StringRef tensor) {
  const TensorEntry *entry = model.find(tensor);
  if (!entry)
    return std::nullopt;
  taken.insert(tensor);
  if (entry->type.isBlocks() || !isDecodable(entry->type.getElement())) {
    getKeys().report("expects tensor " + quote(tensor) +
                     " of F32, F16 or BF16, but got " + entry->type.getName());
    return std::nullopt;
  }
  auto bytes = model.view(*entry);
  if (!bytes) {
    getKeys().report(llvm::toString(bytes.takeError()));
    return std::nullopt;
  }
  return decode<double>(entry->type.getElement(), *bytes);
}

void GgufConfig::readSizes() {
  GgufMetadata &keys = getKeys();
  int64_t blocks = keys.requireInteger(keyOf("block_count"), 1, kMostLayers);
  furtherLayers =
      keys.getInteger(keyOf("nextn_predict_layers"), 0, blocks - 1).value_or(0);
  layers = blocks - furtherLayers;
  width = keys.requireInteger(keyOf("embedding_length"), 1, kMostDimension);
  if (const TensorEntry *table = model.find("token_embd.weight")) {
    vocabulary = int64_t(table->shape.front());
  } else {
    keys.report("lacks tensor 'token_embd.weight'");
  }
  keyHeads.assign(size_t(layers), 1);
  if (auto each = getForEachLayer("attention.head_count", 0, kMostDimension)) {
    // Layers without attention may have none.
    heads = std::max<int64_t>(*llvm::max_element(*each), 1);
    keyHeads.assign(size_t(layers), heads);
  }
  if (auto each = getForEachLayer("attention.head_count_kv", 0, kMostDimension))
    keyHeads = *each;
  headWidth = keys.getInteger(keyOf("attention.key_length"), 1, kMostDimension)
                  .value_or(std::max<int64_t>(width / heads, 1));
  if (auto size = keys.getInteger(keyOf("wkv.head_size"), 1, kMostDimension))
    headWidth = *size;
}

/// Ids of tokens, by the keys of config.json. All that end a text do.
void GgufConfig::describeTokens() {
  GgufMetadata &keys = getKeys();
  constexpr int64_t kMostId = int64_t(1) << 24;
  for (auto [key, field] :
       {std::pair<llvm::StringRef, llvm::StringRef>{
            "tokenizer.ggml.bos_token_id", "bos_token_id"},
        {"tokenizer.ggml.padding_token_id", "pad_token_id"}})
    if (auto id = keys.getInteger(key, 0, kMostId))
      setInteger(field, *id, key);
  std::vector<int64_t> ends;
  for (llvm::StringRef key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
        "tokenizer.ggml.eom_token_id"})
    if (auto id = keys.getInteger(key, 0, kMostId))
      if (!llvm::is_contained(ends, *id))
        ends.push_back(*id);
  if (!ends.empty())
    setIntegers("eos_token_id", ends, "tokenizer.ggml.eos_token_id");
}

/// How the author wants the model sampled. What has no place in an artifact, such
/// as Mirostat, stays unread.
void GgufConfig::describeSampling() {
  GgufMetadata &keys = getKeys();
  constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> kNumbers[] = {
      {"general.sampling.temp", "temperature"},
      {"general.sampling.top_p", "top_p"},
      {"general.sampling.min_p", "min_p"},
      {"general.sampling.penalty_repeat", "repetition_penalty"}};
  for (const auto &[key, field] : kNumbers)
    if (auto value = keys.getNumber(key, 0, 1e6)) {
      setNumber(field, *value, key);
      setBoolean("do_sample", true, key);
    }
  // Whatever is not above 0 stands for all tokens.
  if (auto most = keys.getInteger("general.sampling.top_k", -kMostNumber,
                                  kMostNumber)) {
    setInteger("top_k", std::max<int64_t>(*most, 0), "general.sampling.top_k");
    setBoolean("do_sample", true, "general.sampling.top_k");
  }
  // Greedy is no sampling at all.
  if (keys.has("general.sampling.temp") &&
      keys.getNumber("general.sampling.temp", 0, 1e6) == 0.0)
    setBoolean("do_sample", false, "general.sampling.temp");
}

void GgufConfig::describe() {
  readSizes();
  form.wholeNorms = architecture.wholeNorms;
  setText("model_type", architecture.modelType, "general.architecture");
  setInteger("vocab_size", vocabulary, "token_embd.weight");
  setInteger("num_hidden_layers", layers, keyOf("block_count"));
  setInteger("hidden_size", width, keyOf("embedding_length"));
  setBoolean("tie_word_embeddings", !model.find("output.weight"),
             "output.weight");
  // The rows of the table of embeddings count; the second says of old files by
  // which program their rows were put in pairs.
  getKeys().ignore({keyOf("vocab_size"), keyOf("tensor_data_layout")});
  if (getKeys().getBoolean(keyOf("attention.causal")) == false)
    getKeys().report("expects " + quote(keyOf("attention.causal")) +
                     " to be true, but got false: the model does not generate");
  describeTokens();
  describeSampling();
  for (llvm::ArrayRef<GgufKeyRow> rows : architecture.keys)
    for (const GgufKeyRow &row : rows)
      copy(row);
  if (architecture.describe)
    architecture.describe(*this);
}
