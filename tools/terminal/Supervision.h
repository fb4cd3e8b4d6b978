//===- Supervision.h - Nothing stays behind when work is ended ------------===//
#ifndef EFFC_TOOLS_TERMINAL_SUPERVISION_H
#define EFFC_TOOLS_TERMINAL_SUPERVISION_H

namespace effc::cli {

/// Has the rest of the program done by a process of its own, whose temporary
/// files lie in a new folder of its own: TMPDIR names that folder there. Returns
/// in that process alone.
///
/// This one waits. When the work ends, or SIGINT, SIGTERM, SIGHUP or SIGQUIT comes
/// here, it ends what the work has started (linkers, assemblers and what these
/// have started), removes the folder, and ends as the work did: with its status,
/// or by the signal. So nothing stays behind, whatever ends the work; only SIGKILL
/// for this process leaves the folder. A signal that was ignored, as under nohup,
/// stays ignored.
///
/// To be called before there are threads. Throws Failure where no process can be
/// started.
void supervise();

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_SUPERVISION_H
