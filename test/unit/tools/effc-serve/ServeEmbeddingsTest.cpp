// Embeddings of a toy whose rows are said to be hidden states: they follow from the
// toy's reference.

#include "test/e2e/Process.h"
#include "test/unit/tools/effc-serve/ServedToy.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace effc::test;
using Json = nlohmann::json;
using Tokens = std::vector<int32_t>;

static ToyOptions withHidden() {
  ToyOptions options = ServedToy::withChat();
  options.changeProgram = [](effc::artifact::ProgramT &program) {
    program.hidden_width = kToyVocabulary;
  };
  return options;
}

/// The rows of a text's tokens, or of its last, summed, over `divisor`; 0: to length 1.
static std::vector<float> expected(const Tokens &text, bool lastAlone,
                                   double divisor = 0) {
  std::vector<float> rows = ToyReference().feed(text);
  std::vector<double> sum(kToyVocabulary);
  for (size_t i = lastAlone ? rows.size() - kToyVocabulary : 0; i < rows.size();
       ++i)
    sum[i % kToyVocabulary] += rows[i];
  double squares = 0;
  for (double value : sum)
    squares += value * value;
  std::vector<float> vector;
  for (double value : sum)
    vector.push_back(static_cast<float>(
        value / (divisor > 0 ? divisor : std::sqrt(squares))));
  return vector;
}

static std::vector<float> fromBase64(const std::string &text) {
  static const std::string kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  for (size_t i = 0; i + 3 < text.size(); i += 4) {
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k)
      group = group << 6 |
              (text[i + k] == '=' ? 0 : uint32_t(kDigits.find(text[i + k])));
    for (int shift : {16, 8, 0})
      bytes += static_cast<char>(group >> shift);
  }
  std::vector<float> vector(bytes.size() / sizeof(float));
  std::memcpy(vector.data(), bytes.data(), vector.size() * sizeof(float));
  return vector;
}

TEST(ServeEmbeddings, AreMadeOfHiddenStates) {
  ServedToy toy({"--slots", "2"}, withHidden());
  std::vector<Tokens> texts = {{1, 2, 3}, {7}, {4, 5, 6, 7, 8}};
  for (const char *pooling : {"last", "mean"}) {
    Json asked = {{"input", texts}, {"pooling", pooling}};
    HttpAnswer answer = toy.post("/v1/embeddings", asked);
    ASSERT_EQ(answer.status, 200) << answer.body;
    Json json = answer.json();
    EXPECT_EQ(json["usage"], Json({{"prompt_tokens", 9}, {"total_tokens", 9}}));
    ASSERT_EQ(json["data"].size(), 3u);
    bool isLast = std::string(pooling) == "last";
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(json["data"][i]["index"], i);
      EXPECT_EQ(json["data"][i]["embedding"].get<std::vector<float>>(),
                expected(texts[i], isLast));
    }
  }
  // Longer than a piece, as it is, and packed.
  Tokens text;
  for (int i = 0; i < 700; ++i)
    text.push_back(i % 250);
  Json asked = {{"input", text},
                {"pooling", "mean"},
                {"normalize", false},
                {"encoding_format", "base64"}};
  Json data = toy.post("/v1/embeddings", asked).json()["data"];
  ASSERT_EQ(data.size(), 1u);
  EXPECT_EQ(fromBase64(data[0]["embedding"]),
            expected(text, /*lastAlone=*/false, 700));
  EXPECT_EQ(toy.get("/v1/models").json()["data"][0]["meta"]["hidden_width"],
            kToyVocabulary);
}

// Inner values are rows as well, but of many things. A server that takes the file
// anyway is ended after ten seconds.
TEST(ServeEmbeddings, AreNotMadeOfInnerValues) {
  ToyOptions options = withHidden();
  options.changeProgram = [](effc::artifact::ProgramT &program) {
    program.hidden_width = kToyVocabulary;
    program.taps.push_back(std::make_unique<effc::artifact::TapT>());
    program.taps.back()->name = "layers.0.mixer";
    program.taps.back()->shape = {kToyVocabulary};
  };
  TemporaryFile file(makeToyArtifact(options));
  Finished done = runProgram({"/usr/bin/timeout", "10", EFFC_PROGRAM, "serve",
                              file.path(), "--port", "0", "-t", "1"});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("'" + file.path() +
                          "' was compiled with --tap or --product-inputs: it "
                          "gives inner values, "
                          "which are no model's vectors (effc compile --hidden "
                          "makes a file for /v1/embeddings)"),
            std::string::npos)
      << done.err;
}

TEST(ServeEmbeddings, AreRefusedByName) {
  ServedToy toy({}, withHidden());
  struct {
    Json body;
    const char *param;
  } wrong[] = {
      {{{"input", "x"}, {"dimensions", 64}}, "dimensions"},
      {{{"input", "x"}, {"encoding_format", "int8"}}, "encoding_format"},
      {{{"input", "x"}, {"pooling", "max"}}, "pooling"},
      {{{"input", Json::array()}}, "input"},
      {{{"input", {1, 100000}}}, "input"},
      {Json::object(), "input"}};
  for (const auto &each : wrong) {
    HttpAnswer answer = toy.post("/v1/embeddings", each.body);
    EXPECT_EQ(answer.status, 400) << answer.body;
    EXPECT_EQ(answer.json()["error"]["param"], each.param);
  }
  // Nothing can be drawn from hidden states.
  for (const char *path : {"/v1/completions", "/v1/sessions"}) {
    HttpAnswer answer = toy.post(path, {{"prompt", "x"}});
    EXPECT_EQ(answer.status, 400) << answer.body;
    EXPECT_EQ(answer.json()["error"]["code"], "no_generation");
  }
  EXPECT_EQ(toy.get("/metrics").status, 200);
  // And a model that generates has none.
  ServedToy other;
  HttpAnswer answer = other.post("/v1/embeddings", {{"input", "x"}});
  EXPECT_EQ(answer.json()["error"]["code"], "no_embeddings");
}
