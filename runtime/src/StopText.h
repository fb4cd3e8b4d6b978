//===- StopText.h - Ends a stream of text at certain words ----------------===//
#ifndef EFFC_RUNTIME_SRC_STOPTEXT_H
#define EFFC_RUNTIME_SRC_STOPTEXT_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace effc::rt {

/// Passes text through, but holds back an end that may be the start of a stop
/// text, and swallows everything from the first stop text on.
class StopText {
public:
  /// None of `stops` is empty.
  explicit StopText(std::vector<std::string> stops);

  /// Adds `text`; returns what may be shown now, until the next call.
  std::string_view push(std::string_view text);
  /// Which of the texts has come.
  std::optional<size_t> found() const { return which; }
  /// What was held back, since nothing more comes; the next text is a new one.
  std::string_view finish();

private:
  std::vector<std::string> stops;
  std::string held, shown;
  std::optional<size_t> which;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_STOPTEXT_H
