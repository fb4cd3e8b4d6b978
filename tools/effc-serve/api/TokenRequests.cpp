// Endpoints that look at texts and tokens: those of vLLM, which lm-evaluation-harness
// reads.

#include "tools/effc-serve/api/Requests.h"
#include "tools/effc-serve/api/Sampling.h"

using namespace effc;
using namespace effc::serve;
using Json = nlohmann::ordered_json;
using Ordered = nlohmann::ordered_json;

static constexpr Field kTokenize[] = {
    {"model", FieldType::Text, 0, 512},
    {"prompt", FieldType::Text},
    {"add_special_tokens", FieldType::Boolean},
    {"messages", FieldType::List, 1, 10000},
    {"chat_template_kwargs", FieldType::Mapping, 0, 64},
    {"reasoning_effort", FieldType::Text, 0, 64},
    {"documents", FieldType::List, 0, 1024},
    {"add_generation_prompt", FieldType::Boolean},
    {"continue_final_message", FieldType::Boolean},
};

static constexpr Field kDetokenize[] = {
    {"model", FieldType::Text, 0, 512},
    {"tokens", FieldType::List, 0, 1048576},
};

const BodyTable &effc::serve::tokenizeTable() {
  static const BodyTable table = {"/tokenize", kTokenize, {}};
  return table;
}

const BodyTable &effc::serve::detokenizeTable() {
  static const BodyTable table = {"/detokenize", kDetokenize, {}};
  return table;
}

std::span<const BodyTable> effc::serve::bodyTables() {
  static const BodyTable tables[] = {
      completionTable(),    chatTable(),    tokenizeTable(), detokenizeTable(),
      applyTemplateTable(), sessionTable(), appendTable(),   forkTable(),
      saveTable(),          restoreTable(), embeddingTable()};
  return tables;
}

static Ordered contextOf(const ServedModel &model) {
  return model.context() ? Ordered(model.context()) : Ordered();
}

std::string effc::serve::answerTokenize(const Json &body,
                                        const ServedModel &model) {
  const BodyTable &table = tokenizeTable();
  Fields fields(body, table.known, table.refused);
  if (fields.has("prompt") == fields.has("messages"))
    throw ApiError::invalid("prompt", "or 'messages' is expected, one of them");
  std::vector<int32_t> tokens =
      fields.has("messages")
          ? renderChat(fields, model).tokens
          : model.model().tokenize(fields.text("prompt"),
                                   fields.flag("add_special_tokens", true)
                                       ? 0
                                       : EFFC_TOKENIZE_NO_SPECIAL);
  Ordered answer = {{"count", tokens.size()},
                    {"max_model_len", contextOf(model)},
                    {"tokens", tokens}};
  return answer.dump();
}

std::string effc::serve::answerDetokenize(const Json &body,
                                          const ServedModel &model) {
  const BodyTable &table = detokenizeTable();
  Fields fields(body, table.known, table.refused);
  const Json *tokens = fields.find("tokens");
  if (!tokens)
    throw ApiError::invalid("tokens", "is required");
  Ordered answer = {
      {"prompt", model.model().detokenize(tokensOf(*tokens, model, "tokens"))}};
  return answer.dump();
}

std::string effc::serve::answerTokenizerInfo(const ServedModel &model) {
  if (!model.model().hasTokenizer())
    throw ApiError(400, "the model has no tokenizer");
  Ordered answer = {{"tokenizer_class", "effc"},
                    {"vocabulary", model.model().vocabularySize()},
                    {"max_model_len", contextOf(model)}};
  for (const char *name :
       {"bos_token", "eos_token", "pad_token", "unk_token"}) {
    auto text = model.namedToken(name);
    answer[name] = text ? Ordered(*text) : Ordered();
  }
  // Where no template names it, the tokens of the model's generation do.
  effc_generation_t generation = model.model().generation();
  if (answer["eos_token"].is_null() && generation.eos_count > 0)
    answer["eos_token"] = model.model().detokenize({generation.eos[0]});
  if (answer["bos_token"].is_null() && generation.bos >= 0)
    answer["bos_token"] = model.model().detokenize({generation.bos});
  answer["chat_template"] = model.templateSource().empty()
                                ? Ordered()
                                : Ordered(model.templateSource());
  return answer.dump(-1, ' ', false, Ordered::error_handler_t::replace);
}
