// Kernels of another architecture, run by a program of theirs that EFFC_TEST_RUNNER
// names with its arguments: test/aarch64/run_kernels.c, say, behind an emulator.
//
// The program is told launch after launch on its standard input, in words of 64 bits:
//
//   bytes of the image (0: as before), entry, memories, operands, four counts, the
//   first item, the one behind the last
//   the image
//   for each memory: its bytes, whether the kernel writes to it; what is in it
//   for each operand: the number of its memory, the byte where it begins
//
// and answers with the memories that are written to.
#ifndef EFFC_TEST_UNIT_CODEGEN_HOST_FOREIGNKERNELS_H
#define EFFC_TEST_UNIT_CODEGEN_HOST_FOREIGNKERNELS_H

#include <cstdint>
#include <cstdio>
#include <span>
#include <sys/types.h>
#include <vector>

namespace effc::test {

class ForeignKernels {
public:
  struct Memory {
    std::span<uint8_t> bytes;
    bool isWritten;
  };
  struct Operand {
    uint64_t memory, offset;
  };
  struct Launch {
    std::span<const uint8_t> image;
    uint64_t imageNumber; ///< no other image has it
    uint64_t entry;       ///< in the image
    std::vector<Memory> memories;
    std::vector<Operand> operands;
    const int64_t (&counts)[4];
    int64_t begin, end;
  };

  /// Whether there is such a program.
  static bool areThere();
  /// The program, started when it is first asked for.
  static ForeignKernels &get();

  /// Runs a launch. The test process ends where the program does: a kernel touched
  /// what is not its own.
  void run(const Launch &launch);

private:
  ForeignKernels();
  ~ForeignKernels();
  void send(const void *bytes, size_t size);
  void receive(void *bytes, size_t size);

  std::FILE *input = nullptr, *output = nullptr; ///< the program's
  pid_t process = 0;
  uint64_t imageNumber = 0; ///< of what the program has
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CODEGEN_HOST_FOREIGNKERNELS_H
