//===- Inputs.h - What users give: files, prompts, token ids --------------===//
#ifndef EFFC_TOOLS_EFFC_INPUTS_H
#define EFFC_TOOLS_EFFC_INPUTS_H

#include "runtime/include/effc/effc.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace effc::cli {

using Tokens = std::vector<int32_t>;

/// The whole of a file; "-" is standard input. Throws Failure.
std::string readWholeFile(const std::string &path);

/// "1,2,3". Throws UsageError when `text` is anything else.
Tokens parseTokenList(std::string_view text);

/// A JSON array of arrays of token ids. Throws Failure naming `path` and the
/// place of what is not a token of a vocabulary of `vocabularySize`.
std::vector<Tokens> readTokenFile(const std::string &path,
                                  uint32_t vocabularySize);

/// "64", "16K", "1.5G": bytes, with binary units. Throws UsageError.
uint64_t parseBytes(std::string_view text);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_INPUTS_H
