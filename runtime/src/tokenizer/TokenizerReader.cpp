// Tokenizer::create: from the bytes of a Tokenizer segment to tables that the
// encoder trusts. Every id and every pattern is checked here.

#include "runtime/schema/tokenizer_generated.h"
#include "runtime/src/Limits.h"
#include "runtime/src/tokenizer/Tokenizer.h"
#include "runtime/src/tokenizer/Utf8.h"

#include <cstring>

using namespace effc;
using namespace effc::rt;

static constexpr uint32_t kMaxSplits = 64;
static constexpr uint32_t kMaxContentBytes = 65536;
/// One table per token, and as many again for added ones and splits.
static constexpr uint32_t kMaxTokenizerTables = 2 * kMaxVocabulary;
/// A flatbuffer may name one string a million times; copies are counted.
static constexpr uint64_t kMaxVocabularyBytes = uint64_t(1) << 30;

static Check checkIds(const flatbuffers::Vector<int32_t> *ids,
                      const char *what) {
  if (ids)
    for (int32_t id : *ids)
      if (id < 0 || static_cast<uint32_t>(id) >= kMaxVocabulary)
        return badData("the tokens to ", what, " contain id ", id);
  return {};
}

static Check checkTokenizer(const artifact::Tokenizer &root) {
  uint32_t size = root.tokens()->size();
  if (size > kMaxVocabulary)
    return badData("the vocabulary has ", size, " tokens, but at most ",
                   kMaxVocabulary, " are expected");
  uint64_t bytes = 0;
  for (const artifact::Bytes *token : *root.tokens())
    bytes += token->data() ? token->data()->size() : 0;
  if (bytes > kMaxVocabularyBytes)
    return badData("the vocabulary takes ", bytes, " bytes");
  if (root.byte_tokens()->size() != 256)
    return badData("there are tokens for ", root.byte_tokens()->size(),
                   " bytes, but 256 are expected");
  auto exists = [&](int32_t id) {
    return id >= 0 && static_cast<uint32_t>(id) < size;
  };
  for (int32_t id : *root.byte_tokens())
    if (id != -1 && !exists(id))
      return badData("a byte's token is ", id, ", but the vocabulary has ",
                     size);
  for (const artifact::Merge *merge : *root.merges())
    if (!exists(merge->left()) || !exists(merge->right()) ||
        !exists(merge->merged()))
      return badData("a merge of ", merge->left(), " and ", merge->right(),
                     " to ", merge->merged(),
                     " names a token past the vocabulary of ", size);
  if (root.splits()->size() > kMaxSplits)
    return badData("there are ", root.splits()->size(), " split steps");
  if (Check error = checkIds(root.prepend(), "prepend"))
    return error;
  return checkIds(root.append(), "append");
}

static Result<std::vector<AddedToken>>
readAddedTokens(const artifact::Tokenizer &root) {
  std::vector<AddedToken> added;
  uint64_t bytes = 0;
  for (const artifact::AddedToken *token : *root.added_tokens()) {
    const flatbuffers::String &content = *token->content();
    bytes += content.size();
    if (content.size() == 0 || content.size() > kMaxContentBytes ||
        bytes > kMaxVocabularyBytes)
      return badData("added token ", token->id(), " has ", content.size(),
                     " bytes, but 1 to ", kMaxContentBytes, " are expected");
    if (makeValidUtf8(content.string_view()) != content.string_view())
      return badData("added token ", token->id(), " is not UTF-8");
    if (token->id() < 0 || static_cast<uint32_t>(token->id()) >= kMaxVocabulary)
      return badData("an added token has id ", token->id());
    added.push_back({token->id(), content.str(), token->special(),
                     token->left_strip(), token->right_strip(),
                     token->single_word(), token->normalized()});
  }
  return added;
}

Result<std::unique_ptr<Tokenizer>>
Tokenizer::create(std::span<const uint8_t> bytes) {
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return badData(bytes.size(), " bytes are more than a flatbuffer can hold");
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), /*max_depth=*/64,
                                 kMaxTokenizerTables);
  if (!artifact::VerifyTokenizerBuffer(verifier))
    return badData("not a well-formed flatbuffer \"",
                   artifact::TokenizerIdentifier(), "\"");
  const artifact::Tokenizer &root = *artifact::GetTokenizer(bytes.data());
  if (Check error = checkTokenizer(root))
    return *error;
  Result<std::vector<AddedToken>> added = readAddedTokens(root);
  if (!added)
    return added.error();
  std::vector<BytePairMerger::Merge> merges;
  for (const artifact::Merge *merge : *root.merges())
    merges.push_back({merge->left(), merge->right(), merge->merged()});

  std::unique_ptr<Tokenizer> made(
      new Tokenizer(std::move(merges), std::move(*added)));
  for (const artifact::Bytes *token : *root.tokens()) {
    const auto *data = token->data();
    made->vocabulary.emplace_back(
        data ? std::string(reinterpret_cast<const char *>(data->data()),
                           data->size())
             : std::string());
  }
  for (uint32_t i = 0; i < 256; ++i)
    made->byteTokens[i] = root.byte_tokens()->Get(i);
  for (const artifact::SplitStep *step : *root.splits()) {
    if (step->behavior() > artifact::SplitBehavior::MAX)
      return badData("a split step is of unknown behaviour ",
                     unsigned(step->behavior()));
    Result<Pattern> pattern = Pattern::compile(step->pattern()->string_view());
    if (!pattern)
      return pattern.error();
    made->splits.push_back(
        {std::move(*pattern),
         step->behavior() == artifact::SplitBehavior::Removed, step->invert()});
  }
  made->addPrefixSpace = root.add_prefix_space();
  made->ignoreMerges = root.ignore_merges();
  if (made->ignoreMerges)
    for (size_t id = 0; id < made->vocabulary.size(); ++id)
      if (!made->vocabulary[id].empty())
        made->whole.emplace(made->vocabulary[id], static_cast<int32_t>(id));
  if (root.prepend())
    made->prepend.assign(root.prepend()->begin(), root.prepend()->end());
  if (root.append())
    made->append.assign(root.append()->begin(), root.append()->end());
  return made;
}
