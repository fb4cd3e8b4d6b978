// How many random shapes the contract tries of compiled kernels besides those
// that are listed.
#ifndef EFFC_TEST_UNIT_CONTRACT_MORESHAPES_H
#define EFFC_TEST_UNIT_CONTRACT_MORESHAPES_H

#include <cstdint>
#include <cstdlib>

namespace effc::test {

/// None; `tools/check --long` asks for 192.
inline int64_t moreShapes() {
  const char *text = std::getenv("EFFC_CONTRACT_SHAPES");
  return text ? std::atoll(text) : 0;
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_MORESHAPES_H
