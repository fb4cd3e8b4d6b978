// The effc executable: parses and dispatches.
#ifndef EFFC_TOOLS_EFFC_PROGRAM_H
#define EFFC_TOOLS_EFFC_PROGRAM_H

namespace effc::cli {

/// Runs the command that the arguments of main() name; the exit status.
int runEffc(int argc, char **argv);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_PROGRAM_H
