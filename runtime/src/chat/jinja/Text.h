//===- Text.h - A text that knows which of its bytes were given -----------===//
//
// What a template writes itself and what a conversation brings look alike once
// they are one text: `<|im_end|>` ends a message in the first case and is what a
// user typed in the second. So a text carries spans of the bytes that were given,
// and every operation of the interpreter keeps them.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_TEXT_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_TEXT_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace effc::rt::jinja {

/// Bytes from `begin` to before `end`.
struct Span {
  size_t begin, end;
  bool operator==(const Span &) const = default;
};

/// Valid UTF-8.
class Text {
public:
  Text() = default;
  /// What the template itself has.
  explicit Text(std::string own) : content(std::move(own)) {}
  /// What the caller brings.
  static Text given(std::string bytes);

  const std::string &bytes() const { return content; }
  size_t size() const { return content.size(); }
  bool empty() const { return content.empty(); }
  /// In order, apart from each other, none empty.
  const std::vector<Span> &givenSpans() const { return spans; }

  Text slice(size_t begin, size_t end) const;
  void append(std::string_view own) { content.append(own); }
  void append(const Text &other) { append(other, 0, other.size()); }
  /// The bytes of `other` from `begin` to before `end`.
  void append(const Text &other, size_t begin, size_t end);
  /// `bytes`, which stand for those of `other` from `begin` on: given where they
  /// were given.
  void appendFor(std::string_view bytes, const Text &other, size_t begin);

  /// Whether the template has declared that it holds no markup: jinja2 escapes
  /// what is added to such a text.
  bool isSafe = false;

private:
  void mark(size_t begin, size_t end);

  std::string content;
  std::vector<Span> spans;
};

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_TEXT_H
