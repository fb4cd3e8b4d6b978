#include "tools/effc-serve/api/Sampling.h"

#include <algorithm>
#include <charconv>
#include <random>

using namespace effc;
using namespace effc::serve;
using Json = nlohmann::ordered_json;

// The most that a double can say within 64 bits.
static constexpr double kMostSeed = 9223372036854774784.0;
static constexpr double kMostCount = 2147483647;
static constexpr double kMostGrammarBytes = 1048576; // that the library takes

static constexpr Field kFields[] = {
    {"model", FieldType::Text, 0, 512},
    {"temperature", FieldType::Number, 0, 2},
    {"top_p", FieldType::Number, 0, 1},
    {"top_k", FieldType::Integer, -1, kMostCount},
    {"min_p", FieldType::Number, 0, 1},
    {"typical_p", FieldType::Number, 0, 1},
    {"repetition_penalty", FieldType::Number, 0.01, 100},
    {"presence_penalty", FieldType::Number, -2, 2},
    {"frequency_penalty", FieldType::Number, -2, 2},
    {"logit_bias", FieldType::Mapping, 0, 1024},
    {"seed", FieldType::Integer, -kMostSeed, kMostSeed},
    {"n", FieldType::Integer, 1, 128},
    {"stop", FieldType::Any},
    {"stop_token_ids", FieldType::List, 0, 16},
    {"min_tokens", FieldType::Integer, 0, kMostCount},
    {"ignore_eos", FieldType::Boolean},
    {"stream", FieldType::Boolean},
    {"stream_options", FieldType::Mapping, 0, 16},
    {"return_tokens_as_token_ids", FieldType::Boolean},
    {"response_format", FieldType::Mapping},
    {"structured_outputs", FieldType::Mapping, 0, 16},
    {"guided_json", FieldType::Any},
    {"guided_regex", FieldType::Text, 0, kMostGrammarBytes},
    {"guided_choice", FieldType::List, 1, 1024},
    {"guided_grammar", FieldType::Text, 0, kMostGrammarBytes},
    {"json_schema", FieldType::Any},
    {"grammar", FieldType::Text, 0, kMostGrammarBytes},
    {"speculative.n_max", FieldType::Integer, 0, EFFC_DRAFT_MOST},
    {"cache_salt", FieldType::Text, 0, 512},
    {"priority", FieldType::Integer, kMiddleClass - EFFC_PRIORITY_MOST,
     kMiddleClass},
    {"deadline_ms", FieldType::Integer, 1, 86400000},
};

static constexpr RefusedField kRefused[] = {
    {"use_beam_search", "there is no search over beams"},
    {"length_penalty", "there is no search over beams"},
    {"allowed_token_ids", "tokens are left out by 'logit_bias'"},
    {"bad_words", "tokens are left out by 'logit_bias'"},
    {"grammar_lazy", "a grammar is followed from the first token on"},
    {"grammar_triggers", "a grammar is followed from the first token on"},
    {"structural_tag", "a grammar is followed from the first token on"},
    {"guided_whitespace_pattern", "white space of a schema's texts is at most "
                                  "one space, or a new line with some"},
    {"speculative.n_min", "a draft is as long as drafts have been right"},
    {"speculative.p_min",
     "a draft is taken as far as its tokens are those that are drawn"},
    {"t_max_predict_ms", "'deadline_ms' counts from the request on"},
    {"mirostat", "'top_p', 'min_p' and 'typical_p' leave tokens out"},
    {"xtc_probability", "'top_p', 'min_p' and 'typical_p' leave tokens out"},
    {"top_n_sigma", "'top_p', 'min_p' and 'typical_p' leave tokens out"},
    {"dynatemp_range", "'temperature' is one number"},
    {"dry_multiplier", "'repetition_penalty', 'presence_penalty' and "
                       "'frequency_penalty' weigh what was said"},
    {"truncate_prompt_tokens", "a prompt is taken whole"},
    {"logits_processors", "no code is taken from requests"},
    {"prompt_logprobs", "'echo' with 'logprobs' of /v1/completions gives them"},
    {"logprob_token_ids", "'logprobs' names the likeliest"},
};

std::span<const Field> effc::serve::samplingFields() { return kFields; }
std::span<const RefusedField> effc::serve::refusedSampling() {
  return kRefused;
}

std::vector<Field> effc::serve::withSampling(std::span<const Field> own) {
  std::vector<Field> rows(own.begin(), own.end());
  rows.insert(rows.end(), std::begin(kFields), std::end(kFields));
  return rows;
}

std::vector<RefusedField>
effc::serve::withRefused(std::span<const RefusedField> own) {
  std::vector<RefusedField> rows(own.begin(), own.end());
  rows.insert(rows.end(), std::begin(kRefused), std::end(kRefused));
  return rows;
}

std::vector<int32_t> effc::serve::tokensOf(const Json &list,
                                           const ServedModel &model,
                                           const char *field) {
  uint32_t vocabulary = model.model().vocabularySize();
  std::vector<int32_t> tokens;
  tokens.reserve(list.size());
  for (const Json &each : list) {
    if (!each.is_number_integer() || each.get<double>() < 0 ||
        each.get<double>() >= vocabulary)
      throw ApiError::invalid(field, "expects tokens from 0 to " +
                                         std::to_string(vocabulary - 1) +
                                         ", but got " + shown(each));
    tokens.push_back(each.get<int32_t>());
  }
  return tokens;
}

static void readStops(const Json &stop, const ServedModel &model,
                      GenerationPlan &plan) {
  constexpr size_t kMostStops = 16, kMostBytes = 1024;
  Json list = stop.is_string() ? Json::array({stop}) : stop;
  if (!list.is_array() || list.size() > kMostStops)
    throw ApiError::invalid("stop", "expects a text or a list of up to " +
                                        std::to_string(kMostStops) +
                                        ", but got " + shown(stop));
  for (const Json &each : list) {
    if (!each.is_string())
      throw ApiError::invalid("stop", "expects texts, but got " + shown(each));
    std::string text = each.get<std::string>();
    if (text.empty() || text.size() > kMostBytes ||
        text.find('\0') != std::string::npos)
      throw ApiError::invalid(
          "stop", "expects texts of 1 to " + std::to_string(kMostBytes) +
                      " bytes without U+0000, but got " + shown(each));
    // A special token gives no text, and ends as a token.
    auto tokens = model.model().tokenize(text, EFFC_TOKENIZE_NO_SPECIAL);
    bool isSpecial =
        tokens.size() == 1 &&
        model.model().detokenize(tokens, EFFC_DETOKENIZE_SKIP_SPECIAL).empty();
    if (isSpecial)
      plan.stopTokens.push_back(tokens[0]);
    else
      plan.stops.push_back(text);
  }
}

static void readBiases(const Json &biases, const ServedModel &model,
                       GenerationPlan &plan) {
  uint32_t vocabulary = model.model().vocabularySize();
  for (const auto &[key, value] : biases.items()) {
    uint32_t token = 0;
    auto [end, failure] =
        std::from_chars(key.data(), key.data() + key.size(), token);
    if (failure != std::errc() || end != key.data() + key.size() ||
        token >= vocabulary)
      throw ApiError::invalid("logit_bias", "expects tokens from 0 to " +
                                                std::to_string(vocabulary - 1) +
                                                ", but got " + shown(key));
    if (!value.is_number() || !(std::abs(value.get<double>()) <= 100))
      throw ApiError::invalid("logit_bias",
                              "expects numbers from -100 to 100, but got " +
                                  shown(value));
    plan.biases.push_back({static_cast<int32_t>(token), value.get<float>()});
  }
}

/// How a request stands to others, and what it may guess.
static void readScheduling(const Fields &fields, const ServedModel &model,
                           GenerationPlan &plan) {
  // The smaller goes first, as vLLM has it.
  plan.priority =
      static_cast<uint32_t>(kMiddleClass - fields.integer("priority", 0));
  plan.salt = fields.text("cache_salt");
  if (plan.salt.find('\0') != std::string::npos)
    throw ApiError::invalid("cache_salt", "expects a text without U+0000");
  plan.deadline = std::chrono::milliseconds(fields.integer("deadline_ms", 0));
  plan.draftTokens = static_cast<uint32_t>(
      fields.integer("speculative.n_max", model.draftTokens()));
  if (plan.draftTokens > 0 && !model.whyNoDrafts().empty())
    throw ApiError(
        400, "'speculative.n_max' is not possible: " + model.whyNoDrafts(),
        "speculative.n_max", "unsupported_parameter");
}

/// One that JSON readers hold exactly, which keep numbers as doubles.
static uint64_t drawSeed() {
  std::random_device random;
  return (uint64_t(random()) << 21 ^ random()) & ((uint64_t(1) << 53) - 1);
}

void effc::serve::readSampling(const Fields &fields, const ServedModel &model,
                               GenerationPlan &plan) {
  effc_sampler_options_t &options = plan.sampling;
  options = effc_sampler_options_for_model(model.model().get());
  auto set = [&](const char *name, float &value) {
    value = static_cast<float>(fields.number(name, value));
  };
  set("temperature", options.temperature);
  set("top_p", options.top_p);
  set("min_p", options.min_p);
  set("typical_p", options.typical_p);
  set("repetition_penalty", options.repeat_penalty);
  set("presence_penalty", options.presence_penalty);
  set("frequency_penalty", options.frequency_penalty);
  options.top_k = static_cast<uint32_t>(
      std::max<int64_t>(fields.integer("top_k", options.top_k), 0));
  options.min_tokens = static_cast<uint64_t>(fields.integer("min_tokens", 0));
  options.seed = fields.has("seed")
                     ? static_cast<uint64_t>(fields.integer("seed", 0))
                     : drawSeed();
  plan.choices = static_cast<uint32_t>(fields.integer("n", 1));
  plan.ignoreEnd = fields.flag("ignore_eos");
  readScheduling(fields, model, plan);
  if (const Json *biases = fields.find("logit_bias"))
    readBiases(*biases, model, plan);
  if (const Json *tokens = fields.find("stop_token_ids"))
    plan.stopTokens = tokensOf(*tokens, model, "stop_token_ids");
  for (const std::string &stop : model.model().stops())
    plan.stops.push_back(stop);
  if (const Json *stop = fields.find("stop"))
    readStops(*stop, model, plan);
}

bool effc::serve::includesUsage(const Fields &fields) {
  const Json *options = fields.find("stream_options");
  Json wanted = options ? options->value("include_usage", Json()) : Json();
  if (!wanted.is_null() && !wanted.is_boolean())
    throw ApiError::invalid("stream_options",
                            "expects true or false for 'include_usage', but "
                            "got " +
                                shown(wanted));
  return wanted == Json(true);
}

uint64_t effc::serve::lengthFor(const ServedModel &model, size_t promptTokens,
                                int64_t asked, uint64_t otherwise,
                                const char *field, const char *promptField) {
  uint64_t context = model.context();
  if (promptTokens == 0)
    throw ApiError::invalid(promptField, "has no tokens");
  if (asked > static_cast<int64_t>(model.mostNewTokens()))
    throw ApiError::invalid(field, "expects up to " +
                                       std::to_string(model.mostNewTokens()) +
                                       " tokens, which the server allows, but "
                                       "got " +
                                       std::to_string(asked));
  if (context == 0)
    return asked >= 0 ? static_cast<uint64_t>(asked) : otherwise;
  // The context holds the prompt and all new tokens but the last.
  uint64_t least = asked > 0 ? static_cast<uint64_t>(asked) : 0;
  if (promptTokens > context || least > context - promptTokens)
    throw ApiError(400,
                   "the model's context is " + std::to_string(context) +
                       " tokens, but " + std::to_string(promptTokens) +
                       " of the prompt and " + std::to_string(least) +
                       " new ones are asked for",
                   promptField, "context_length_exceeded");
  if (asked >= 0)
    return static_cast<uint64_t>(asked);
  uint64_t left = context - promptTokens;
  return std::max<uint64_t>(std::min(otherwise, left), 1);
}
