// The shape that the parts of a tokenizer.json share: null, or an object whose
// "type" says what it is.
#ifndef EFFC_FRONTEND_TOKENIZER_COMPONENT_H
#define EFFC_FRONTEND_TOKENIZER_COMPONENT_H

#include "frontend/checkpoint/ConfigReader.h"

namespace effc::frontend {

/// One part, say the pre_tokenizer of type Split.
struct Component {
  /// For messages: "tokenizer.json: pre_tokenizer 'Split'".
  std::string where;
  /// Empty for null.
  llvm::StringRef type;
  /// Null for null.
  const JsonObject *object = nullptr;
};

/// `value` as a component; `role` is what the file calls it, "pre_tokenizer". A
/// missing one is null.
llvm::Expected<Component> readComponent(llvm::StringRef file,
                                        llvm::StringRef role,
                                        const JsonValue *value);

/// The error that there is no such component here.
llvm::Error refuseComponent(llvm::StringRef file, llvm::StringRef role,
                            const Component &component,
                            llvm::StringRef supported);

/// Refuses more steps than a tokenizer may have (TokenizerLimits.h).
llvm::Error checkStepCount(llvm::StringRef file, size_t steps);

/// Reports a text of the member `key` that is longer than a step may have.
void checkStepText(ConfigReader &reader, llvm::StringRef key,
                   const std::string &text);

/// The elements of a 'Sequence', from its array `key`.
llvm::Expected<const JsonArray *> readSequence(const Component &component,
                                               llvm::StringRef key);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_COMPONENT_H
