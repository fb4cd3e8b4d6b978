//===- NormalForm.h - The normalization forms of Unicode ------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_UNICODE_NORMALFORM_H
#define EFFC_RUNTIME_SRC_TOKENIZER_UNICODE_NORMALFORM_H

#include <string>
#include <string_view>

namespace effc::rt::unicode {

enum class NormalForm { Nfc, Nfd, Nfkc, Nfkd };

/// `text`, valid UTF-8, in a normal form (Unicode 3.11), with the tables of the
/// library (Unicode.h). Linear in the text but for runs of marks, which are
/// sorted.
std::string normalize(std::string_view text, NormalForm form);

} // namespace effc::rt::unicode

#endif // EFFC_RUNTIME_SRC_TOKENIZER_UNICODE_NORMALFORM_H
