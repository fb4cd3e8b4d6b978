// What an operation of the frontend came to, in a form that tests compare.
#ifndef EFFC_TEST_UNIT_FRONTEND_OUTCOME_H
#define EFFC_TEST_UNIT_FRONTEND_OUTCOME_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include <gtest/gtest.h>

namespace effc::test {

inline std::string outcome(llvm::Error error) {
  if (!error)
    return "success";
  std::string message = llvm::toString(std::move(error));
  // Every refusal is one plain line.
  EXPECT_FALSE(message.empty());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_NE(message.back(), '.') << message;
  EXPECT_TRUE(llvm::all_of(message, [](unsigned char c) { return c >= 0x20; }));
  return message;
}

/// "success" or the message of the refusal.
template <typename T> std::string outcome(llvm::Expected<T> expected) {
  if (expected)
    return "success";
  return outcome(expected.takeError());
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_FRONTEND_OUTCOME_H
