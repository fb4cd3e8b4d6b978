//===- OptionChecks.h - Numbers that options take -------------------------===//
//
// Checked while the command line is read: before a model is loaded, and with
// the option's name in the message.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_TERMINAL_OPTIONCHECKS_H
#define EFFC_TOOLS_TERMINAL_OPTIONCHECKS_H

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace effc::cli {

/// The longest --sequence and --chunk of `inspect --flops=published`.
constexpr uint64_t kMostCounted = uint64_t(1) << 20;

/// Lets numbers pass for which `isGood`; `expected` says which these are. They
/// are compared as f32, the type in which they are used.
CLI::Validator numberThat(bool (*isGood)(float), const std::string &expected);

/// Lets decimal numbers from `least` to `most` pass.
CLI::Validator wholeNumber(uint64_t least, uint64_t most);

/// Adds an option for a decimal number from 0 to 2^64 - 1. What does not fit is
/// refused rather than wrapped or cut off.
CLI::Option *addWholeNumber(CLI::App &command, const std::string &name,
                            uint64_t &value, const std::string &summary);

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_OPTIONCHECKS_H
