#include "tools/effc/OutputGuard.h"

#include "tools/terminal/Failure.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace effc;
using namespace effc::cli;
namespace fs = std::filesystem;

std::vector<std::string> effc::cli::filesOf(const Model &model,
                                            const std::string &file,
                                            const ModelAccess &access) {
  std::vector<std::string> files = {file};
  std::error_code failure;
  fs::path folder = fs::canonical(file, failure).parent_path();
  auto description = nlohmann::json::parse(model.describe());
  for (const auto &weights : description["weight_files"]) {
    fs::path name = weights["name"].get<std::string>();
    fs::path place = access.weightsFolder.empty()
                         ? folder / name
                         : access.weightsFolder / name.filename();
    files.push_back(place.string());
  }
  return files;
}

void effc::cli::checkOutput(const std::string &option,
                            const std::string &output,
                            const std::vector<std::string> &inputs) {
  for (const std::string &input : inputs) {
    std::error_code failure; // one of them is not there
    if (fs::equivalent(output, input, failure))
      throw UsageError(option + " would overwrite '" + input + "'");
  }
}

void effc::cli::checkWritable(const std::string &output) {
  auto refuse = [&](const std::string &reason) {
    throw Failure("cannot write '" + output + "': " + reason);
  };
  fs::path target = fs::path(output);
  std::error_code failure; // what cannot be asked is not there
  if (fs::exists(target, failure)) {
    if (!fs::is_regular_file(target, failure))
      refuse("it is not a regular file");
    target = fs::canonical(target, failure);
  }
  // The dot, so that a file in a folder's place is told as what it is.
  if (access((target.parent_path() / ".").c_str(), W_OK | X_OK) != 0)
    refuse(std::strerror(errno));
}
