// Keywords of schemas, each by texts that fit and that do not, and what is refused
// with its place.
#include "runtime/src/grammar/SchemaReader.h"
#include "runtime/src/chat/jinja/Json.h"
#include "test/unit/runtime/grammar/PlainReader.h"

#include <fstream>
#include <gtest/gtest.h>

using namespace effc::rt;
using namespace effc::rt::grammar;
using namespace effc::test;

namespace {
struct Meaning {
  const char *schema;
  std::vector<std::string> fit, not_;
};

void check(std::initializer_list<Meaning> meanings) {
  for (const auto &[schema, fit, others] : meanings) {
    auto rules = readSchema(schema);
    ASSERT_TRUE(rules) << schema << ": " << rules.error().message;
    for (const std::string &text : fit)
      EXPECT_TRUE(plainFit(*rules, text).isWhole) << schema << ": " << text;
    for (const std::string &text : others)
      EXPECT_FALSE(plainFit(*rules, text).isWhole) << schema << ": " << text;
  }
}

void expectRefusal(const char *schema, effc_status_code_t code,
                   const char *message) {
  auto rules = readSchema(schema);
  ASSERT_FALSE(rules) << schema;
  EXPECT_EQ(rules.error().code, code) << schema;
  EXPECT_NE(rules.error().message.find(message), std::string::npos)
      << schema << ": " << rules.error().message;
}
} // namespace

TEST(SchemaReader, ReadsPlainTypes) {
  check({{R"({"type": "string"})", {R"("a")"}, {"a", "1"}},
         {R"({"type": "integer"})", {"-12", "0"}, {"1.0", "01", "1e2"}},
         {R"({"type": "number"})", {"-1.5e3", "0", "12"}, {"1.", ".5", "+1"}},
         {R"({"type": "boolean"})", {"true", "false"}, {"null"}},
         {R"({"type": ["null", "boolean"]})", {"null", "true"}, {"1"}},
         {R"(true)", {"1", "[]", R"({"a": [null]})"}, {"[", "tru"}},
         {R"({})", {"[1, 2]", "\"\""}, {""}},
         {R"({"type": "object"})", {"{}", R"({"a":1, "b":{}})"}, {"[]"}},
         {R"({"title": "T", "default": 3})", {"1"}, {}}});
}

TEST(SchemaReader, ReadsBoundsOfTextsAndIntegers) {
  check(
      {{R"({"type": "string", "minLength": 1, "maxLength": 2})",
        {R"("a")", "\"\xC3\xA9\xC3\xA9\"", R"("\n\"")", R"("\ud83d\ude00b")"},
        {R"("")", R"("abc")"}},
       {R"({"maxLength": 1})", {R"("")", R"("a")"}, {R"("ab")", "1"}},
       {R"({"type": "integer", "minimum": -3, "maximum": 12})",
        {"-3", "0", "12"},
        {"-4", "13"}},
       {R"({"type": "integer", "exclusiveMinimum": 0.5, "exclusiveMaximum": 3})",
        {"1", "2"},
        {"0", "3"}},
       {R"({"minimum": 10})", {"10", "9007199254740991"}, {"9", "-1"}},
       {R"({"type": "string", "pattern": "^[a-f]+\"$"})",
        {R"("abc\"")"},
        {R"("abc")", R"("g\"")"}},
       {R"({"type": "string", "format": "date"})",
        {R"("2026-03-09")"},
        {R"("2026-02-30")"}}});
}

TEST(SchemaReader, ReadsConstants) {
  check({{R"({"enum": ["a", 1, null, [1], {"b": 2}]})",
          {R"("a")", "1", "null", "[1]", R"({"b": 2})"},
          {"2", "[2]"}},
         {R"({"const": "x\n"})", {R"("x\n")"}, {R"("x")"}},
         {R"({"enum": ["a", 1, 2.0, 2.5], "type": "integer"})",
          {"1", "2"},
          {R"("a")", "2.5"}},
         {R"({"enum": [1, 2], "const": 2})", {"2"}, {"1"}}});
}

TEST(SchemaReader, ReadsObjects) {
  check(
      {{R"({"type": "object", "properties": {"a": {"type": "integer"},
            "b": {"type": "boolean"}, "c": {"type": "null"}}, "required": ["b"]})",
        {R"({"b":true})", R"({"a": 1, "b": false})", R"({"b":true,"c":null})",
         "{\n  \"a\": 1,\n  \"b\": true,\n  \"c\": null\n}"},
        {R"({})", R"({"a":1})", R"({"b":true,"a":1})", R"({"b":true,"d":1})",
         R"({"b":true,})", R"({,"b":true})"}},
       {R"({"properties": {"a": {"type": "integer"}}})",
        {"{}", R"({"a":1})"},
        {R"({"b":1})"}},
       {R"({"properties": {"ab": {"type": "integer"}, "\u00e9": {}},
            "additionalProperties": {"type": "null"}})",
        {"{}", R"({"ab":1,"x":null,"a":null})", R"({"abc":null})",
         R"({"":null})", "{\"\xC3\xA9\":[],\"\xC3\xA8\":null}"},
        {R"({"ab":null})", R"({"x":1})", R"({"x":null,"ab":1})",
         R"({"\u0061b":null})"}},
       {R"({"additionalProperties": {"type": "integer"}})",
        {"{}", R"({"x":1,"y":2})"},
        {R"({"x":"y"})"}},
       {R"({"type": "object", "additionalProperties": false})",
        {"{}", "{ }"},
        {R"({"a":1})"}},
       {R"({"required": ["z", "y"], "properties": {"x": false, "y": {"const": 1}}})",
        {R"({"y":1,"z":[]})"},
        {R"({"z":1})", R"({"x":1,"y":1,"z":2})"}}});
}

TEST(SchemaReader, ReadsArrays) {
  check(
      {{R"({"items": {"type": "integer"}, "minItems": 2, "maxItems": 3})",
        {"[1,2]", "[1, 2, 3]", "[\n\t1,\n\t2\n]"},
        {"[]", "[1]", "[1,2,3,4]", "[1,]"}},
       {R"({"type": "array", "maxItems": 0})", {"[]", "[ ]"}, {"[1]"}},
       {R"({"type": "array", "minItems": 1})", {"[[]]", "[1,2]"}, {"[]"}},
       {R"({"prefixItems": [{"type": "integer"}, {"type": "null"}]})",
        {"[]", "[1]", "[1,null]"},
        {"[null]", "[1,null,1]"}},
       {R"({"prefixItems": [{"type": "integer"}], "minItems": 2})",
        {"[1,[]]", "[1,2,3]"},
        {"[1]"}},
       {R"({"prefixItems": [{"const": 1}, {"const": 2}], "items": {"const": 3},
              "minItems": 1, "maxItems": 4})",
        {"[1]", "[1,2]", "[1,2,3,3]"},
        {"[]", "[1,3]", "[1,2,3,3,3]"}},
       {R"({"items": false})", {"[]"}, {"[1]"}}});
}

TEST(SchemaReader, ReadsChoicesAndReferences) {
  check({{R"({"anyOf": [{"type": "integer"}, {"type": "null"}]})",
          {"1", "null"},
          {"true"}},
         {R"({"oneOf": [{"const": 1}, {"const": 2}], "type": "integer"})",
          {"1", "2"},
          {"3"}},
         {R"({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"const": 7}}})",
          {"7"},
          {"8"}},
         // A tree.
         {R"({"type": "object", "properties": {"v": {"type": "integer"},
            "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
            "required": ["v", "next"]})",
          {R"({"v":1,"next":null})", R"({"v":1,"next":{"v":2,"next":null}})"},
          {R"({"v":1,"next":{}})"}},
         {R"({"allOf": [{"$ref": "#/definitions/a"},
            {"properties": {"y": {"type": "null"}}, "required": ["y"]}],
            "definitions": {"a": {"properties": {"x": {"type": "integer"},
            "y": {"type": ["null", "string"]}}, "required": ["x"]}}})",
          {R"({"x":1,"y":null})"},
          {R"({"x":1})", R"({"x":1,"y":"a"})"}},
         {R"({"type": "object", "required": ["k"], "anyOf": [
            {"properties": {"k": {"const": "a"}, "n": {"type": "integer"}}},
            {"properties": {"k": {"const": "b"}}}]})",
          {R"({"k":"a","n":1})", R"({"k":"b"})"},
          {R"({"k":"b","n":1})", R"({"n":1})"}},
         {R"({"allOf": [{"type": "integer", "minimum": 2}, {"minimum": 4,
            "type": "number"}, {"maximum": 5}]})",
          {"4", "5"},
          {"3", "6"}}});
}

TEST(SchemaReader, RefusesWhatItCannotPromise) {
  const std::pair<const char *, const char *> unsupported[] = {
      {R"({"properties": {"a/b": {"multipleOf": 3}}})",
       "at '/properties/a/b': the keyword 'multipleOf'"},
      {R"({"not": {}})", "the schema at '/': the keyword 'not'"},
      {R"({"items": {"uniqueItems": true}})", "at '/items': the keyword"},
      {R"({"patternProperties": {}})", "'patternProperties'"},
      {R"({"format": "email"})", "the 'format' 'email'"},
      {R"({"type": "number", "minimum": 0})", "of integers alone"},
      {R"({"pattern": "^a$", "maxLength": 2})", "only one is understood"},
      {R"s({"pattern": "(?=a)"})s", "a group of another kind"},
      {R"({"enum": ["a"], "minLength": 2})", "'minLength' beside 'enum'"},
      {R"({"$ref": "http://x/y"})", "expected a '$ref' within"},
      {R"({"items": [{}]})", "call it 'prefixItems'"},
      {R"({"maxItems": 1e9})", "'maxItems' is above 65536"},
      {R"({"minimum": 1e17})", "beyond 2^53"},
      {R"({"allOf": [{"pattern": "a"}, {"pattern": "b"}]})",
       "two values of 'pattern'"},
      {R"({"allOf": [{"additionalProperties": false},
           {"properties": {"a": {}}}]})",
       "the property 'a' of another part"},
      {R"({"type": "object", "$ref": "#"})", "in each other"},
      {R"({"type": "object", "anyOf": [{"$ref": "#"}]})", "in each other"}};
  for (auto [schema, message] : unsupported)
    expectRefusal(schema, EFFC_UNSUPPORTED, message);
  const std::pair<const char *, const char *> invalid[] = {
      {R"({"type": "text"})", "the type 'text'"},
      {R"([])", "expected a mapping as schema, but found a list"},
      {R"({"type": )", "'schema' is no JSON"},
      {R"({"properties": {"a": 1}})", "at '/properties/a': expected a mapping"},
      {R"(false)", "nothing fits 'false'"},
      {R"({"$ref": "#/x"})", "which the schema does not have"},
      {R"({"minLength": -1})", "expected a whole number"},
      {R"({"minItems": 2, "maxItems": 1})", "'maxItems' is below 'minItems'"},
      {R"({"minimum": 2, "maximum": 1})", "no integer lies"},
      {R"({"enum": []})", "no value of 'enum'"},
      {R"({"enum": ["a"], "type": "integer"})", "no value of 'enum'"},
      {R"({"anyOf": []})", "a list that is not empty"},
      {R"({"$ref": "#"})", "no text of an end"},
      {R"({"anyOf": [{"$ref": "#"}, {"type": "null"}]})", "left recursion"},
      {R"({"allOf": [{"type": "integer"}, {"type": "string"}]})",
       "no 'type' is left"},
      {R"({"properties": {"a": {"$ref": "#"}}, "required": ["a"]})",
       "no text of an end"},
      {R"({"required": ["a"], "additionalProperties": false})",
       "'required' has 'a'"}};
  for (auto [schema, message] : invalid)
    expectRefusal(schema, EFFC_INVALID_ARGUMENT, message);
}

TEST(SchemaReader, IsDoneWithBombsInLittleTime) {
  // Each definition joins the next one twice.
  std::string text = R"({"$ref": "#/$defs/d0", "$defs": {)";
  for (int i = 0; i < 60; ++i) {
    std::string next = "{\"$ref\": \"#/$defs/d" + std::to_string(i + 1) + "\"}";
    text += "\"d" + std::to_string(i) + "\": {\"allOf\": [" + next + "," +
            next + "]},";
  }
  text += R"("d60": {}}})";
  expectRefusal(text.c_str(), EFFC_UNSUPPORTED, "in each other");
}

// test/e2e/grammar_schemas.py has drawn the schemas; texts were written under their
// masks, and jsonschema has found that they fit.
TEST(SchemaReader, ReadsRecordedSchemas) {
  std::ifstream file(EFFC_RECORDED_SCHEMAS);
  size_t count = 0;
  for (std::string schema, quoted;
       std::getline(file, schema) && std::getline(file, quoted); ++count) {
    auto rules = readSchema(schema);
    ASSERT_TRUE(rules) << schema << ": " << rules.error().message;
    auto text = jinja::readJson("text", quoted);
    ASSERT_TRUE(text);
    EXPECT_TRUE(plainFit(*rules, text->text().bytes()).isWhole)
        << schema << ": " << text->text().bytes();
  }
  EXPECT_GE(count, 30u);
}

TEST(SchemaReader, HasAnyObject) {
  Rules rules = jsonObject();
  EXPECT_FALSE(checkRules(rules));
  for (const char *text : {"{}", R"({"a": [1, {"b": null}], "c": "d"})"})
    EXPECT_TRUE(plainFit(rules, text).isWhole) << text;
  for (const char *text : {"[]", "1", "{", R"({"a"})", R"({1: 2})"})
    EXPECT_FALSE(plainFit(rules, text).isWhole) << text;
}
