// The shape of /v1/completions: "text_completion".

#include "tools/effc-serve/api/Shape.h"
#include "tools/effc-serve/wire/JsonText.h"

#include <algorithm>
#include <memory>

using namespace effc::serve;

namespace {
/// {"tokens":[],"token_logprobs":[],"top_logprobs":[],"text_offset":[]}.
class CompletionLogprobs final : public LogprobText {
public:
  CompletionLogprobs(const TokenTexts &texts, bool asIds)
      : texts(texts), asIds(asIds) {}

  void add(int32_t token, std::span<const effc_logprob_t> found) override {
    const char *comma = tokens.empty() ? "" : ",";
    std::string text = texts.of(token);
    tokens += comma;
    appendQuoted(tokens, shown(token, text));
    own += comma;
    found.empty() ? void(own += "null") : appendNumber(own, found[0].logprob);
    offsets += comma;
    appendNumber(offsets, offset);
    offset += characterCount(text);
    top += comma;
    if (found.empty()) {
      top += "null";
      return;
    }
    // The likeliest, and the token itself where it is none of them. Two tokens may
    // have one text: the likelier one stays.
    top += '{';
    std::vector<std::string> keys;
    auto addKey = [&](const effc_logprob_t &each) {
      std::string key =
          shown(each.token, each.token == token ? text : texts.of(each.token));
      if (std::find(keys.begin(), keys.end(), key) != keys.end())
        return;
      top += keys.empty() ? "" : ",";
      appendQuoted(top, key);
      top += ':';
      appendNumber(top, each.logprob);
      keys.push_back(std::move(key));
    };
    for (const effc_logprob_t &each : found.subspan(1))
      addKey(each);
    addKey(found[0]);
    top += '}';
  }

  void take(std::string &out) override {
    out += "{\"tokens\":[" + tokens + "],\"token_logprobs\":[" + own +
           "],\"top_logprobs\":[" + top + "],\"text_offset\":[" + offsets +
           "]}";
    tokens.clear();
    own.clear();
    top.clear();
    offsets.clear();
  }

private:
  std::string shown(int32_t token, const std::string &text) const {
    return asIds ? "token_id:" + std::to_string(token) : text;
  }

  const TokenTexts &texts;
  bool asIds;
  std::string tokens, own, top, offsets;
  uint64_t offset = 0; // characters of all tokens before
};

class CompletionShape final : public Shape {
public:
  CompletionShape(const TokenTexts &texts, bool asIds)
      : texts(texts), asIds(asIds) {}
  const char *idPrefix() const override { return "cmpl-"; }
  const char *wholeObject() const override { return "text_completion"; }
  const char *chunkObject() const override { return "text_completion"; }
  void appendWhole(std::string &out, const Written &said) const override {
    out += ",\"text\":";
    appendQuoted(out, said.content);
  }
  void appendPart(std::string &out, const Written &said) const override {
    appendWhole(out, said);
  }
  std::string opening() const override { return ""; }
  std::unique_ptr<LogprobText> logprobs() const override {
    return std::make_unique<CompletionLogprobs>(texts, asIds);
  }

private:
  const TokenTexts &texts;
  bool asIds;
};
} // namespace

std::unique_ptr<Shape> effc::serve::completionShape(const TokenTexts &texts,
                                                    bool asIds) {
  return std::make_unique<CompletionShape>(texts, asIds);
}
