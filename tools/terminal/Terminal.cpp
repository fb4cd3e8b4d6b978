#include "tools/terminal/Terminal.h"

#include "tools/terminal/Failure.h"
#include "tools/terminal/SafeText.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace effc::cli;

static bool errorIsTerminal() { return isatty(STDERR_FILENO) == 1; }

static bool useColour() {
  const char *refused = std::getenv("NO_COLOR");
  return errorIsTerminal() && !(refused && *refused);
}

static void printDiagnostic(const char *kind, const char *colour,
                            std::string_view message) {
  bool colours = useColour();
  // Names in a message come from files.
  std::string safe = withoutControls(message);
  std::fflush(stdout); // what came before stands before
  std::fprintf(stderr, "effc: %s%s:%s %s\n", colours ? colour : "", kind,
               colours ? "\x1b[0m" : "", safe.c_str());
}

void effc::cli::printError(std::string_view message) {
  printDiagnostic("error", "\x1b[1;31m", message);
}

void effc::cli::printWarning(std::string_view message) {
  printDiagnostic("warning", "\x1b[1;35m", message);
}

void effc::cli::printNote(std::string_view message) {
  printDiagnostic("note", "\x1b[1m", message);
}

void effc::cli::printAside(std::string_view text) {
  bool colours = useColour();
  std::string safe;
  if (errorIsTerminal())
    text = safe = withoutControls(text);
  std::fflush(stdout); // what came before stands before
  std::fprintf(stderr, "%s%.*s%s", colours ? "\x1b[2m" : "",
               static_cast<int>(text.size()), text.data(),
               colours ? "\x1b[0m" : "");
}

static void outputFailed() {
  throw Failure(std::string("cannot write to standard output: ") +
                std::strerror(errno));
}

void effc::cli::print(std::string_view text) {
  static const bool isTerminal = isatty(STDOUT_FILENO) == 1;
  std::string safe;
  if (isTerminal)
    text = safe = withoutControls(text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    outputFailed();
}

void effc::cli::flushOutput() {
  if (std::fflush(stdout) != 0)
    outputFailed();
}
