// A child process of a test.
#ifndef EFFC_TEST_UNIT_RUNTIME_FORKEDCHILD_H
#define EFFC_TEST_UNIT_RUNTIME_FORKEDCHILD_H

#include <functional>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace effc::test {

/// How a forked child ends that runs `body` and nothing else: its exit status, or
/// -1 where a signal ended it, such as that of the alarm after 30 seconds.
inline int statusOfChild(const std::function<int()> &body) {
  pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_RUNTIME_FORKEDCHILD_H
