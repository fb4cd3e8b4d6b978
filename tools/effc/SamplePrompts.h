// The prompts of `effc sample`, a line of JSON for each.
#ifndef EFFC_TOOLS_EFFC_SAMPLEPROMPTS_H
#define EFFC_TOOLS_EFFC_SAMPLEPROMPTS_H

#include "tools/effc/Inputs.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace effc::cli {

struct SamplePrompt {
  nlohmann::ordered_json line; // as it was given
  Tokens tokens;               // at least one
  std::optional<std::string> answer;
};

/// Lines of {"prompt": TEXT}, {"tokens": [IDS]} or {"messages": [...]}, each with an
/// "answer" or without one. Messages are written by the model's chat template. Throws
/// Failure naming `path` and the line for what is none, and for a prompt that leaves no
/// room for a token.
std::vector<SamplePrompt> readSamplePrompts(const std::string &path,
                                            const Model &model);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_SAMPLEPROMPTS_H
