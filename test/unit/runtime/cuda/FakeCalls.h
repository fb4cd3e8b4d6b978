// What the libraries that play themselves share: calls are written down, and
// may fail; what a stream is given is done at once, or recorded.
#ifndef EFFC_TEST_UNIT_RUNTIME_CUDA_FAKECALLS_H
#define EFFC_TEST_UNIT_RUNTIME_CUDA_FAKECALLS_H

#include <functional>
#include <string>

namespace effc::test {

/// Writes a call down; returns what it is to fail with.
int enter(const std::string &symbol, const std::string &details = "");

/// Does something now, or when what is being recorded is replayed. Returns 0.
int doOrRecord(std::function<void()> step);

} // namespace effc::test

#define ENTER(symbol, ...)                                                     \
  if (int failure = enter(#symbol, ##__VA_ARGS__))                             \
  return failure

#endif // EFFC_TEST_UNIT_RUNTIME_CUDA_FAKECALLS_H
