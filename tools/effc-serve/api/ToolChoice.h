//===- ToolChoice.h - Calls of tools that a model is to write -------------===//
//
// A prompt that ends with what begins a call, and a grammar for the rest of it.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_API_TOOLCHOICE_H
#define EFFC_TOOLS_EFFC_SERVE_API_TOOLCHOICE_H

#include "tools/effc-serve/api/Fields.h"
#include "tools/effc-serve/engine/ServedModel.h"

#include <memory>
#include <string>

namespace effc::serve {

/// Which calls an answer has.
struct ToolChoice {
  enum class Kind { None, Auto, Required } kind = Kind::Auto;
  std::string name; // of Required: the tool; empty: any

  /// Reads 'tools' and 'tool_choice'; None where there are no tools. Throws ApiError.
  static ToolChoice read(const Fields &fields);
};

struct ForcedCall {
  std::string lead; // the end of the prompt
  std::shared_ptr<effc_grammar_t> grammar;
};

/// Throws ApiError where the model's template writes calls in a manner for which
/// there is no grammar, or a tool's parameters are no schema that is understood.
/// `severalAtOnce`: an answer may have several calls, where the manner has lists.
ForcedCall forceCall(const ToolChoice &choice,
                     const nlohmann::ordered_json &tools, bool severalAtOnce,
                     const ServedModel &model);

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_API_TOOLCHOICE_H
