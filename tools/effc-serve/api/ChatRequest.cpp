// The body of /v1/chat/completions.

#include "tools/effc-serve/api/GrammarFields.h"
#include "tools/effc-serve/api/Requests.h"
#include "tools/effc-serve/api/Sampling.h"
#include "tools/effc-serve/api/ToolChoice.h"

#include <algorithm>

using namespace effc;
using namespace effc::serve;
using Json = nlohmann::ordered_json;

static constexpr size_t kMostMessages = 10000;

static constexpr Field kOwn[] = {
    {"messages", FieldType::List, 1, kMostMessages},
    {"max_tokens", FieldType::Integer, 1, 2147483647},
    {"max_completion_tokens", FieldType::Integer, 1, 2147483647},
    {"logprobs", FieldType::Boolean},
    {"top_logprobs", FieldType::Integer, 0, 20},
    {"chat_template_kwargs", FieldType::Mapping, 0, 64},
    {"reasoning_effort", FieldType::Text, 0, 64},
    {"documents", FieldType::List, 0, 1024},
    {"add_generation_prompt", FieldType::Boolean},
    {"continue_final_message", FieldType::Boolean},
    {"tools", FieldType::List, 0, 128},
    {"tool_choice", FieldType::Any},
    {"parallel_tool_calls", FieldType::Boolean},
    {"modalities", FieldType::List, 0, 8},
};

static constexpr RefusedField kRefused[] = {
    {"functions", "calls of tools are not read so: use 'tools'"},
    {"function_call", "calls of tools are not read so: use 'tools'"},
    {"session",
     "a conversation is sent whole, and what was read of it is found "
     "in the cache; 'session' is of /v1/completions"},
    {"audio", "answers are text"},
    {"prediction", "nothing is predicted"},
    {"web_search_options", "nothing is searched"},
};

/// Those that are about the conversation alone.
static constexpr Field kTemplateRows[] = {
    {"model", FieldType::Text, 0, 512},
    {"messages", FieldType::List, 1, kMostMessages},
    {"chat_template_kwargs", FieldType::Mapping, 0, 64},
    {"reasoning_effort", FieldType::Text, 0, 64},
    {"documents", FieldType::List, 0, 1024},
    {"add_generation_prompt", FieldType::Boolean},
    {"continue_final_message", FieldType::Boolean},
    {"tools", FieldType::List, 0, 128},
    {"tool_choice", FieldType::Any},
};

const BodyTable &effc::serve::chatTable() {
  static const std::vector<Field> known = withSampling(kOwn);
  static const std::vector<RefusedField> refused = withRefused(kRefused);
  static const BodyTable table = {"/v1/chat/completions", known, refused};
  return table;
}

const BodyTable &effc::serve::applyTemplateTable() {
  static const BodyTable table = {"/apply-template", kTemplateRows, {}};
  return table;
}

static void checkPart(const Json &part) {
  if (!part.is_object() || !part.contains("type") || !part["type"].is_string())
    throw ApiError::invalid(
        "messages", "expects parts with a 'type', but got " + shown(part));
  if (part["type"] != "text")
    throw ApiError::invalid("messages", "has a part of type " +
                                            shown(part["type"]) +
                                            ", but text alone is read");
  if (!part.contains("text") || !part["text"].is_string())
    throw ApiError::invalid("messages", "has a part of type \"text\" without a "
                                        "text");
}

static void checkMessages(const Json &messages) {
  static const char *const kRoles[] = {"system", "developer", "user",
                                       "assistant", "tool"};
  for (const Json &message : messages) {
    if (!message.is_object())
      throw ApiError::invalid("messages",
                              "expects objects, but got " + shown(message));
    Json role = message.value("role", Json());
    if (!role.is_string() ||
        std::ranges::find(kRoles, role.get<std::string>()) == std::end(kRoles))
      throw ApiError::invalid("messages",
                              "expects the role system, developer, user, "
                              "assistant or tool, but got " +
                                  shown(role));
    Json content = message.value("content", Json());
    if (content.is_array())
      std::ranges::for_each(content, checkPart);
    else if (!content.is_string() &&
             !(content.is_null() && role == "assistant"))
      throw ApiError::invalid("messages", "expects a content that is a text or "
                                          "a list of parts, but got " +
                                              shown(content));
  }
}

/// Templates write arguments from a mapping, and clients send back the text that they
/// got.
static void readArguments(Json &messages) {
  for (Json &message : messages) {
    auto calls = message.find("tool_calls");
    if (calls == message.end() || !calls->is_array())
      continue;
    for (Json &call : *calls) {
      if (!call.is_object() || !call.value("function", Json()).is_object() ||
          !call["function"].value("arguments", Json()).is_string())
        continue;
      Json &arguments = call["function"]["arguments"];
      Json read =
          Json::parse(arguments.get<std::string>(), nullptr, /*throws=*/false);
      if (read.is_object())
        arguments = std::move(read);
    }
  }
}

static constexpr const char *kBreakpoint = "prompt_cache_breakpoint";

/// Where parts say that a beginning ends which others will share; templates do not see
/// that.
static std::vector<PartPlace> takeBreakpoints(Json &messages) {
  std::vector<PartPlace> places;
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!messages[i].contains("content") || !messages[i]["content"].is_array())
      continue;
    Json &parts = messages[i]["content"];
    for (size_t j = 0; j < parts.size(); ++j) {
      auto found = parts[j].find(kBreakpoint);
      if (found == parts[j].end())
        continue;
      if (!found->is_null() && *found != Json(false))
        places.push_back({i, j});
      parts[j].erase(found);
    }
  }
  return places;
}

/// Members of objects within the body that nothing reads, by their places. A template
/// reads what it names.
static void addIgnored(const Fields &fields, const std::string &source,
                       std::vector<std::string> &ignored) {
  using Known = std::initializer_list<std::string_view>;
  auto look = [&](const Json &object, const std::string &place, Known known,
                  bool isRendered) {
    for (const auto &[key, value] : object.items())
      if (std::ranges::find(known, key) == known.end() &&
          !(isRendered && source.find(key) != std::string::npos))
        fields.addIgnored(place + "." + key, ignored);
  };
  const Json &messages = *fields.find("messages");
  for (size_t i = 0; i < messages.size(); ++i) {
    std::string place = "messages[" + std::to_string(i) + "]";
    look(messages[i], place,
         {"role", "content", "name", "tool_calls", "tool_call_id",
          "reasoning_content"},
         true);
    auto content = messages[i].find("content");
    if (content == messages[i].end() || !content->is_array())
      continue;
    for (size_t j = 0; j < content->size(); ++j)
      look((*content)[j], place + ".content[" + std::to_string(j) + "]",
           {"type", "text", kBreakpoint}, true);
  }
}

ChatPrompt effc::serve::renderChat(const Fields &fields,
                                   const ServedModel &model, bool findsMarks) {
  if (!model.chat())
    throw ApiError(400,
                   "the model takes no conversations: " + model.whyNoChat());
  ChatInput input;
  const Json *messages = fields.find("messages");
  if (!messages)
    throw ApiError::invalid("messages", "is required");
  checkMessages(*messages);
  input.messages = *messages;
  readArguments(input.messages);
  input.breakpoints = takeBreakpoints(input.messages);
  input.findsMarks = findsMarks;
  input.continues = fields.flag("continue_final_message");
  input.addsPrompt = fields.flag("add_generation_prompt", !input.continues);
  if (input.continues && input.addsPrompt)
    throw ApiError::invalid("continue_final_message",
                            "is not possible with 'add_generation_prompt'");
  input.arguments = Json::object();
  if (const Json *arguments = fields.find("chat_template_kwargs"))
    input.arguments = *arguments;
  if (fields.has("reasoning_effort"))
    input.arguments["reasoning_effort"] = fields.text("reasoning_effort");
  if (const Json *documents = fields.find("documents"))
    input.documents = *documents;
  if (ToolChoice::read(fields).kind != ToolChoice::Kind::None)
    input.tools = *fields.find("tools");
  return model.chat()->render(std::move(input));
}

static void checkModalities(const Fields &fields) {
  if (const Json *modalities = fields.find("modalities"))
    for (const Json &each : *modalities)
      if (each != Json("text"))
        throw ApiError(400, "'modalities' is possible with \"text\" alone",
                       "modalities", "unsupported_parameter");
}

/// Has answers read for calls of tools, and a call begun where there is to be one.
/// `grammarField` is the one that asks for a grammar, if there is one.
static void readTools(const Fields &fields, const ServedModel &model,
                      const char *grammarField, ChatPrompt &prompt,
                      Asked &asked) {
  ToolChoice choice = ToolChoice::read(fields);
  if (choice.kind == ToolChoice::Kind::None)
    return;
  const Json &tools = *fields.find("tools");
  asked.manner->tools = tools.dump();
  asked.plan.showsSpecial = true;
  const char *form = nullptr;
  try {
    check(effc_chat_tool_format(model.chat()->chatHandle(), &form));
  } catch (const Error &error) {
    throw ApiError(400,
                   std::string("'tools' are not possible: ") + error.what(),
                   "tools", "unsupported_parameter");
  }
  if (choice.kind == ToolChoice::Kind::Auto)
    return;
  if (asked.plan.grammar)
    throw ApiError::invalid(grammarField,
                            "is not possible where 'tool_choice' asks for a "
                            "call");
  ForcedCall call =
      forceCall(choice, tools, fields.flag("parallel_tool_calls", true), model);
  asked.plan.grammar = call.grammar;
  asked.manner->lead = call.lead;
  if (AnswerParts::beginsWithReasoning(model.chat()->chatHandle(),
                                       *asked.manner))
    throw ApiError(400,
                   "'tool_choice' is possible as \"none\" or \"auto\" alone: "
                   "the template has answers begin with reasoning",
                   "tool_choice", "unsupported_parameter");
  if (call.lead.empty())
    return;
  std::vector<int32_t> lead =
      model.model().tokenize(call.lead, EFFC_TOKENIZE_NO_SPECIAL);
  prompt.tokens.insert(prompt.tokens.end(), lead.begin(), lead.end());
}

Asked effc::serve::readChat(const Json &body, const ServedModel &model) {
  const BodyTable &table = chatTable();
  Fields fields(body, table.known, table.refused);
  checkModalities(fields);
  Asked asked;
  asked.ignored = fields.ignored();
  readSampling(fields, model, asked.plan);
  ChatPrompt prompt =
      renderChat(fields, model, /*findsMarks=*/model.hasCache());
  addIgnored(fields, model.templateSource(), asked.ignored);
  AskedGrammar grammar = readGrammar(fields, model);
  asked.plan.grammar = grammar.grammar;
  // What follows a grammar does so from its first token on, and is content.
  asked.manner = {grammar.grammar ? "" : prompt.text, "", ""};
  readTools(fields, model, grammar.field, prompt, asked);
  if (int32_t end = model.chat()->endToken(); end >= 0 && !asked.plan.ignoreEnd)
    asked.plan.stopTokens.push_back(end);
  asked.plan.marks = prompt.marks;
  asked.plan.prompts.push_back(std::move(prompt.tokens));
  const char *field = fields.has("max_completion_tokens")
                          ? "max_completion_tokens"
                          : "max_tokens";
  asked.plan.maxTokens =
      lengthFor(model, asked.plan.prompts[0].size(), fields.integer(field, -1),
                model.mostNewTokens(), field, "messages");
  if (fields.flag("logprobs"))
    asked.logprobs =
        1 + static_cast<uint32_t>(fields.integer("top_logprobs", 0));
  else if (fields.integer("top_logprobs", 0) > 0)
    throw ApiError::invalid("top_logprobs", "needs 'logprobs' to be true");
  asked.plan.sampling.logprobs = asked.logprobs;
  asked.isStream = fields.flag("stream");
  asked.includesUsage = includesUsage(fields);
  asked.shape =
      chatShape(model.texts(), fields.flag("return_tokens_as_token_ids"));
  return asked;
}

std::string effc::serve::answerApplyTemplate(const Json &body,
                                             const ServedModel &model) {
  const BodyTable &table = applyTemplateTable();
  ChatPrompt prompt =
      renderChat(Fields(body, table.known, table.refused), model);
  nlohmann::ordered_json answer = {{"prompt", prompt.text},
                                   {"tokens", prompt.tokens}};
  return answer.dump();
}
