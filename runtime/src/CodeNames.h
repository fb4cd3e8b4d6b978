//===- CodeNames.h - By which code a sequence was computed ----------------===//
#ifndef EFFC_RUNTIME_SRC_CODENAMES_H
#define EFFC_RUNTIME_SRC_CODENAMES_H

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

namespace effc::rt {

/// The instruction sets of the code that computed a sequence, in the order in which
/// they came: "x86-64-v3, sm_90a". In a place of a fixed size, since calls allocate
/// nothing and the size of a state file depends on its position alone; names that
/// find no room are left out.
class CodeNames {
public:
  static constexpr size_t kBytes = 64; // the last is zero

  const char *text() const { return bytes.data(); }
  std::span<const char, kBytes> raw() const { return bytes; }

  void add(std::string_view name) {
    size_t end = std::strlen(bytes.data());
    if (name.empty() || has(name))
      return;
    std::string_view comma = end > 0 ? ", " : "";
    if (end + comma.size() + name.size() >= kBytes)
      return;
    std::copy(comma.begin(), comma.end(), bytes.begin() + end);
    std::copy(name.begin(), name.end(), bytes.begin() + end + comma.size());
  }

  /// Takes what raw() gave; false where it is none: after the first zero all are
  /// zero, and before it there are printable characters alone.
  bool take(std::span<const uint8_t, kBytes> given) {
    auto end = std::find(given.begin(), given.end(), 0);
    if (end == given.end() ||
        std::any_of(end, given.end(), [](uint8_t byte) { return byte != 0; }) ||
        std::any_of(given.begin(), end,
                    [](uint8_t byte) { return byte < 0x20 || byte > 0x7e; }))
      return false;
    std::copy(given.begin(), given.end(), bytes.begin());
    return true;
  }

private:
  bool has(std::string_view name) const {
    std::string_view rest = text();
    while (!rest.empty()) {
      size_t comma = rest.find(", ");
      if (rest.substr(0, comma) == name)
        return true;
      rest = comma == rest.npos ? "" : rest.substr(comma + 2);
    }
    return false;
  }

  std::array<char, kBytes> bytes = {};
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_CODENAMES_H
