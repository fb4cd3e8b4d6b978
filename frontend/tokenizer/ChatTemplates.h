// The ways in which a checkpoint writes a conversation as a text.
#ifndef EFFC_FRONTEND_TOKENIZER_CHATTEMPLATES_H
#define EFFC_FRONTEND_TOKENIZER_CHATTEMPLATES_H

#include "frontend/checkpoint/ConfigReader.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace effc::frontend {

struct ChatTemplate {
  std::string name;   // "default", "tool_use"
  std::string source; // Jinja
  /// Its own file, from the checkpoint's folder; empty: it has none.
  std::string file = {};
};

inline constexpr llvm::StringLiteral kDefaultTemplate = "default";

/// 'chat_template' of tokenizer_config.json: a text, or a list of {name, template}.
/// Problems are left in the reader.
std::vector<ChatTemplate> readChatTemplates(ConfigReader &config);

/// Those that lie in files of their own, which hide 'chat_template' where there are any
/// (transformers 5.24, tokenization_utils_base.py): chat_template.jinja, and
/// additional_chat_templates/NAME.jinja in the order of names. Ends of lines become
/// "\n", as there. Fails where a file cannot be read or is too large.
llvm::Expected<std::vector<ChatTemplate>>
readChatTemplateFiles(llvm::StringRef directory);

/// Fails, naming `file`, where a template is more than an artifact holds.
llvm::Error checkChatTemplates(llvm::StringRef file,
                               llvm::ArrayRef<ChatTemplate> templates);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_CHATTEMPLATES_H
