// The keys of a GGUF file's tokenizer, and a test that reads them and tries the tokenizer.
#ifndef EFFC_TEST_UNIT_FRONTEND_GGUF_TOKENIZERKEYS_H
#define EFFC_TEST_UNIT_FRONTEND_GGUF_TOKENIZERKEYS_H

#include "frontend/checkpoint/Json.h"
#include "frontend/checkpoint/MappedFile.h"
#include "frontend/gguf/Model.h"
#include "frontend/gguf/Tokenizer.h"
#include "frontend/tokenizer/TokenizerImport.h"
#include "runtime/src/tokenizer/Tokenizer.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TemporaryDirectory.h"
#include "test/unit/frontend/gguf/GgufImage.h"

#include "llvm/ADT/STLExtras.h"

namespace effc::test {

using namespace effc::frontend;
using Ids = std::vector<int32_t>;

/// The keys of a tokenizer, to be spoiled before they are written.
struct Keys {
  std::string model = "gpt2", pre = "gpt-2";
  std::vector<std::string> tokens, merges;
  std::vector<int32_t> types;
  std::vector<float> scores;
  std::vector<std::pair<std::string, uint32_t>> ids;
  std::vector<std::pair<std::string, bool>> flags;
  std::vector<std::pair<std::string, std::string>> texts;

  int32_t add(const std::string &token, int32_t type = 1, float score = 0) {
    tokens.push_back(token);
    types.push_back(type);
    scores.push_back(score);
    return int32_t(tokens.size()) - 1;
  }

  GgufBuilder build() const {
    GgufBuilder builder;
    builder.text("tokenizer.ggml.model", model);
    if (!pre.empty())
      builder.text("tokenizer.ggml.pre", pre);
    builder.texts("tokenizer.ggml.tokens", tokens);
    if (!types.empty())
      builder.array("tokenizer.ggml.token_type", GgufValueType::I32, types);
    if (!scores.empty())
      builder.array("tokenizer.ggml.scores", GgufValueType::F32, scores);
    if (!merges.empty())
      builder.texts("tokenizer.ggml.merges", merges);
    for (const auto &[key, id] : ids)
      builder.number("tokenizer.ggml." + key, id);
    for (const auto &[key, flag] : flags)
      builder.flag("tokenizer.ggml." + key, flag);
    for (const auto &[key, text] : texts)
      builder.text("tokenizer." + key, text);
    return builder;
  }
};

/// A file of test/goldens/tokenizer.
inline JsonValue readTokenizerGolden(const std::string &name) {
  std::string text = llvm::cantFail(readTextFile(
      EFFC_GOLDENS "/tokenizer/" + name, name, uint64_t(16) << 20));
  return llvm::cantFail(parseJson(text, name));
}

/// A file of its folder `corpus`.
inline JsonValue readCorpus(const std::string &name) {
  return readTokenizerGolden("corpus/" + name);
}

inline Ids readIds(const JsonValue &value) {
  Ids ids;
  for (const JsonValue &id : *value.getArray())
    ids.push_back(int32_t(*id.getInteger()));
  return ids;
}

inline std::string byteToken(int byte) {
  char text[8];
  snprintf(text, sizeof(text), "<0x%02X>", byte);
  return text;
}

class GgufTokenizerTest : public testing::Test {
protected:
  llvm::Expected<std::optional<GgufTokenizer>>
  read(const GgufBuilder &builder) {
    directory.write("m.gguf", builder.build());
    auto model = GgufModel::open(directory.file("m.gguf"));
    if (!model)
      return model.takeError();
    remarks.clear();
    return describeGgufTokenizer((*model)->getMetadata(), remarks);
  }
  std::string refusal(const Keys &keys) { return outcome(read(keys.build())); }

  void make(const Keys &keys) {
    auto found = read(keys.build());
    ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
    described = std::move(*found);
    ASSERT_TRUE(described);
    auto bytes = translateTokenizer(described->text, "m.gguf",
                                    int64_t(keys.tokens.size()), remarks,
                                    described->settings);
    ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
    auto created = effc::rt::Tokenizer::create(*bytes);
    ASSERT_TRUE(created) << created.error().message;
    tokenizer = std::move(*created);
  }
  Ids idsOf(const std::string &text) {
    auto found = tokenizer->tokenize(text, {});
    EXPECT_TRUE(found) << found.error().message;
    return *found;
  }

  /// Expects the recorded ids of all texts without `but`; gives how many there are.
  size_t compareCorpus(const char *recorded, const char *but) {
    JsonValue texts = readCorpus("texts.json"), file = readCorpus(recorded);
    const JsonArray &ids = *file.getObject()->find("ids")->getArray();
    size_t compared = 0;
    for (const auto &[i, value] : llvm::enumerate(*texts.getArray())) {
      const std::string *text = value.getString();
      if (!text || text->find(but) != std::string::npos)
        continue;
      EXPECT_EQ(idsOf(*text), readIds(ids[i])) << i << ": " << *text;
      ++compared;
    }
    return compared;
  }

  TemporaryDirectory directory;
  std::vector<std::string> remarks;
  std::optional<GgufTokenizer> described;
  std::remove_reference_t<decltype(*effc::rt::Tokenizer::create({}))> tokenizer;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_FRONTEND_GGUF_TOKENIZERKEYS_H
