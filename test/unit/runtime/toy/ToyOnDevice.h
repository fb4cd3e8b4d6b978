// What the toy must do on any device, and how to catch what a device refuses.
#ifndef EFFC_TEST_UNIT_RUNTIME_TOY_TOYONDEVICE_H
#define EFFC_TEST_UNIT_RUNTIME_TOY_TOYONDEVICE_H

#include "runtime/include/effc/effc.hpp"

#include <functional>

namespace effc::test {

/// Ids of the toy's bytes, far from in order.
std::vector<int32_t> toyTokens(size_t count);

/// Prefill and single steps, beside another sequence, give the toy's numbers.
void expectToyRuns(const Model &model, const Device &device);

/// A sequence that goes to the host and back, and is forked, goes on as one
/// that stayed.
void expectToyStatesMove(const Model &model, const Device &device);

/// The message of the error that `action` throws, which has to be `code`;
/// "nothing is wrong" where it throws none.
std::string messageOf(const std::function<void()> &action,
                      effc_status_code_t code);

} // namespace effc::test

#endif // EFFC_TEST_UNIT_RUNTIME_TOY_TOYONDEVICE_H
