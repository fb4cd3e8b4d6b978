// How a model's maker wants text to be generated: generation_config.json, and
// what config.json says of it.
#ifndef EFFC_FRONTEND_GENERATION_H
#define EFFC_FRONTEND_GENERATION_H

#include "frontend/checkpoint/Checkpoint.h"
#include "frontend/checkpoint/ConfigReader.h"

#include <optional>

namespace effc::frontend {

/// Absent settings are neutral: greedy, all tokens, nothing cut off.
struct Generation {
  std::optional<int32_t> bos;
  std::optional<int32_t> pad;
  /// Generation ends at any of these.
  std::vector<int32_t> eos;
  bool doSample = false;
  double temperature = 1;
  /// 0: all tokens.
  uint32_t topK = 0;
  double topP = 1; // 0: the likeliest token alone
  /// 0: none are cut off.
  double minP = 0;
  /// 1: none.
  double repeatPenalty = 1;
  /// Texts that end a generation.
  std::vector<std::string> stops;
};

/// Asks `config` (config.json) for its keys about generation, and reads
/// generation_config.json of the directory, where one is named and has one; a key there
/// hides the same key of config.json, but for the ends, which add up: the
/// public library stops at those of generation_config.json, its server at all.
/// Token ids are checked against the
/// vocabulary; null and -1 mean none. Settings that change the choice of tokens
/// and have no place in Generation are named in `remarks`. Problems of
/// config.json are left in the reader.
llvm::Expected<Generation> readGeneration(ConfigReader &config,
                                          llvm::StringRef directory,
                                          int64_t vocabulary,
                                          std::vector<std::string> &remarks);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GENERATION_H
