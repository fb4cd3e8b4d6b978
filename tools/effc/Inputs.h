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

/// What a model is expected to say at some positions of a sequence: the token
/// that follows each of them, in any order of positions.
struct Targets {
  std::vector<uint64_t> positions;
  Tokens ids;
};

/// A JSON array of an object {"positions": [...], "ids": [...]} for each of
/// `sequences`. Throws Failure naming `path` and the place of what is wrong.
std::vector<Targets> readTargetFile(const std::string &path,
                                    const std::vector<Tokens> &sequences,
                                    uint32_t vocabularySize);

/// "64", "16K", "1.5G": bytes, with binary units. Throws UsageError.
uint64_t parseBytes(std::string_view text);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_INPUTS_H
