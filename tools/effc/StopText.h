//===- StopText.h - Ends a stream of text at certain words ----------------===//
#ifndef EFFC_TOOLS_EFFC_STOPTEXT_H
#define EFFC_TOOLS_EFFC_STOPTEXT_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace effc::cli {

/// Passes text through, but holds back an end that may be the start of a stop
/// text, and swallows everything from the first stop text on.
class StopText {
public:
  /// None of `stops` is empty.
  explicit StopText(std::vector<std::string> stops);

  /// Adds `text`; returns what may be shown now.
  std::string push(std::string_view text);
  /// The stop text that has come; null while none has.
  const std::string *stoppedBy() const {
    return found ? &stops[*found] : nullptr;
  }
  /// What was held back, when nothing more comes.
  std::string finish();

private:
  std::vector<std::string> stops;
  std::string held;
  std::optional<size_t> found; // which of `stops` has come
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_STOPTEXT_H
