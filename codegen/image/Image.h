// From LLVM IR to a flat image of machine code.
#ifndef EFFC_CODEGEN_IMAGE_IMAGE_H
#define EFFC_CODEGEN_IMAGE_IMAGE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <vector>

namespace llvm {
class Module;
}

namespace effc::image {

/// Import-free position-independent code. Mapped readable and executable at any
/// page-aligned address, it runs as it is.
struct Image {
  struct Function {
    uint64_t offset = 0;     // of the entry point, from the start of `bytes`
    uint64_t stackBytes = 0; // what one call takes, red zone included
  };
  std::vector<uint8_t> bytes;
  llvm::StringMap<Function> functions;
};

/// What LLVM compiles for.
struct Processor {
  std::string triple;        // "x86_64-unknown-linux-gnu"
  std::string cpu, features; // "x86-64-v3", "+avxvnni"
  int64_t vectorBits;        // of the registers that the kernels use
  /// Whether LLVM optimises the code; its bits are the same without.
  bool isOptimised = true;
};

/// Optimises `module`, if that is asked for, and returns the object file.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
emitObject(llvm::Module &module, const Processor &processor);

/// Links an object into an image with `ld.lld`. Fails when the code needs a
/// symbol or a load-time relocation, naming it.
llvm::Expected<Image> linkImage(llvm::MemoryBufferRef object);

} // namespace effc::image

#endif // EFFC_CODEGEN_IMAGE_IMAGE_H
