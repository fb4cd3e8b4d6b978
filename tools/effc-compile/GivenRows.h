// What a compiled file is to give in place of logits.
#ifndef EFFC_TOOLS_EFFC_COMPILE_GIVENROWS_H
#define EFFC_TOOLS_EFFC_COMPILE_GIVENROWS_H

#include "compiler/Compiler.h"

#include <CLI/CLI.hpp>

namespace effc::cli {

/// As typed: at most one of them.
struct GivenRows {
  std::vector<std::string> taps;
  bool hidden = false, productInputs = false;
};

void declareGivenRows(CLI::App &app, GivenRows &rows);

/// Copies the choice; what is wrong with it, or nothing.
std::string choose(const GivenRows &rows, CompileOptions &options);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_COMPILE_GIVENROWS_H
