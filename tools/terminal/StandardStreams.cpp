#include "tools/terminal/StandardStreams.h"

#include "tools/terminal/Failure.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace effc::cli;

void effc::cli::openStandardStreams() {
  // In ascending order: open() takes the lowest number that is free, which is
  // the closed one, since all below it are open.
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF)
      continue;
    int mode = stream == STDIN_FILENO ? O_RDONLY : O_WRONLY;
    if (open("/dev/null", mode) != stream)
      _exit(kFailed); // there is nowhere to say why
  }
}
