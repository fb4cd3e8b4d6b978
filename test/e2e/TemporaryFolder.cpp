#include "test/e2e/TemporaryFolder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

using namespace effc::test;

TemporaryFolder::TemporaryFolder() {
  path = std::filesystem::temp_directory_path() / "effc-test-XXXXXX";
  if (!mkdtemp(path.data()))
    std::abort();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}
