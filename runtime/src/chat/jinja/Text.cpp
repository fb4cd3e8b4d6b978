#include "runtime/src/chat/jinja/Text.h"

#include <algorithm>

using namespace effc::rt::jinja;

Text Text::given(std::string bytes) {
  Text text(std::move(bytes));
  text.mark(0, text.size());
  return text;
}

void Text::mark(size_t begin, size_t end) {
  if (begin >= end)
    return;
  if (!spans.empty() && spans.back().end == begin)
    spans.back().end = end;
  else
    spans.push_back({begin, end});
}

/// The first of `spans` that ends after `at`.
static std::vector<Span>::const_iterator
firstAfter(const std::vector<Span> &spans, size_t at) {
  return std::partition_point(spans.begin(), spans.end(),
                              [&](const Span &span) { return span.end <= at; });
}

Text Text::slice(size_t begin, size_t end) const {
  Text text;
  text.append(*this, begin, end);
  text.isSafe = isSafe;
  return text;
}

void Text::append(const Text &other, size_t begin, size_t end) {
  size_t base = content.size();
  content.append(other.content, begin, end - begin);
  for (auto at = firstAfter(other.spans, begin);
       at != other.spans.end() && at->begin < end; ++at)
    mark(base + std::max(at->begin, begin) - begin,
         base + std::min(at->end, end) - begin);
}

void Text::appendFor(std::string_view bytes, const Text &other, size_t begin) {
  size_t base = content.size();
  content.append(bytes);
  auto at = firstAfter(other.spans, begin);
  if (at != other.spans.end() && at->begin <= begin)
    mark(base, content.size());
}
