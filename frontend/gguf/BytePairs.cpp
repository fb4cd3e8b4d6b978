// Kinds of byte-pair encoding: gpt2, llama, gemma4.
#include "frontend/gguf/TokenizerDescriber.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/gguf/PreTokenizers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace effc::frontend;
using llvm::StringLiteral;
using llvm::StringRef;
using llvm::Twine;
namespace json = llvm::json;

/// U+2581, which stands for a space in a token of SentencePiece.
static constexpr StringLiteral kSpace = "\xE2\x96\x81";

//===----------------------------------------------------------------------===//
// Merges
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kMerges = "tokenizer.ggml.merges";

/// Null where the file lacks them, which is a problem where they are `required`.
const std::vector<std::string> *
GgufTokenizerDescriber::readMergeLines(bool required) {
  const std::vector<std::string> *lines = keys.getStrings(kMerges);
  if (!lines && required && !keys.hasProblem())
    keys.report("lacks key " + quote(kMerges));
  return lines;
}

llvm::Expected<json::Array> GgufTokenizerDescriber::splitMergeLines(
    llvm::ArrayRef<std::string> lines) const {
  json::Array merges;
  for (const auto &[index, line] : llvm::enumerate(lines)) {
    size_t space = line.find(' ', 1); // the first byte may be one
    if (space == std::string::npos || space + 1 == line.size() ||
        !json::isUTF8(line))
      return refuse(keys.getFile() + ": expects element " + Twine(index) +
                    " of " + quote(kMerges) +
                    " to be two tokens with a space between, but got " +
                    quote(line));
    merges.push_back(
        json::Array{line.substr(0, space), line.substr(space + 1)});
  }
  return merges;
}

/// The pairs of tokens that make a token, the best score of the sum first; of equal
/// ones that of the lower id, and the shorter left part.
json::Array
GgufTokenizerDescriber::listMergesByScore(llvm::ArrayRef<double> scores) const {
  std::vector<size_t> order;
  for (auto [id, type] : llvm::enumerate(types))
    if (type == TokenType::Normal)
      order.push_back(id);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-scores[a], a) < std::pair(-scores[b], b);
  });
  auto takesPart = [&](StringRef part) {
    auto known = idOf.find(part);
    return known != idOf.end() &&
           types[size_t(known->second)] == TokenType::Normal;
  };
  json::Array merges;
  for (size_t id : order) {
    StringRef token = (*tokens)[id];
    for (size_t cut = 1; cut < token.size(); ++cut)
      if ((uint8_t(token[cut]) & 0xC0) != 0x80 && // between characters
          takesPart(token.take_front(cut)) && takesPart(token.drop_front(cut)))
        merges.push_back(
            json::Array{token.take_front(cut), token.drop_front(cut)});
  }
  return merges;
}

/// The lowest id first.
json::Array GgufTokenizerDescriber::listMergesByRank() const {
  std::vector<double> ranks(tokens->size());
  for (auto [id, rank] : llvm::enumerate(ranks))
    rank = -double(id);
  return listMergesByScore(ranks);
}

//===----------------------------------------------------------------------===//
// gpt2
//===----------------------------------------------------------------------===//

static json::Object byteLevel() {
  return json::Object{{"type", "ByteLevel"},
                      {"add_prefix_space", false},
                      {"trim_offsets", true},
                      {"use_regex", false}};
}

llvm::Expected<std::string> GgufTokenizerDescriber::describeByteLevel() {
  constexpr StringLiteral kPre = "tokenizer.ggml.pre";
  const std::string *name = keys.getString(kPre);
  const GgufPreTokenizer *pre = name ? findGgufPreTokenizer(*name) : nullptr;
  if (!pre && !keys.hasProblem())
    keys.report(
        (name ? kPre + " " + quote(*name) + " is not supported; supported: " +
                    llvm::join(llvm::map_range(
                                   listGgufPreTokenizers(),
                                   [](const auto &row) { return row.name; }),
                               ", ")
              : "lacks key " + quote(kPre)) +
        ": how texts are cut is not known; give the tokenizer beside it with "
        "--tokenizer DIR, or none with --no-tokenizer");
  if (pre && pre->mergesCharacters)
    return describeMergedCharacters();
  const std::vector<std::string> *lines =
      readMergeLines(/*required=*/pre && !pre->mergesByRank);
  if (llvm::Error error = keys.getProblem())
    return error;
  if (pre->addsBos && !keys.has("tokenizer.ggml.add_bos_token"))
    result.settings.addBosToken = true;

  auto merges = lines ? splitMergeLines(*lines)
                      : llvm::Expected<json::Array>(listMergesByRank());
  if (!merges)
    return merges.takeError();
  json::Array steps;
  for (StringRef split : pre->splits)
    steps.push_back(json::Object{{"type", "Split"},
                                 {"behavior", "Isolated"},
                                 {"invert", false},
                                 {"pattern", json::Object{{"Regex", split}}}});
  steps.push_back(byteLevel());
  auto around = describeAround();
  if (!around)
    return around.takeError();
  return writeJson(json::Object{
      {"version", "1.0"},
      {"added_tokens", describeAdded()},
      {"normalizer", nullptr},
      {"pre_tokenizer",
       json::Object{{"type", "Sequence"}, {"pretokenizers", std::move(steps)}}},
      {"post_processor", std::move(*around)},
      {"decoder", byteLevel()},
      {"model",
       json::Object{{"type", "BPE"},
                    {"vocab", describeVocabulary()},
                    {"merges", std::move(*merges)},
                    {"ignore_merges", pre->ignoresMerges || !lines}}}});
}

//===----------------------------------------------------------------------===//
// llama, gemma4
//===----------------------------------------------------------------------===//

static json::Object replace(StringRef from, StringRef to) {
  return json::Object{{"type", "Replace"},
                      {"pattern", json::Object{{"String", from}}},
                      {"content", to}};
}

/// BPE of characters, of which U+2581 is a space and bytes are what has no token.
llvm::Expected<std::string> GgufTokenizerDescriber::describeCharacterPairs(
    json::Array merges, std::optional<std::string> unknown, bool putsSpace) {
  json::Array normalizers,
      decoders{replace(kSpace, " "), json::Object{{"type", "ByteFallback"}},
               json::Object{{"type", "Fuse"}}};
  if (putsSpace) {
    normalizers.push_back(
        json::Object{{"type", "Prepend"}, {"prepend", kSpace}});
    decoders.push_back(json::Object{
        {"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  normalizers.push_back(replace(" ", kSpace));
  auto around = describeAround();
  if (!around)
    return around.takeError();
  return writeJson(json::Object{
      {"version", "1.0"},
      {"added_tokens", describeAdded()},
      {"normalizer", json::Object{{"type", "Sequence"},
                                  {"normalizers", std::move(normalizers)}}},
      {"pre_tokenizer", nullptr},
      {"post_processor", std::move(*around)},
      {"decoder",
       json::Object{{"type", "Sequence"}, {"decoders", std::move(decoders)}}},
      {"model", json::Object{{"type", "BPE"},
                             {"vocab", describeVocabulary()},
                             {"merges", std::move(merges)},
                             {"unk_token", unknown ? json::Value(*unknown)
                                                   : json::Value(nullptr)},
                             {"fuse_unk", true},
                             {"byte_fallback", true},
                             {"ignore_merges", false}}}});
}

llvm::Expected<std::string> GgufTokenizerDescriber::describeSentencePieces() {
  std::vector<double> scores = readScores();
  bool putsSpace =
      keys.getBoolean("tokenizer.ggml.add_space_prefix").value_or(true);
  // Every way to cut every token is looked up; as SentencePiece.cpp has it.
  constexpr uint64_t kMostWork = uint64_t(1) << 32;
  uint64_t work = 0;
  for (const std::string &token : *tokens)
    work += token.size() * token.size();
  if (work > kMostWork)
    keys.report("expects tokens whose squared sizes sum to at most " +
                Twine(kMostWork) + ", but got " + Twine(work));
  std::optional<std::string> unknown = requireUnknown();
  if (llvm::Error error = keys.getProblem())
    return error;
  return describeCharacterPairs(listMergesByScore(scores), *unknown, putsSpace);
}

/// Merges that the file lists, of characters; every byte has a token for those that
/// are none.
llvm::Expected<std::string> GgufTokenizerDescriber::describeMergedCharacters() {
  const std::vector<std::string> *lines = readMergeLines(/*required=*/true);
  for (unsigned byte = 0; byte < 256 && !keys.hasProblem(); ++byte)
    if (std::string name = "<0x" + llvm::utohexstr(byte, false, 2) + ">";
        !idOf.contains(name))
      keys.report("lacks token " + quote(name) +
                  ", which stands for a byte of a character without a token");
  if (llvm::Error error = keys.getProblem())
    return error;
  auto merges = splitMergeLines(*lines);
  if (!merges)
    return merges.takeError();
  return describeCharacterPairs(std::move(*merges),
                                result.settings.find("unk_token"),
                                /*putsSpace=*/false);
}

llvm::Expected<std::string> GgufTokenizerDescriber::describeGemma4() {
  if (result.settings.addBosToken == false)
    remarks.push_back(keys.getFile() +
                      ": 'tokenizer.ggml.add_bos_token' is false, as the first "
                      "converters of Gemma 4 wrote it: a text begins with "
                      "bos_token all the same, as with llama.cpp");
  result.settings.addBosToken = true;
  return describeMergedCharacters();
}
