// /v1/embeddings.

#include "tools/effc-serve/api/Requests.h"
#include "tools/effc-serve/api/Sampling.h"
#include "tools/effc-serve/wire/JsonText.h"

#include <cstring>

using namespace effc;
using namespace effc::serve;
using Json = nlohmann::ordered_json;

static constexpr size_t kMostInputs = 2048; // as OpenAI's API has it

static constexpr Field kEmbeddings[] = {
    {"model", FieldType::Text, 0, 512},
    {"input", FieldType::Any},
    {"encoding_format", FieldType::Text, 0, 16},
    {"pooling", FieldType::Text, 0, 16},
    {"normalize", FieldType::Boolean},
    {"add_special_tokens", FieldType::Boolean},
    {"user", FieldType::Text, 0, 512},
};

static constexpr RefusedField kRefused[] = {
    {"dimensions", "a vector has as many numbers as the model's hidden state"},
};

const BodyTable &effc::serve::embeddingTable() {
  static const BodyTable table = {"/v1/embeddings", kEmbeddings, kRefused};
  return table;
}

using Texts = std::vector<std::vector<int32_t>>;

static void addInput(const Json &input, const Fields &fields,
                     const ServedModel &model, Texts &texts) {
  texts.push_back(
      input.is_string()
          ? model.model().tokenize(input.get_ref<const std::string &>(),
                                   fields.flag("add_special_tokens", true)
                                       ? 0
                                       : EFFC_TOKENIZE_NO_SPECIAL)
          : tokensOf(input, model, "input"));
  size_t tokens = texts.back().size();
  if (tokens == 0)
    throw ApiError::invalid("input", "has a text without a token");
  if (uint64_t most = model.context(); most != 0 && tokens > most)
    throw ApiError(400,
                   "'input' has a text of " + std::to_string(tokens) +
                       " tokens, but the model's context is " +
                       std::to_string(most),
                   "input", "context_length_exceeded");
}

/// A text, tokens, or a list of either.
static Texts inputsOf(const Fields &fields, const ServedModel &model) {
  const Json *input = fields.find("input");
  if (!input)
    throw ApiError::invalid("input", "is required");
  Texts texts;
  bool isOne = input->is_string() || (input->is_array() && !input->empty() &&
                                      input->front().is_number());
  if (isOne) {
    addInput(*input, fields, model, texts);
    return texts;
  }
  if (!input->is_array() || input->empty() || input->size() > kMostInputs)
    throw ApiError::invalid("input",
                            "expects a text, tokens, or a list of 1 to " +
                                std::to_string(kMostInputs) +
                                " of these, but got " + shown(*input));
  for (const Json &each : *input) {
    if (!each.is_string() && !each.is_array())
      throw ApiError::invalid("input", "expects a list of texts or of lists of "
                                       "tokens, but has " +
                                           shown(each));
    addInput(each, fields, model, texts);
  }
  return texts;
}

/// What `name` chooses; the first where it is left out.
static bool isSecond(const Fields &fields, const char *name, const char *first,
                     const char *second) {
  std::string chosen = fields.text(name, first);
  if (chosen != first && chosen != second)
    throw ApiError::invalid(name, "expects \"" + std::string(first) +
                                      "\" or \"" + second + "\", but got " +
                                      shown(Json(chosen)));
  return chosen == second;
}

static void appendBase64(std::string &out, const std::vector<float> &vector) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes(vector.size() * sizeof(float));
  std::memcpy(bytes.data(), vector.data(), bytes.size()); // little-endian
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t left = bytes.size() - i;
    unsigned group = unsigned(bytes[i]) << 16 |
                     (left > 1 ? unsigned(bytes[i + 1]) << 8 : 0) |
                     (left > 2 ? unsigned(bytes[i + 2]) : 0);
    out += kDigits[group >> 18];
    out += kDigits[group >> 12 & 63];
    out += left > 1 ? kDigits[group >> 6 & 63] : '=';
    out += left > 2 ? kDigits[group & 63] : '=';
  }
}

static void appendVector(std::string &out, const std::vector<float> &vector,
                         bool asBase64) {
  if (asBase64) {
    out += '"';
    appendBase64(out, vector);
    out += '"';
    return;
  }
  const char *comma = "[";
  for (float value : vector) {
    out += comma;
    appendNumber(out, value);
    comma = ",";
  }
  out += ']';
}

std::string effc::serve::answerEmbeddings(const Json &body,
                                          ServedModel &model) {
  const BodyTable &table = embeddingTable();
  Fields fields(body, table.known, table.refused);
  if (!model.embedder())
    throw ApiError(400,
                   "the model '" + model.name() +
                       "' gives logits, and no hidden states to make "
                       "embeddings of: effc compile --hidden makes a file that "
                       "does",
                   "model", "no_embeddings");
  bool asBase64 = isSecond(fields, "encoding_format", "float", "base64");
  bool isMean = isSecond(fields, "pooling", "last", "mean");
  Texts texts = inputsOf(fields, model);
  auto vectors =
      model.embedder()->embed(texts, isMean ? Pooling::Mean : Pooling::Last,
                              fields.flag("normalize", true));
  std::string out = "{\"object\":\"list\",\"data\":[";
  uint64_t tokens = 0;
  for (size_t i = 0; i < vectors.size(); ++i) {
    tokens += texts[i].size();
    out += std::string(i == 0 ? "" : ",") +
           "{\"object\":\"embedding\",\"index\":" + std::to_string(i) +
           ",\"embedding\":";
    appendVector(out, vectors[i], asBase64);
    out += '}';
  }
  out += "],\"model\":";
  appendQuoted(out, model.name());
  std::string count = std::to_string(tokens);
  out += ",\"usage\":{\"prompt_tokens\":" + count +
         ",\"total_tokens\":" + count +
         "},\"effc\":{\"ignored\":" + Json(fields.ignored()).dump() + "}}";
  return out;
}
