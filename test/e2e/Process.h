//===- Process.h - Runs a program and keeps what it says ------------------===//
#ifndef EFFC_TEST_E2E_PROCESS_H
#define EFFC_TEST_E2E_PROCESS_H

#include <string>
#include <vector>

namespace effc::test {

struct Finished {
  int status; // exit status; 128 + the signal that ended it
  std::string out;
  std::string err;
};

/// Runs `arguments[0]` with the rest, `input` on its standard input.
Finished runProgram(const std::vector<std::string> &arguments,
                    const std::string &input = "");

} // namespace effc::test

#endif // EFFC_TEST_E2E_PROCESS_H
