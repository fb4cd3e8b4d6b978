//===- Requests.h - Bodies of requests, read ------------------------------===//
//
// Each takes a parsed body and throws ApiError, or effc::Error of the model. Any
// thread.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_API_REQUESTS_H
#define EFFC_TOOLS_EFFC_SERVE_API_REQUESTS_H

#include "tools/effc-serve/api/Answer.h"
#include "tools/effc-serve/api/Fields.h"

#include <span>

namespace effc::serve {

/// What an endpoint takes.
struct BodyTable {
  const char *path;
  std::span<const Field> known;
  std::span<const RefusedField> refused;
};

/// Of all endpoints that have a body.
std::span<const BodyTable> bodyTables();
const BodyTable &completionTable();
const BodyTable &chatTable();
const BodyTable &tokenizeTable();
const BodyTable &detokenizeTable();
const BodyTable &applyTemplateTable();
const BodyTable &embeddingTable();
const BodyTable &sessionTable();
const BodyTable &appendTable();
const BodyTable &forkTable();
const BodyTable &saveTable();
const BodyTable &restoreTable();

/// `session`: that the body names; or null.
Asked readCompletion(const nlohmann::ordered_json &body,
                     const ServedModel &model,
                     std::shared_ptr<SessionLease> session);
Asked readChat(const nlohmann::ordered_json &body, const ServedModel &model);

/// A conversation of a body with messages, as its template writes it. `fields` are
/// those of the chat table or of one with its rows about templates.
ChatPrompt renderChat(const Fields &fields, const ServedModel &model,
                      bool findsMarks = false);

/// The answers of the endpoints that look at texts and tokens.
std::string answerTokenize(const nlohmann::ordered_json &body,
                           const ServedModel &model);
std::string answerDetokenize(const nlohmann::ordered_json &body,
                             const ServedModel &model);
std::string answerApplyTemplate(const nlohmann::ordered_json &body,
                                const ServedModel &model);
std::string answerTokenizerInfo(const ServedModel &model);
/// Computes meanwhile.
std::string answerEmbeddings(const nlohmann::ordered_json &body,
                             ServedModel &model);

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_API_REQUESTS_H
