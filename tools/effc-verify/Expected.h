// What the compiler's library returns, as exceptions.
#ifndef EFFC_TOOLS_EFFC_VERIFY_EXPECTED_H
#define EFFC_TOOLS_EFFC_VERIFY_EXPECTED_H

#include "tools/terminal/Failure.h"

#include "llvm/Support/Error.h"

namespace effc::verify {

/// Throws what an llvm::Error says.
inline void require(llvm::Error error) {
  if (error)
    throw cli::Failure(llvm::toString(std::move(error)));
}

template <typename T> T take(llvm::Expected<T> value) {
  require(value.takeError());
  return std::move(*value);
}

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_EXPECTED_H
