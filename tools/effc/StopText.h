//===- StopText.h - Ends a stream of text at certain words ----------------===//
#ifndef EFFC_TOOLS_EFFC_STOPTEXT_H
#define EFFC_TOOLS_EFFC_STOPTEXT_H

#include <string>
#include <string_view>
#include <vector>

namespace effc::cli {

/// Passes text through, but holds back an end that may be the start of a stop
/// text, and swallows everything from the first stop text on.
class StopText {
public:
  /// Empty ones are left out.
  explicit StopText(std::vector<std::string> stops);

  /// Adds `text`; returns what may be shown now.
  std::string push(std::string_view text);
  /// Whether a stop text has come.
  bool stopped() const { return found; }
  /// What was held back, when nothing more comes.
  std::string finish();

private:
  std::vector<std::string> stops;
  std::string held;
  bool found = false;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_STOPTEXT_H
