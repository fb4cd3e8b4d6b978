// openapi.json says what is taken: its fields, types and bounds are those of the
// tables that requests are held to, and its paths those that are answered.

#include "tools/effc-serve/Embedded.h"
#include "tools/effc-serve/Service.h"

#include <gtest/gtest.h>
#include <set>

using namespace effc::serve;
using Json = nlohmann::ordered_json;

static const Json &document() {
  static const Json parsed = Json::parse(kOpenApi);
  return parsed;
}

/// What is meant where something refers to a part of the document.
static Json resolved(const Json &schema) {
  if (!schema.contains("$ref"))
    return schema;
  return document().at(
      Json::json_pointer(schema["$ref"].get<std::string>().substr(1)));
}

static std::set<std::string> typesOf(const Json &schema) {
  Json type = schema.value("type", Json::array());
  if (type.is_string())
    return {type.get<std::string>()};
  auto all = type.get<std::set<std::string>>();
  all.erase("null");
  return all;
}

static std::string lowered(std::string text) {
  for (char &c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

static const char *nameOf(FieldType type) {
  switch (type) {
  case FieldType::Boolean:
    return "boolean";
  case FieldType::Integer:
    return "integer";
  case FieldType::Number:
    return "number";
  case FieldType::Text:
    return "string";
  case FieldType::List:
    return "array";
  case FieldType::Mapping:
    return "object";
  case FieldType::Any:
    break;
  }
  return "";
}

static void expectField(const Field &field, const Json &schema) {
  std::set<std::string> expected;
  if (field.type != FieldType::Any)
    expected = {nameOf(field.type)};
  EXPECT_EQ(typesOf(schema), expected);
  constexpr double kNone = std::numeric_limits<double>::max();
  struct {
    FieldType type;
    const char *least, *most;
  } bounds[] = {{FieldType::Integer, "minimum", "maximum"},
                {FieldType::Number, "minimum", "maximum"},
                {FieldType::Text, "minLength", "maxLength"},
                {FieldType::List, "minItems", "maxItems"},
                {FieldType::Mapping, "minProperties", "maxProperties"}};
  for (const auto &bound : bounds)
    if (bound.type == field.type) {
      EXPECT_EQ(schema.value(bound.least, 0.0), field.least);
      EXPECT_EQ(schema.value(bound.most, kNone), field.most);
    }
}

TEST(OpenApi, HasTheFieldsThatAreTaken) {
  for (const BodyTable &table : bodyTables()) {
    SCOPED_TRACE(table.path);
    Json schema = resolved(document()
                               .at("paths")
                               .at(table.path)
                               .at("post")
                               .at("requestBody")
                               .at("content")
                               .at("application/json")
                               .at("schema"));
    std::set<std::string> described, known;
    for (const auto &[name, ignored] : schema.at("properties").items())
      described.insert(name);
    for (const Field &field : table.known) {
      SCOPED_TRACE(field.name);
      EXPECT_TRUE(known.insert(field.name).second) << "twice";
      ASSERT_TRUE(schema["properties"].contains(field.name));
      expectField(field, schema["properties"][field.name]);
    }
    EXPECT_EQ(described, known);
    for (const RefusedField &field : table.refused)
      EXPECT_FALSE(known.contains(field.name)) << field.name;
  }
}

TEST(OpenApi, HasThePathsThatAreAnswered) {
  std::set<std::string> described, answered;
  for (const auto &[path, methods] : document().at("paths").items())
    for (const auto &[method, operation] : methods.items()) {
      described.insert(method + " " + path);
      bool isPublic = operation.contains("security");
      for (const Route &route : routes())
        if (path == route.path && method == lowered(route.method))
          EXPECT_EQ(isPublic, route.isPublic) << path;
    }
  for (const Route &route : routes()) {
    std::string path = route.path;
    if (path.ends_with("*"))
      path.replace(path.size() - 1, 1, "{model}");
    answered.insert(lowered(route.method) + " " + path);
  }
  EXPECT_EQ(described, answered);
}

TEST(Page, IsSmallAndTakesNothingFromElsewhere) {
  EXPECT_LE(kPage.size(), 30u * 1024);
  for (const char *foreign :
       {"http://", "https://", "src=", "@import", "eval(", "innerHTML"})
    EXPECT_EQ(kPage.find(foreign), std::string_view::npos) << foreign;
}

// What a stream of a conversation has: the page shows each of them, as the check by a
// browser (test/e2e/serve/page_check.py) sees.
TEST(Page, ReadsAllThatAnswersHave) {
  for (const char *field : {"delta.content", "delta.reasoning_content"})
    EXPECT_NE(kPage.find(field), std::string_view::npos) << field;
}
