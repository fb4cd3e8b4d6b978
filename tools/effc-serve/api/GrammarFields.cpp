#include "tools/effc-serve/api/GrammarFields.h"

#include <algorithm>

using namespace effc;
using namespace effc::serve;
using Json = nlohmann::ordered_json;

namespace {
using Create = decltype(effc_grammar_create);

/// Reads one field, whose name errors have.
class Reader {
public:
  Reader(const char *field, const ServedModel &model)
      : field(field), model(model) {}

  using Grammar = std::shared_ptr<effc_grammar_t>;

  /// OpenAI's, with llama.cpp's schema beside the type "json_object".
  Grammar responseFormat(const Json &format) const {
    Json type = format.value("type", Json());
    if (type == Json("text"))
      return nullptr;
    if (type == Json("json_object"))
      return format.contains("schema") ? schema(format["schema"]) : anyObject();
    if (type != Json("json_schema"))
      throw wrong("expects the type \"text\", \"json_object\" or "
                  "\"json_schema\", but got " +
                  shown(type));
    Json asked = format.value("json_schema", Json());
    if (!asked.is_object() || !asked.contains("schema"))
      throw wrong("expects a schema: {\"type\": \"json_schema\", "
                  "\"json_schema\": {\"schema\": {...}}}");
    return schema(asked["schema"]);
  }

  /// A schema, or the text of one.
  Grammar schema(const Json &asked) const {
    if (asked.is_string())
      return made(asked.get<std::string>(), effc_grammar_create_from_schema);
    if (!asked.is_object() && !asked.is_boolean())
      throw wrong("expects a schema, but got " + shown(asked));
    return made(asked.dump(), effc_grammar_create_from_schema);
  }

  Grammar gbnf(const Json &text) const {
    return made(textOf(text), effc_grammar_create);
  }
  Grammar pattern(const Json &text) const {
    return made(textOf(text), effc_grammar_create_from_pattern);
  }

  /// One of some texts.
  Grammar choice(const Json &texts) const {
    if (!texts.is_array() || texts.empty())
      throw wrong("expects a list of texts, but got " + shown(texts));
    std::string rule = "root ::= ";
    for (const Json &text : texts)
      rule += (&text == &texts.front() ? "" : " | ") + literal(textOf(text));
    return made(rule, effc_grammar_create);
  }

  Grammar anyObject() const {
    effc_grammar_t *grammar = nullptr;
    try {
      check(effc_grammar_create_json_object(model.model().get(), &grammar));
    } catch (const Error &error) {
      throw wrong(std::string("is not possible: ") + error.what());
    }
    return {grammar, effc_grammar_free};
  }

  /// vLLM's object, which has one of these in it.
  Grammar structured(const Json &asked) const {
    struct {
      const char *name;
      Grammar (Reader::*read)(const Json &) const;
    } static const kinds[] = {{"json", &Reader::schema},
                              {"regex", &Reader::pattern},
                              {"choice", &Reader::choice},
                              {"grammar", &Reader::gbnf},
                              {"json_object", &Reader::objectIf}};
    Grammar (Reader::*read)(const Json &) const = nullptr;
    const Json *from = nullptr;
    for (const auto &[name, value] : asked.items()) {
      if (value.is_null() || value == Json(false))
        continue;
      auto kind = std::ranges::find(kinds, name,
                                    [](const auto &each) { return each.name; });
      if (kind == std::end(kinds))
        throw wrong("has '" + name +
                    "', but 'json', 'regex', 'choice', 'grammar' and "
                    "'json_object' are understood");
      if (from)
        throw wrong("has two of 'json', 'regex', 'choice', 'grammar' and "
                    "'json_object', but one is expected");
      from = &value;
      read = kind->read;
    }
    return from ? (this->*read)(*from) : nullptr;
  }

private:
  Grammar objectIf(const Json &value) const {
    if (value != Json(true))
      throw wrong("expects true or false as 'json_object', but got " +
                  shown(value));
    return anyObject();
  }

  ApiError wrong(const std::string &what) const {
    return ApiError::invalid(field, what);
  }
  std::string textOf(const Json &value) const {
    if (!value.is_string())
      throw wrong("expects a text, but got " + shown(value));
    return value.get<std::string>();
  }

  /// A text of GBNF.
  static std::string literal(const std::string &text) {
    std::string out = "\"";
    for (char c : text) {
      auto byte = static_cast<unsigned char>(c);
      const char *digits = "0123456789abcdef";
      if (byte < 0x20)
        out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
      else if (c == '"' || c == '\\')
        out += {'\\', c};
      else
        out += c;
    }
    return out + '"';
  }

  Grammar made(const std::string &text, Create *create) const {
    effc_grammar_t *grammar = nullptr;
    try {
      check(create(model.model().get(), text.data(), text.size(), &grammar));
    } catch (const Error &error) {
      throw wrong(std::string("is not possible: ") + error.what());
    }
    return {grammar, effc_grammar_free};
  }

  const char *field;
  const ServedModel &model;
};
} // namespace

AskedGrammar effc::serve::readGrammar(const Fields &fields,
                                      const ServedModel &model) {
  struct {
    const char *name;
    Reader::Grammar (Reader::*read)(const Json &) const;
  } static const kFields[] = {{"response_format", &Reader::responseFormat},
                              {"structured_outputs", &Reader::structured},
                              {"guided_json", &Reader::schema},
                              {"guided_regex", &Reader::pattern},
                              {"guided_choice", &Reader::choice},
                              {"guided_grammar", &Reader::gbnf},
                              {"json_schema", &Reader::schema},
                              {"grammar", &Reader::gbnf}};
  AskedGrammar asked;
  for (const auto &field : kFields) {
    const Json *value = fields.find(field.name);
    if (!value || *value == Json("")) // which llama.cpp takes for none
      continue;
    auto grammar = (Reader(field.name, model).*field.read)(*value);
    if (grammar && asked.grammar)
      throw ApiError::invalid(field.name,
                              std::string("is not possible with '") +
                                  asked.field + "'");
    if (grammar)
      asked = {std::move(grammar), field.name};
  }
  return asked;
}
