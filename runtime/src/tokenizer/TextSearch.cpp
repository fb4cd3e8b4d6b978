#include "runtime/src/tokenizer/TextSearch.h"

using namespace effc::rt;

TextSearch::TextSearch(std::string text)
    : wanted(std::move(text)), borders(wanted.size()) {
  for (size_t i = 1; i < wanted.size(); ++i)
    borders[i] = static_cast<uint32_t>(next(borders[i - 1], wanted[i]));
}

size_t TextSearch::find(std::string_view in, size_t from) const {
  // The library's compares each place anew, but is the faster where that is short.
  constexpr size_t kShort = 16;
  if (wanted.size() <= kShort)
    return in.find(wanted, from);
  size_t matched = 0;
  for (size_t at = from; at < in.size(); ++at) {
    matched = next(matched, in[at]);
    if (matched == wanted.size())
      return at + 1 - matched;
  }
  return std::string_view::npos;
}

std::string effc::rt::replaceText(const TextSearch &search,
                                  std::string_view content,
                                  std::string_view text) {
  std::string out;
  size_t at = 0;
  for (size_t found = search.find(text); found != std::string_view::npos;
       found = search.find(text, at)) {
    out += text.substr(at, found - at);
    out += content;
    at = found + search.text().size();
  }
  out += text.substr(at);
  return out;
}
