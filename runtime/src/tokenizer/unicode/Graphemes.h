//===- Graphemes.h - Grapheme clusters ------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_UNICODE_GRAPHEMES_H
#define EFFC_RUNTIME_SRC_TOKENIZER_UNICODE_GRAPHEMES_H

#include <cstddef>
#include <string_view>

namespace effc::rt::unicode {

/// How many bytes the first extended grapheme cluster of `text` takes (Unicode
/// annex 29, without the conjuncts of version 15.1, GB9c: they take nine bytes
/// and more, and CharsMap looks at no cluster of more than five as a whole).
/// `text` is valid UTF-8 and not empty.
size_t firstCluster(std::string_view text);

} // namespace effc::rt::unicode

#endif // EFFC_RUNTIME_SRC_TOKENIZER_UNICODE_GRAPHEMES_H
