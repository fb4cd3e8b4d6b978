// safetensors files, under the exact rules of the format's reference reader.
//
//   offset  bytes  content
//        0      8  N, the size of the header, little-endian
//        8      N  a JSON object, from "{" to "}", then nothing but spaces
//    8 + N         the buffer
//
// The header maps a tensor's name to {"dtype", "shape", "data_offsets": [begin,
// end]}, the offsets relative to the buffer, and "__metadata__" to an object of
// strings. What is checked, in this order (the labels name the tests):
//
//   (ST1) the file has the 8 bytes of N;
//   (ST2) N is at most 100,000,000 and the file has the header's N bytes;
//   (ST3) the header starts with "{" and ends with "}" and spaces;
//   (ST4) the header is JSON as Json.h has it, at most 8 deep, without NaN and
//         infinities; names and keys occur once;
//   (ST5) "__metadata__" is an object of strings;
//   (ST6) an entry is an object of "dtype", "shape" and "data_offsets", and of
//         nothing else;
//   (ST7) the dtype is one of ElementType.h, spelled as there;
//   (ST8) the shape is an array of integers from 0 on, and the tensor's size in
//         bits fits 64 bits;
//   (ST9) the offsets are two integers from 0 on, begin at most end;
//   (ST10) the tensor's size is a whole number of bytes;
//   (ST11) end - begin is the tensor's size;
//   (ST12) in the order of their offsets the tensors follow one another from 0
//          on, without hole and without overlap;
//   (ST13) the last one ends where the file ends.
//
// Scalars (shape []) and empty tensors are legal, values are not looked at, and
// nothing is aligned.
#ifndef EFFC_FRONTEND_CHECKPOINT_SAFETENSORS_H
#define EFFC_FRONTEND_CHECKPOINT_SAFETENSORS_H

#include "frontend/checkpoint/TensorFile.h"

#include <string>
#include <utility>
#include <vector>

namespace effc::frontend {

struct SafetensorsHeader {
  /// In the order of their offsets, which are those of the buffer.
  std::vector<TensorEntry> entries;
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Checks (ST3) to (ST13) on a header for a buffer of `bufferBytes`. `name` is
/// the file's, for messages.
llvm::Expected<SafetensorsHeader> parseSafetensorsHeader(llvm::StringRef text,
                                                         uint64_t bufferBytes,
                                                         llvm::StringRef name);

llvm::Expected<std::unique_ptr<TensorFile>>
openSafetensors(llvm::StringRef path, llvm::StringRef name);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_SAFETENSORS_H
