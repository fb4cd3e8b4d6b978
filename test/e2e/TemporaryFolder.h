//===- TemporaryFolder.h - A folder that goes with its object -------------===//
#ifndef EFFC_TEST_E2E_TEMPORARYFOLDER_H
#define EFFC_TEST_E2E_TEMPORARYFOLDER_H

#include <string>
#include <vector>

namespace effc::test {

class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  /// The path of `name` in it.
  std::string at(const std::string &name) const { return path + "/" + name; }
  /// The names in it, sorted.
  std::vector<std::string> names() const;

private:
  std::string path;
};

} // namespace effc::test

#endif // EFFC_TEST_E2E_TEMPORARYFOLDER_H
