// effc-test-write-toy OUT: the toy model of the runtime's tests as a file, for
// scripts that need a model which costs nothing to run.

#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cstdio>
#include <fstream>

int main(int argc, char **argv) {
  if (argc != 2)
    return std::fprintf(stderr, "usage: effc-test-write-toy OUT\n"), 2;
  std::vector<uint8_t> bytes = effc::test::makeToyArtifact();
  std::ofstream file(argv[1], std::ios::binary);
  file.write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return file.flush() ? 0 : 1;
}
