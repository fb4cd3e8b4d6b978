//===- TextSearch.h - Where a fixed text occurs ---------------------------===//
//
// In time linear in what is looked through, however long the text and whatever
// both are: with the table of Knuth, Morris and Pratt, which says how much of the
// text may still be there when the next byte does not fit.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_TEXTSEARCH_H
#define EFFC_RUNTIME_SRC_TOKENIZER_TEXTSEARCH_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace effc::rt {

class TextSearch {
public:
  /// `text` is not empty and shorter than 4 GiB.
  explicit TextSearch(std::string text);

  const std::string &text() const { return wanted; }

  /// The first place at or after `from`, or npos.
  size_t find(std::string_view in, size_t from = 0) const;

  /// Where the last `matched` bytes, fewer than all, began the text: how many do
  /// with `byte` behind them. The steps of a row of calls add up to twice their
  /// number at most.
  size_t next(size_t matched, char byte) const {
    while (matched > 0 && wanted[matched] != byte)
      matched = borders[matched - 1];
    return matched + (wanted[matched] == byte);
  }

private:
  std::string wanted;
  /// Of each beginning, one byte long first: the longest shorter one that it ends
  /// with.
  std::vector<uint32_t> borders;
};

/// `text` with each occurrence of what is searched replaced, from the left.
std::string replaceText(const TextSearch &search, std::string_view content,
                        std::string_view text);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_TEXTSEARCH_H
