// The seq module of a compiled model, looked at before it is believed.
#ifndef EFFC_TOOLS_EFFC_VERIFY_SEQMODULE_H
#define EFFC_TOOLS_EFFC_VERIFY_SEQMODULE_H

#include "runtime/include/effc/effc.hpp"

#include <string>

namespace effc::verify {

/// The bytecode of the module that the file holds; empty where it holds none.
/// What MLIR's reader is given has passed three checks: its bytes are those that
/// the file's checksum is of; it is bytecode, written by the LLVM that this
/// program reads with, since no other's is promised to be read right; and a
/// child process has read it, with ten seconds of time and 1 GiB more of memory, so
/// that what would end the reader ends the child. Throws Failure with what is wrong.
std::string readSeqModule(const Model &model);

/// The child's part by itself: throws Failure where reading `bytecode` fails or
/// ends the process that does it.
void requireReadable(const std::string &bytecode);

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_SEQMODULE_H
