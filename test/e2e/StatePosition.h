// A saved sequence at another position.
#ifndef EFFC_TEST_E2E_STATEPOSITION_H
#define EFFC_TEST_E2E_STATEPOSITION_H

#include <cstdint>
#include <string>

namespace effc::test {

/// The state file `bytes` (runtime/src/StateHeader.h), whose states are of f32,
/// as if its tokens had ended at `position`: the positions of the sequence and
/// of the rows that rings hold, and the checksums. Throws std::runtime_error
/// where `bytes` ends early.
std::string movedState(std::string bytes, uint64_t position);

} // namespace effc::test

#endif // EFFC_TEST_E2E_STATEPOSITION_H
