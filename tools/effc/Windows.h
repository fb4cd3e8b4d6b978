// A long text as windows that a model reads one by one.
#ifndef EFFC_TOOLS_EFFC_WINDOWS_H
#define EFFC_TOOLS_EFFC_WINDOWS_H

#include "tools/effc/Inputs.h"

#include <cstdint>
#include <vector>

namespace effc::cli {

/// Parts of sequences, and the token of each from which on predictions count.
struct Windows {
  std::vector<Tokens> sequences;
  std::vector<uint64_t> firsts; // at least 1: nothing predicts a first token
};

/// Cuts each sequence into windows of `length` tokens that begin `stride` tokens
/// apart, from 1 to `length`. A prediction counts in the first window that has it, as
/// the Hugging Face library's guide to perplexity does. A `length` of 0 is one window
/// for each sequence.
Windows cutIntoWindows(const std::vector<Tokens> &sequences, uint64_t length,
                       uint64_t stride);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_WINDOWS_H
