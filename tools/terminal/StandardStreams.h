// Descriptors 0, 1 and 2, which a parent may have closed.
#ifndef EFFC_TOOLS_TERMINAL_STANDARDSTREAMS_H
#define EFFC_TOOLS_TERMINAL_STANDARDSTREAMS_H

namespace effc::cli {

/// Opens /dev/null on each standard descriptor that is closed. Without this the
/// next file that the program opens takes the descriptor's number, and whatever
/// is printed lands in that file. Comes first in every `main`, before any file
/// is opened; ends the process with status 1 where /dev/null cannot be opened.
void openStandardStreams();

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_STANDARDSTREAMS_H
