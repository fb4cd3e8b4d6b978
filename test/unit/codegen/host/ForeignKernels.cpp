#include "test/unit/codegen/host/ForeignKernels.h"

#include <cstdlib>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace effc::test;

static const char *runner() { return std::getenv("EFFC_TEST_RUNNER"); }

[[noreturn]] static void fail(const char *what) {
  std::fprintf(stderr, "EFFC_TEST_RUNNER: %s\n", what);
  std::abort();
}

bool ForeignKernels::areThere() { return runner() != nullptr; }

ForeignKernels &ForeignKernels::get() {
  static ForeignKernels program;
  return program;
}

ForeignKernels::ForeignKernels() {
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0)
    fail("there are no pipes");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  for (int end : {to[0], to[1], from[0], from[1]})
    posix_spawn_file_actions_addclose(&actions, end);
  std::string command = std::string("exec ") + runner();
  const char *arguments[] = {"sh", "-c", command.c_str(), nullptr};
  if (posix_spawn(&process, "/bin/sh", &actions, nullptr,
                  const_cast<char *const *>(arguments), environ) != 0)
    fail("the program does not start");
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  input = fdopen(to[1], "wb");
  output = fdopen(from[0], "rb");
}

ForeignKernels::~ForeignKernels() {
  std::fclose(input);
  std::fclose(output);
  waitpid(process, nullptr, 0);
}

void ForeignKernels::send(const void *bytes, size_t size) {
  if (std::fwrite(bytes, 1, size, input) != size)
    fail("the program has ended");
}

void ForeignKernels::receive(void *bytes, size_t size) {
  if (std::fread(bytes, 1, size, output) != size)
    fail("the program has ended");
}

void ForeignKernels::run(const Launch &launch) {
  bool isNew = launch.imageNumber != imageNumber;
  imageNumber = launch.imageNumber;
  uint64_t head[] = {isNew ? launch.image.size() : 0, launch.entry,
                     launch.memories.size(), launch.operands.size()};
  int64_t items[] = {launch.begin, launch.end};
  send(head, sizeof head);
  send(launch.counts, sizeof launch.counts);
  send(items, sizeof items);
  if (isNew)
    send(launch.image.data(), launch.image.size());
  for (const Memory &memory : launch.memories) {
    uint64_t about[] = {memory.bytes.size(), memory.isWritten};
    send(about, sizeof about);
    send(memory.bytes.data(), memory.bytes.size());
  }
  for (const Operand &operand : launch.operands)
    send(&operand, sizeof operand);
  if (std::fflush(input) != 0)
    fail("the program has ended");
  for (const Memory &memory : launch.memories)
    if (memory.isWritten)
      receive(memory.bytes.data(), memory.bytes.size());
}
