// Which kernel of a file differs from what its module compiles to.
#ifndef EFFC_TOOLS_EFFC_VERIFY_CODEDIFFERENCE_H
#define EFFC_TOOLS_EFFC_VERIFY_CODEDIFFERENCE_H

#include "runtime/include/effc/effc.hpp"

#include <optional>
#include <string>
#include <vector>

namespace effc::verify {

/// The levels of the host that a file has code for, in its order.
std::vector<std::string> hostLevels(const Model &model);

/// The host code of a file, one segment after another.
std::vector<uint8_t> hostCode(const Model &model);

/// The name of the kernel whose code holds the first byte that is not that of
/// `anew`, with its level where there are several. None where that byte is in or
/// behind the last kernel: a file does not say where that one ends and constants
/// begin.
std::optional<std::string> findFirstKernel(const Model &model,
                                           const std::vector<uint8_t> &anew);

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_CODEDIFFERENCE_H
