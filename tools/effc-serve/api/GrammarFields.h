//===- GrammarFields.h - What an answer is to follow, as requests say ------===//
//
// OpenAI's API, vLLM and llama.cpp each have fields of their own for it. A request
// has one of them at most.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_API_GRAMMARFIELDS_H
#define EFFC_TOOLS_EFFC_SERVE_API_GRAMMARFIELDS_H

#include "tools/effc-serve/api/Fields.h"
#include "tools/effc-serve/engine/Generation.h"

#include <memory>

namespace effc::serve {

struct AskedGrammar {
  std::shared_ptr<effc_grammar_t> grammar; // null: any text will do
  const char *field = "";                  // that asks for it
};

/// Throws ApiError where a field is not what it should be, has what is not understood,
/// or is one of two.
AskedGrammar readGrammar(const Fields &fields, const ServedModel &model);

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_API_GRAMMARFIELDS_H
