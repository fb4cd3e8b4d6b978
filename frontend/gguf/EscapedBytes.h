// Tokens of RWKV's vocabulary, as converters write them: between the quotes of a
// literal of Python.
#ifndef EFFC_FRONTEND_GGUF_ESCAPEDBYTES_H
#define EFFC_FRONTEND_GGUF_ESCAPEDBYTES_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace effc::frontend {

/// The bytes that a text with the escapes \t, \n, \r, \xNN, \\, \' and \" stands
/// for; none where an escape is another.
std::optional<std::string> readEscapedBytes(llvm::StringRef text);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_ESCAPEDBYTES_H
