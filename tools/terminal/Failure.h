//===- Failure.h - How a subcommand ends early ----------------------------===//
#ifndef EFFC_TOOLS_TERMINAL_FAILURE_H
#define EFFC_TOOLS_TERMINAL_FAILURE_H

#include <stdexcept>
#include <string>

namespace effc::cli {

/// Exit statuses, the same for every subcommand.
enum ExitStatus : int {
  kDone = 0,
  kFailed = 1,
  kWrongUsage = 2,
  kInterrupted = 130 // by SIGINT, after what could be kept was kept
};

/// Something went wrong: one line, exit status 1. A failing runtime call throws
/// effc::Error instead, which ends the same way.
class Failure : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The command line asks for what makes no sense: one line, exit status 2.
class UsageError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The user has interrupted, and what could be kept is kept: exit status 130,
/// with one line where there is something to say.
class Interrupted : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_FAILURE_H
