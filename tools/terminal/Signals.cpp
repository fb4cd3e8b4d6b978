#include "tools/terminal/Signals.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <unistd.h>
#include <utility>

using namespace effc::cli;

static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// All that a handler may touch.
static std::atomic<const char *> doomedFile = nullptr;
static std::atomic<int> heldSignal = 0;
static_assert(std::atomic<const char *>::is_always_lock_free &&
              std::atomic<int>::is_always_lock_free);

SignalActions::SignalActions(void (*handler)(int)) : before() {
  for (size_t i = 0; i < before.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler == SIG_IGN)
      continue;
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (int signal : kSignals)
      sigaddset(&action.sa_mask, signal);
    sigaction(kSignals[i], &action, nullptr);
  }
}

SignalActions::~SignalActions() {
  for (size_t i = 0; i < before.size(); ++i)
    sigaction(kSignals[i], &before[i], nullptr);
}

// The process ends by the signal itself, so that whoever started it sees that.
static void removeAndEnd(int signal) {
  if (const char *path = doomedFile.load())
    unlink(path);
  std::signal(signal, SIG_DFL);
  raise(signal); // comes when this handler returns
}

RemoveOnSignal::RemoveOnSignal(std::string name)
    : path(std::move(name)), actions(removeAndEnd) {
  doomedFile = path.c_str();
}

RemoveOnSignal::~RemoveOnSignal() { doomedFile = nullptr; }

// What signals do belongs to the process. Two holders that each put back what they
// had found would, where they overlap, leave it as the earlier one had made it: no
// signal would ever end the process again.
static std::mutex holding;
static unsigned holders = 0;
static std::optional<SignalActions> holdActions;

HoldSignals::HoldSignals() {
  std::lock_guard guard(holding);
  if (holders++ > 0)
    return;
  heldSignal = 0;
  holdActions.emplace([](int signal) { heldSignal = signal; });
}

HoldSignals::~HoldSignals() {
  int signal = 0;
  {
    std::lock_guard guard(holding);
    if (--holders > 0)
      return;
    holdActions.reset();
    signal = heldSignal;
  }
  if (signal)
    raise(signal);
}

static std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

Interruption::Interruption() : before() {
  sigaction(SIGINT, nullptr, &before);
  if (before.sa_handler == SIG_IGN)
    return;
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

Interruption::~Interruption() { sigaction(SIGINT, &before, nullptr); }

bool Interruption::came() { return interrupted; }

void Interruption::forget() { interrupted = false; }
