//===- Signals.h - Half-written files when a signal ends the process ------===//
#ifndef EFFC_TOOLS_TERMINAL_SIGNALS_H
#define EFFC_TOOLS_TERMINAL_SIGNALS_H

#include <array>
#include <csignal>
#include <string>

namespace effc::cli {

/// What SIGINT, SIGTERM and SIGHUP do for as long as this lives. A signal that
/// was ignored before, as under nohup, stays ignored.
class SignalActions {
public:
  explicit SignalActions(void (*handler)(int));
  ~SignalActions();
  SignalActions(const SignalActions &) = delete;
  SignalActions &operator=(const SignalActions &) = delete;

private:
  std::array<struct sigaction, 3> before;
};

/// Removes a file when one of these signals ends the process. One at a time.
class RemoveOnSignal {
public:
  explicit RemoveOnSignal(std::string path);
  ~RemoveOnSignal();

private:
  std::string path;
  SignalActions actions;
};

/// Lets one of these signals end the process only when this goes, or the last of
/// several, on whichever threads: around the writing of a file by somebody who cannot
/// be told to remove it.
class HoldSignals {
public:
  HoldSignals();
  ~HoldSignals();
  HoldSignals(const HoldSignals &) = delete;
  HoldSignals &operator=(const HoldSignals &) = delete;
};

/// For as long as this lives, the first SIGINT (Ctrl-C) only sets a mark, so that
/// what runs can end where nothing is lost. The second ends the process.
class Interruption {
public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption &) = delete;
  Interruption &operator=(const Interruption &) = delete;

  /// Whether it has come, in this one or an earlier one.
  static bool came();
  /// Has what came before count no more, where the program goes on.
  static void forget();

private:
  struct sigaction before;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_SIGNALS_H
