#include "test/e2e/Process.h"

#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace effc::test;

static std::string contents(std::FILE *file) {
  std::rewind(file);
  std::string text;
  int c;
  while ((c = std::fgetc(file)) != EOF)
    text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

Finished effc::test::runProgram(const std::vector<std::string> &arguments,
                                const std::string &input) {
  std::FILE *in = std::tmpfile(), *out = std::tmpfile(), *err = std::tmpfile();
  if (!in || !out || !err)
    std::abort();
  std::fwrite(input.data(), 1, input.size(), in);
  std::fflush(in);
  std::rewind(in);
  pid_t child = fork();
  if (child == 0) {
    dup2(fileno(in), STDIN_FILENO);
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    std::vector<char *> pointers;
    for (const std::string &argument : arguments)
      pointers.push_back(const_cast<char *>(argument.c_str()));
    pointers.push_back(nullptr);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  int state = 0;
  waitpid(child, &state, 0);
  std::fclose(in);
  int status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  return {status, contents(out), contents(err)};
}
