// Which tokens end a text or a turn where no key of the file says it.
#ifndef EFFC_FRONTEND_GGUF_ENDTOKENS_H
#define EFFC_FRONTEND_GGUF_ENDTOKENS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace effc::frontend {

/// The ids of control tokens whose names end a text, in ascending order; `find` gives the
/// id of a control token.
std::vector<int32_t> findEndTokens(
    llvm::function_ref<std::optional<int32_t>(llvm::StringRef name)> find);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_ENDTOKENS_H
