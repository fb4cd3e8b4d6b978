// The parts of a text where special tokens that are spelled out are text.
#ifndef EFFC_RUNTIME_SRC_TOKENIZER_PLAINSPANS_H
#define EFFC_RUNTIME_SRC_TOKENIZER_PLAINSPANS_H

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace effc::rt {

/// Spans of a text that somebody wrote who may not write special tokens.
class PlainSpans {
public:
  struct Span {
    size_t begin, end; // bytes
    bool operator==(const Span &) const = default;
  };

  PlainSpans() = default;
  /// In order, apart or touching; empty ones are dropped.
  explicit PlainSpans(const std::vector<Span> &given) {
    for (const Span &span : given)
      if (span.begin >= span.end)
        continue;
      else if (!spans.empty() && spans.back().end == span.begin)
        spans.back().end = span.end;
      else
        spans.push_back(span);
  }
  /// A text of `size` bytes as a whole.
  static PlainSpans all(size_t size) { return PlainSpans({{0, size}}); }

  bool isEmpty() const { return spans.empty(); }
  const std::vector<Span> &all() const { return spans; }

  /// Whether a byte from `begin` to before `end` is in a span. What is partly
  /// written by such a person is text as well.
  bool touch(size_t begin, size_t end) const {
    auto at = std::upper_bound(
        spans.begin(), spans.end(), begin,
        [](size_t place, const Span &span) { return place < span.end; });
    return at != spans.end() && at->begin < end;
  }
  /// Whether all bytes from `begin` to before `end` are in one span.
  bool cover(size_t begin, size_t end) const {
    auto at = std::upper_bound(
        spans.begin(), spans.end(), begin,
        [](size_t place, const Span &span) { return place < span.end; });
    return at != spans.end() && at->begin <= begin && end <= at->end;
  }
  /// Those of the part from `begin` to before `end`, counted from its start.
  PlainSpans within(size_t begin, size_t end) const {
    PlainSpans part;
    for (const Span &span : spans)
      if (span.begin < end && begin < span.end)
        part.spans.push_back({std::max(span.begin, begin) - begin,
                              std::min(span.end, end) - begin});
    return part;
  }

private:
  std::vector<Span> spans; // in order, apart
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_TOKENIZER_PLAINSPANS_H
