// The shape of /v1/chat/completions.

#include "tools/effc-serve/api/Shape.h"
#include "tools/effc-serve/wire/JsonText.h"

#include <memory>

using namespace effc::serve;

namespace {
/// {"content":[{"token","logprob","bytes","top_logprobs":[...]}]}.
class ChatLogprobs final : public LogprobText {
public:
  ChatLogprobs(const TokenTexts &texts, bool asIds)
      : texts(texts), asIds(asIds) {}

  void add(int32_t token, std::span<const effc_logprob_t> found) override {
    if (found.empty())
      return;
    entries += entries.empty() ? "{" : ",{";
    addOne(found[0]);
    entries += ",\"top_logprobs\":[";
    for (size_t i = 1; i < found.size(); ++i) {
      entries += i == 1 ? "{" : ",{";
      addOne(found[i]);
      entries += '}';
    }
    entries += "]}";
  }

  void take(std::string &out) override {
    out += "{\"content\":[" + entries + "],\"refusal\":null}";
    entries.clear();
  }

private:
  void addOne(const effc_logprob_t &each) {
    std::string text = texts.of(each.token);
    entries += "\"token\":";
    appendQuoted(entries,
                 asIds ? "token_id:" + std::to_string(each.token) : text);
    entries += ",\"logprob\":";
    appendNumber(entries, each.logprob);
    entries += ",\"bytes\":";
    // Bytes that are no character by themselves are not known here.
    if (text.find("\xEF\xBF\xBD") != std::string::npos) {
      entries += "null";
      return;
    }
    entries += '[';
    for (size_t i = 0; i < text.size(); ++i) {
      entries += i == 0 ? "" : ",";
      appendNumber(entries, uint64_t(static_cast<unsigned char>(text[i])));
    }
    entries += ']';
  }

  const TokenTexts &texts;
  bool asIds;
  std::string entries;
};

class ChatShape final : public Shape {
public:
  ChatShape(const TokenTexts &texts, bool asIds) : texts(texts), asIds(asIds) {}
  const char *idPrefix() const override { return "chatcmpl-"; }
  const char *wholeObject() const override { return "chat.completion"; }
  const char *chunkObject() const override { return "chat.completion.chunk"; }
  void appendWhole(std::string &out, const Written &said) const override {
    out += ",\"message\":{\"role\":\"assistant\",\"content\":";
    // With calls alone there is no content, as OpenAI's API has it.
    if (said.content.empty() && !said.calls.empty())
      out += "null";
    else
      appendQuoted(out, said.content);
    if (!said.reasoning.empty()) {
      out += ",\"reasoning_content\":";
      appendQuoted(out, said.reasoning);
    }
    if (!said.calls.empty()) {
      out += ',';
      appendCalls(out, said, /*isPart=*/false);
    }
    out += ",\"refusal\":null}";
  }
  void appendPart(std::string &out, const Written &said) const override {
    out += ",\"delta\":{";
    const char *comma = "";
    auto field = [&](const char *name, const std::string &text) {
      if (text.empty())
        return;
      out += comma;
      out += name;
      appendQuoted(out, text);
      comma = ",";
    };
    field("\"reasoning_content\":", said.reasoning);
    field("\"content\":", said.content);
    if (!said.calls.empty()) {
      out += comma;
      appendCalls(out, said, /*isPart=*/true);
    }
    out += '}';
  }
  std::string opening() const override {
    return ",\"delta\":{\"role\":\"assistant\",\"content\":\"\"}";
  }
  std::unique_ptr<LogprobText> logprobs() const override {
    return std::make_unique<ChatLogprobs>(texts, asIds);
  }

private:
  /// "tool_calls":[...]; a part says which call it is of, and nothing twice.
  static void appendCalls(std::string &out, const Written &said, bool isPart) {
    out += "\"tool_calls\":[";
    for (size_t i = 0; i < said.calls.size(); ++i) {
      const Written::Call &call = said.calls[i];
      out += i == 0 ? "{" : ",{";
      if (isPart) {
        out += "\"index\":";
        appendNumber(out, uint64_t(call.index));
        out += ',';
      }
      if (!call.name.empty()) {
        out += "\"id\":";
        appendQuoted(out, call.id);
        out += ",\"type\":\"function\",\"function\":{\"name\":";
        appendQuoted(out, call.name);
        out += ",\"arguments\":";
      } else {
        out += "\"function\":{\"arguments\":";
      }
      appendQuoted(out, call.arguments);
      out += "}}";
    }
    out += ']';
  }

  const TokenTexts &texts;
  bool asIds;
};
} // namespace

std::unique_ptr<Shape> effc::serve::chatShape(const TokenTexts &texts,
                                              bool asIds) {
  return std::make_unique<ChatShape>(texts, asIds);
}
