#include "runtime/src/devices/Architecture.h"

using namespace effc;
using namespace effc::rt;

bool Architecture::runsOn(uint32_t chipMajor, uint32_t chipMinor) const {
  if (onlyThisOne)
    return major == chipMajor && minor == chipMinor;
  switch (kind) {
  case Kind::Module:
    return major == chipMajor && minor <= chipMinor;
  case Kind::Text:
    return number() <= chipMajor * 10 + chipMinor;
  case Kind::Simulated:
    break;
  }
  return false;
}

std::optional<Architecture> rt::architectureOf(std::string_view name) {
  struct {
    std::string_view prefix;
    Architecture::Kind kind;
  } const kinds[] = {{"sm_", Architecture::Kind::Module},
                     {"compute_", Architecture::Kind::Text},
                     {"sim_", Architecture::Kind::Simulated}};
  for (const auto &[prefix, kind] : kinds) {
    if (!name.starts_with(prefix))
      continue;
    std::string_view digits = name.substr(prefix.size());
    bool onlyThisOne = digits.ends_with('a');
    if (onlyThisOne)
      digits.remove_suffix(1);
    if (digits.size() < 2 || digits.size() > 3 || digits.front() == '0')
      return std::nullopt;
    uint32_t number = 0;
    for (char digit : digits) {
      if (digit < '0' || digit > '9')
        return std::nullopt;
      number = number * 10 + static_cast<uint32_t>(digit - '0');
    }
    return Architecture{kind, number / 10, number % 10, onlyThisOne};
  }
  return std::nullopt;
}
