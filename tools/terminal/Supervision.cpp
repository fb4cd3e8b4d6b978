#include "tools/terminal/Supervision.h"

#include "tools/terminal/Failure.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace effc::cli;

/// How long the work may take to end by a signal: its handlers remove output
/// that is half written, which takes milliseconds.
static constexpr timespec kGrace = {2, 0};

namespace {

class Supervisor {
public:
  /// Returns in the work's process alone.
  void run() {
    block();
    makeFolder();
    // What the work leaves running becomes a child of this process.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t self = getpid();
    work = fork();
    if (work < 0) {
      int code = errno;
      removeFolder();
      sigprocmask(SIG_SETMASK, &before, nullptr);
      throw Failure(std::string("cannot start a process for the work: ") +
                    std::strerror(code));
    }
    if (work == 0)
      return beginWork(self);
    int signal = waitForEnd();
    endDescendants();
    removeFolder();
    end(signal);
  }

private:
  /// Signals that are waited for are blocked; those that are ignored are not
  /// waited for.
  void block() {
    std::signal(SIGCHLD, SIG_DFL); // else there would be nothing to wait for
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      struct sigaction action;
      sigaction(signal, nullptr, &action);
      if (action.sa_handler != SIG_IGN)
        sigaddset(&awaited, signal);
    }
    sigprocmask(SIG_BLOCK, &awaited, &before);
  }

  /// Where none can be made, whoever needs a temporary file says so: not all
  /// work does.
  void makeFolder() {
    const char *root = secure_getenv("TMPDIR");
    folder = std::string(root && *root ? root : "/tmp") + "/effc-XXXXXX";
    if (!mkdtemp(folder.data()))
      folder.clear();
  }

  void removeFolder() const {
    std::error_code ignored; // a temporary folder is cleared sooner or later
    if (!folder.empty())
      std::filesystem::remove_all(folder, ignored);
  }

  void beginWork(pid_t supervisor) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != supervisor)
      _exit(EXIT_FAILURE);
    if (!folder.empty())
      setenv("TMPDIR", folder.c_str(), /*overwrite=*/1);
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }

  /// Whether the work has ended; sets its status then.
  bool hasEnded() {
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
      if (ended == work)
        return true;
    return false;
  }

  /// Waits until the work has ended or a signal has ended it: that, or 0.
  int waitForEnd() {
    int received = 0;
    while (!hasEnded()) {
      int signal = received ? sigtimedwait(&awaited, nullptr, &kGrace)
                            : sigwaitinfo(&awaited, nullptr);
      if (signal < 0 && errno == EINTR)
        continue;
      if (signal < 0) { // the grace is over
        kill(work, SIGKILL);
        waitpid(work, &status, 0);
        return received;
      }
      if (signal != SIGCHLD && received == 0)
        kill(work, received = signal);
    }
    return received;
  }

  /// The children of this process: after the work's end all that it has started.
  static void endDescendants() {
    while (true) {
      bool hasChildren = false;
      std::error_code code; // where there is no /proc, children are not found
      std::filesystem::directory_iterator at("/proc", code), end;
      for (; !code && at != end; at.increment(code)) {
        pid_t id = std::atoi(at->path().filename().c_str());
        if (id > 0 && parentOf(id) == getpid()) {
          kill(id, SIGKILL);
          hasChildren = waitpid(id, nullptr, 0) == id || hasChildren;
        }
      }
      if (!hasChildren) // those of the ended ones have come here, too
        return;
    }
  }

  /// The fourth field of /proc/ID/stat, behind the name in brackets.
  static pid_t parentOf(pid_t id) {
    std::string path = "/proc/" + std::to_string(id) + "/stat";
    std::FILE *file = std::fopen(path.c_str(), "re");
    if (!file)
      return -1;
    char line[512];
    size_t count = std::fread(line, 1, sizeof line - 1, file);
    std::fclose(file);
    line[count] = 0;
    const char *name = std::strrchr(line, ')');
    return name && std::strlen(name) > 4 ? std::atoi(name + 4) : -1;
  }

  [[noreturn]] void end(int signal) const {
    if (!signal && WIFSIGNALED(status))
      signal = WTERMSIG(status);
    if (!signal)
      _exit(WEXITSTATUS(status));
    struct rlimit none = {0, 0}; // the work's own core is what tells
    setrlimit(RLIMIT_CORE, &none);
    std::signal(signal, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &only, nullptr);
    _exit(128 + signal); // one that ends nobody
  }

  sigset_t awaited, before;
  std::string folder;
  pid_t work = -1;
  int status = 0;
};

} // namespace

void effc::cli::supervise() { Supervisor().run(); }
