// The tokens that a vocabulary without a tokenizer.json puts around each text,
// as the settings beside it ask for.
#ifndef EFFC_FRONTEND_TOKENIZER_TEXTENDS_H
#define EFFC_FRONTEND_TOKENIZER_TEXTENDS_H

#include "frontend/tokenizer/TokenizerSettings.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace effc::frontend {

/// The 'post_processor' of a tokenizer.json: bos_token in front where
/// add_bos_token is true, eos_token behind where add_eos_token is; null where
/// neither is. `find` gives the id of a token's text. A token that is asked for
/// and has no id in `file` is an error.
llvm::Expected<llvm::json::Value> describeTextEnds(
    const TokenizerSettings &settings, llvm::StringRef file,
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> find);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_TEXTENDS_H
