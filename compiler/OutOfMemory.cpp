// Must not allocate: there is nothing left to allocate.
#include "compiler/OutOfMemory.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <new>
#include <unistd.h>

static int exitStatus = 1;

[[noreturn]] static void end() {
  static constexpr char kLine[] = "effc: error: out of memory\n";
  // Where standard error takes nothing, the status still says it.
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, kLine, sizeof(kLine) - 1);
  llvm::sys::RunInterruptHandlers(); // files half written
  _exit(exitStatus);
}

void effc::endWhenOutOfMemory(int status) {
  exitStatus = status;
  std::set_new_handler(end);
  // malloc() and its relatives, as LLVM's containers call them.
  static bool isInstalled = false; // LLVM takes one
  if (!isInstalled)
    llvm::install_bad_alloc_error_handler(
        [](void *, const char *, bool) { end(); });
  isInstalled = true;
}
