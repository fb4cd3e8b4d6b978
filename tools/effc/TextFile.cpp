#include "tools/effc/TextFile.h"

#include "runtime/src/PartialFile.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Signals.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace effc;
using namespace effc::cli;

void cli::writeTextFile(const std::string &path, const std::string &text) {
  HoldSignals held;
  replaceTextFile(path, text);
}

void cli::replaceTextFile(const std::string &path, const std::string &text) {
  rt::PartialFile file;
  int code = file.begin(path);
  for (size_t at = 0; !code && at < text.size();) {
    ssize_t written =
        ::write(file.descriptor(), text.data() + at, text.size() - at);
    if (written >= 0)
      at += static_cast<size_t>(written);
    else if (errno != EINTR)
      code = errno;
  }
  if (!code)
    code = file.finish(/*durable=*/true);
  if (code)
    throw Failure("cannot write '" + path + "': " +
                  (code == rt::PartialFile::kNotRegular
                       ? "it is not a regular file"
                       : std::strerror(code)));
}
