// Tokens as users type them.
#ifndef EFFC_TOOLS_EFFC_TOKENNAMES_H
#define EFFC_TOOLS_EFFC_TOKENNAMES_H

#include "runtime/include/effc/effc.hpp"

#include <optional>
#include <string>

namespace effc::cli {

/// The token that `text` is, special ones included; none where it is several.
std::optional<int32_t> oneToken(const Model &model, const std::string &text);

/// The token of an id, or of the text of one token. Throws UsageError, which names
/// `option`, for an id outside the vocabulary and for a text of several tokens,
/// where it ends with what can be done otherwise.
int32_t tokenNamed(const Model &model, const std::string &given,
                   const std::string &option, const std::string &otherwise);

/// What `--logit-bias` takes: TOKEN=BIAS, or ID+BIAS and ID-BIAS as llama.cpp has
/// them; a bias is a finite number or -inf. Throws UsageError.
effc_logit_bias_t biasNamed(const Model &model, const std::string &given);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_TOKENNAMES_H
