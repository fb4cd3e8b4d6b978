//===- CommandLine.h - How every program reads its command line -----------===//
#ifndef EFFC_TOOLS_TERMINAL_COMMANDLINE_H
#define EFFC_TOOLS_TERMINAL_COMMANDLINE_H

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace effc::cli {

/// Has a program print the table of what it takes, for `effc completions` and
/// `effc manual`. No help lists it.
inline constexpr const char *kDescribeOptions = "--describe-options";

/// An option that users of other engines type, and what effc has in its place.
struct ForeignOption {
  const char *name; // "--ctx-size"
  const char *instead;
};

/// Reads `arguments`, those behind the program's own name, into `app`, which is started by `name`, and runs the
/// callbacks of its commands. What was typed and does not exist is reported
/// before anything else that is wrong, all of it in one message, with the
/// nearest name. Returns whether the program is to go on: false where --help,
/// --version or --describe-options was asked for and printed.
///
/// Throws UsageError where the line makes no sense.
bool readCommandLine(CLI::App &app, const std::string &name,
                     const std::vector<std::string> &arguments,
                     std::span<const ForeignOption> foreign = {});

/// Runs a program: calls `body`, makes sure that what was printed is written,
/// and turns whatever it throws into one line on standard error and the exit
/// status. After UsageError a note points to `help`, which may change while
/// `body` runs: "effc run --help". Standard descriptors are opened first where
/// they are closed.
int runMain(const std::string &help, int (*body)(int, char **), int argc,
            char **argv);

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_COMMANDLINE_H
