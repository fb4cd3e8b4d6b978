#include "tools/terminal/LineEditor.h"

#include "tools/terminal/Terminal.h"

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <unistd.h>

#ifdef EFFC_HAS_LIBEDIT
#include <editline/readline.h>
#endif

using namespace effc::cli;

bool LineEditor::isInteractive() {
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

std::optional<std::string> LineEditor::read(const std::string &prompt) {
#ifdef EFFC_HAS_LIBEDIT
  if (isInteractive()) {
    // Letters of more bytes than one are moved over as one.
    static bool localeIsSet = std::setlocale(LC_CTYPE, "") != nullptr;
    (void)localeIsSet;
    rl_bind_key('\t', rl_insert);
    std::unique_ptr<char, void (*)(void *)> line(readline(prompt.c_str()),
                                                 std::free);
    return line ? std::optional<std::string>(line.get()) : std::nullopt;
  }
#endif
  if (isInteractive()) {
    print(prompt);
    flushOutput();
  }
  std::string line;
  if (!std::getline(std::cin, line))
    return std::nullopt;
  return line;
}

void LineEditor::remember(const std::string &text) {
#ifdef EFFC_HAS_LIBEDIT
  if (isInteractive())
    add_history(text.c_str());
#endif
}
