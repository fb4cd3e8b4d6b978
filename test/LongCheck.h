// Whether tests try all they have, or what fits into the time of a check.
#ifndef EFFC_TEST_LONGCHECK_H
#define EFFC_TEST_LONGCHECK_H

#include <cstdlib>

namespace effc::test {

/// As `tools/check --long` asks for.
inline bool isLongCheck() { return std::getenv("EFFC_CHECK_LONG") != nullptr; }
/// As `tools/check --wide` asks for, which CI does, and --long as well.
inline bool isWideCheck() {
  return isLongCheck() || std::getenv("EFFC_CHECK_WIDE") != nullptr;
}

} // namespace effc::test

#endif // EFFC_TEST_LONGCHECK_H
