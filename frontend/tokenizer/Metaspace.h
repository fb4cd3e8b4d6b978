// The options that the pre_tokenizer and the decoder 'Metaspace' share.
#ifndef EFFC_FRONTEND_TOKENIZER_METASPACE_H
#define EFFC_FRONTEND_TOKENIZER_METASPACE_H

#include "frontend/tokenizer/Component.h"

#include "runtime/schema/tokenizer_generated.h"

namespace effc::frontend {

struct Metaspace {
  std::string replacement; // one character
  artifact::Prepend prepend;
  bool split;
};

/// Reads the spelling of today (prepend_scheme) and that of old files
/// (add_prefix_space).
llvm::Expected<Metaspace> readMetaspace(const Component &component);

/// Whether `text` is one character of UTF-8.
bool isOneCharacter(llvm::StringRef text);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TOKENIZER_METASPACE_H
