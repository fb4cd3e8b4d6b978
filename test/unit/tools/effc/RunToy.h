//===- RunToy.h - `effc run` on the toy model -----------------------------===//
#ifndef EFFC_TEST_UNIT_TOOLS_EFFC_RUNTOY_H
#define EFFC_TEST_UNIT_TOOLS_EFFC_RUNTOY_H

#include "test/e2e/Process.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace effc::test {

/// Starts `effc run` with the file at `path`.
Finished run(const std::string &path, std::vector<std::string> arguments,
             const std::string &input = "");
/// The document of `effc run --json`, which has to succeed.
nlohmann::json runJson(const std::string &path,
                       std::vector<std::string> arguments);

/// A toy's file that lives as long as the program.
const std::string &toyPath();

/// What greedy generation gives by the toy's own reference, at most `count`
/// tokens and none from the end on.
std::vector<int32_t> greedy(const std::vector<int32_t> &prompt, size_t count);

} // namespace effc::test

#endif // EFFC_TEST_UNIT_TOOLS_EFFC_RUNTOY_H
