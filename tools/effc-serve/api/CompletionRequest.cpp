// The body of /v1/completions.

#include "tools/effc-serve/api/GrammarFields.h"
#include "tools/effc-serve/api/Requests.h"
#include "tools/effc-serve/api/Sampling.h"

using namespace effc;
using namespace effc::serve;
using Json = nlohmann::ordered_json;

static constexpr size_t kMostPrompts = 1024;
static constexpr size_t kMostChoices = 4096;   // of all prompts together
static constexpr uint64_t kDefaultTokens = 16; // as OpenAI's API has it

static constexpr Field kOwn[] = {
    {"prompt", FieldType::Any},
    {"max_tokens", FieldType::Integer, 0, 2147483647},
    {"echo", FieldType::Boolean},
    {"logprobs", FieldType::Integer, 0, 20},
    {"best_of", FieldType::Integer, 1, 128},
    {"add_special_tokens", FieldType::Boolean},
    {"session", FieldType::Text, 1, 64},
    {"effc_marks", FieldType::List, 0, EFFC_MARKS_MOST},
};

static constexpr RefusedField kRefused[] = {
    {"suffix", "nothing is inserted before a text"},
};

const BodyTable &effc::serve::completionTable() {
  static const std::vector<Field> known = withSampling(kOwn);
  static const std::vector<RefusedField> refused = withRefused(kRefused);
  static const BodyTable table = {"/v1/completions", known, refused};
  return table;
}

static std::vector<int32_t> cut(const std::string &text, const Fields &fields,
                                const ServedModel &model) {
  return model.model().tokenize(text, fields.flag("add_special_tokens", true)
                                          ? 0
                                          : EFFC_TOKENIZE_NO_SPECIAL);
}

/// Adds a prompt: a text, or a list of tokens.
static void addPrompt(const Json &prompt, const Fields &fields,
                      const ServedModel &model, Asked &asked) {
  bool isText = prompt.is_string();
  asked.plan.prompts.push_back(
      isText ? cut(prompt.get_ref<const std::string &>(), fields, model)
             : tokensOf(prompt, model, "prompt"));
  if (asked.plan.prompts.back().empty())
    throw ApiError::invalid("prompt", "has a prompt without a token");
  if (!asked.echoes)
    return;
  asked.promptTexts.push_back(
      isText ? prompt.get<std::string>()
      : model.model().hasTokenizer()
          ? model.model().detokenize(asked.plan.prompts.back(),
                                     EFFC_DETOKENIZE_SKIP_SPECIAL)
          : std::string());
}

/// A text, tokens, or a list of either.
static void readPrompts(const Fields &fields, const ServedModel &model,
                        Asked &asked) {
  const Json *prompt = fields.find("prompt");
  if (!prompt)
    throw ApiError::invalid("prompt", "is required");
  bool isOne = prompt->is_string() || (prompt->is_array() && !prompt->empty() &&
                                       prompt->front().is_number());
  if (isOne)
    return addPrompt(*prompt, fields, model, asked);
  if (!prompt->is_array() || prompt->empty() || prompt->size() > kMostPrompts)
    throw ApiError::invalid("prompt",
                            "expects a text, tokens, or a list of 1 to " +
                                std::to_string(kMostPrompts) +
                                " of these, but got " + shown(*prompt));
  for (const Json &each : *prompt) {
    if (each.is_string() != prompt->front().is_string() ||
        each.is_array() != prompt->front().is_array() ||
        !(each.is_string() || each.is_array()))
      throw ApiError::invalid("prompt",
                              "expects a list of texts or of lists of tokens, "
                              "but has " +
                                  shown(each));
    addPrompt(each, fields, model, asked);
  }
}

/// The one prompt is what a session has, and then the body's.
static void readInSession(const Fields &fields, const ServedModel &model,
                          Asked &asked) {
  const NamedSession &session = asked.session->session();
  std::vector<int32_t> all = session.tokens;
  const Json *prompt = fields.find("prompt");
  if (prompt && *prompt != Json("") && *prompt != Json::array()) {
    bool isText = prompt->is_string();
    bool isOne = isText || (prompt->is_array() && !prompt->empty() &&
                            prompt->front().is_number());
    if (!isOne)
      throw ApiError::invalid("prompt", "of a session is one: a text or a list "
                                        "of tokens");
    std::vector<int32_t> more =
        isText ? model.model().tokenize(
                     prompt->get_ref<const std::string &>(),
                     fields.flag("add_special_tokens", all.empty())
                         ? 0
                         : EFFC_TOKENIZE_NO_SPECIAL)
               : tokensOf(*prompt, model, "prompt");
    all.insert(all.end(), more.begin(), more.end());
  }
  if (all.empty())
    throw ApiError::invalid("prompt", "is required: the session has no token");
  if (session.position() < all.size())
    asked.plan.from = session.states;
  asked.plan.keepsStates = true;
  asked.plan.prompts.push_back(std::move(all));
}

/// Where the first prompt's beginnings end which others will share.
static std::vector<uint64_t> marksOf(const Fields &fields,
                                     const GenerationPlan &plan) {
  std::vector<uint64_t> marks;
  const Json *asked = fields.find("effc_marks");
  if (!asked)
    return marks;
  size_t tokens = plan.prompts[0].size();
  for (const Json &mark : *asked) {
    if (!mark.is_number_unsigned() || mark.get<uint64_t>() == 0 ||
        mark.get<uint64_t>() > tokens)
      throw ApiError::invalid(
          "effc_marks",
          "expects numbers of tokens from 1 to " + std::to_string(tokens) +
              ", which the first prompt has, but got " + shown(mark));
    marks.push_back(mark.get<uint64_t>());
  }
  return marks;
}

static void checkInSession(const Fields &fields, const GenerationPlan &plan) {
  if (plan.choices != 1)
    throw ApiError::invalid("n", "is 1 within a session");
  if (fields.flag("echo"))
    throw ApiError::invalid("echo", "is not possible within a session");
  if (fields.integer("max_tokens", 1) == 0)
    throw ApiError::invalid("max_tokens",
                            "is at least 1 within a session: POST "
                            "/v1/sessions/{session}/append adds a text alone");
}

Asked effc::serve::readCompletion(const Json &body, const ServedModel &model,
                                  std::shared_ptr<SessionLease> session) {
  const BodyTable &table = completionTable();
  Fields fields(body, table.known, table.refused);
  Asked asked;
  asked.ignored = fields.ignored();
  asked.echoes = fields.flag("echo");
  readSampling(fields, model, asked.plan);
  asked.plan.grammar = readGrammar(fields, model).grammar;
  if (fields.integer("best_of", asked.plan.choices) != asked.plan.choices)
    throw ApiError::invalid("best_of", "is possible with the value of 'n' "
                                       "alone: no choice is left out");
  asked.session = std::move(session);
  if (asked.session) {
    checkInSession(fields, asked.plan);
    readInSession(fields, model, asked);
  } else {
    readPrompts(fields, model, asked);
  }
  if (asked.plan.choiceCount() > kMostChoices)
    throw ApiError::invalid(
        "n", "asks for " + std::to_string(asked.plan.choiceCount()) +
                 " choices of all prompts, but " +
                 std::to_string(kMostChoices) + " are possible");
  asked.plan.marks = marksOf(fields, asked.plan);
  int64_t tokens = fields.integer("max_tokens", -1);
  uint64_t least = kDefaultTokens;
  for (const auto &prompt : asked.plan.prompts)
    least = std::min(least, lengthFor(model, prompt.size(), tokens,
                                      kDefaultTokens, "max_tokens", "prompt"));
  asked.plan.maxTokens = tokens >= 0 ? static_cast<uint64_t>(tokens) : least;
  if (asked.session)
    asked.session->reserve(
        model.stateBytes(asked.plan.prompts[0].size() + asked.plan.maxTokens));
  if (fields.has("logprobs"))
    asked.logprobs = 1 + static_cast<uint32_t>(fields.integer("logprobs", 0));
  asked.plan.sampling.logprobs = asked.logprobs;
  if (asked.echoes)
    asked.plan.promptLogprobs = asked.logprobs;
  asked.isStream = fields.flag("stream");
  asked.includesUsage = includesUsage(fields);
  asked.shape =
      completionShape(model.texts(), fields.flag("return_tokens_as_token_ids"));
  return asked;
}
