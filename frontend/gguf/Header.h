// What a GGUF file says before its tensors' bytes.
//
//   "GGUF", u32 version, i64 tensors, i64 keys,
//   keys: name, u32 type, value; tensors: name, u32 n, n x i64 (the innermost
//   dimension first), i32 type, u64 offset; padding; the tensors' bytes
//
// Strings are a u64 length and bytes; an array is a u32 type, a u64 count and
// elements. All numbers are little-endian. What is checked, in this order (the
// labels name the tests):
//
//   (GG1) the file begins with "GGUF";
//   (GG2) the version is 2 or 3; a file of the other byte order is named;
//   (GG3) what is left can hold as many keys and tensors as the counts say;
//   (GG4) a key's name is not empty, has at most 65,535 bytes, and occurs once;
//   (GG5) a value's type is one of Metadata.h, an array's is no array;
//   (GG6) a string has at most 2^30 bytes, an array at most 2^26 elements, and
//         what is left can hold them, before anything is allocated;
//   (GG7) a bool is 0 or 1;
//   (GG8) `general.alignment` is a u32, a power of two, at most 65,536;
//   (GG9) a tensor's name is not empty, has at most 63 bytes, and occurs once;
//   (GG10) it has 1 to 4 dimensions from 1 on, and its elements are fewer than
//          2^63;
//   (GG11) its type is one of Types.h;
//   (GG12) its rows are whole blocks, and its bytes are fewer than 2^63;
//   (GG13) it begins where the one before it ends, rounded up to the alignment;
//   (GG14) the file ends where the last one does, or within the padding after it.
//
// Shapes are turned around: the innermost dimension comes last, as elsewhere.
#ifndef EFFC_FRONTEND_GGUF_HEADER_H
#define EFFC_FRONTEND_GGUF_HEADER_H

#include "frontend/checkpoint/TensorFile.h"
#include "frontend/gguf/Metadata.h"

namespace effc::frontend {

struct GgufHeader {
  uint32_t version;
  uint32_t alignment;
  GgufMetadata metadata;
  TensorTable tensors;
};

/// Whether a file that begins so is one of these, of any version.
bool isGguf(llvm::ArrayRef<uint8_t> start);

/// Checks all rules on the bytes of a whole file, of which each is read at most
/// once: a file that changes meanwhile gives a header that holds to the rules all
/// the same. `name` is the file's, for messages.
llvm::Expected<GgufHeader> parseGgufHeader(llvm::ArrayRef<uint8_t> file,
                                           llvm::StringRef name);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_HEADER_H
