//===- ElfImage.h - A shared object as the flat blob it loads as ----------===//
#ifndef EFFC_TEST_UNIT_RUNTIME_TOY_ELFIMAGE_H
#define EFFC_TEST_UNIT_RUNTIME_TOY_ELFIMAGE_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace effc::test {

/// The loadable segments of an ELF file at their addresses, and where its
/// functions start. The code must need no relocation.
struct ElfImage {
  std::vector<uint8_t> bytes;
  std::map<std::string, uint64_t> functions;
};

/// Aborts when `path` is no such file: the build made it.
ElfImage readElfImage(const std::string &path);

} // namespace effc::test

#endif // EFFC_TEST_UNIT_RUNTIME_TOY_ELFIMAGE_H
