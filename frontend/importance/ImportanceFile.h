// How much each input of a matrix counts, as llama.cpp's `llama-imatrix` gathers it
// from texts: the mean square of the input, over all tokens.
//
// There are two kinds of files. What is checked (the labels name the tests):
//
//   a GGUF file with NAME.in_sum2, sums of squares, and NAME.counts, tokens, for each
//   matrix; those of experts have a row for each
//   (IM1) it is a right GGUF file (Header.h), and its `general.type`, if any, is
//         "imatrix";
//   (IM2) both tensors are there, are F32, and have as many rows;
//   (IM3) counts are 0 or more; a row without tokens counts as 1 everywhere;
//
//   the older kind: i32 entries, then of each i32 length, name, i32 calls, i32
//   numbers, f32 sums; behind them i32 calls, i32 length, name of the texts, or
//   nothing
//   (IM4) what is left can hold what the counts say, before anything is allocated;
//   (IM5) there is an entry, of at least one number; what follows is only these;
//
//   and of both
//   (IM6) a name is not empty and occurs once;
//   (IM7) numbers are finite, and 0 or more.
#ifndef EFFC_FRONTEND_IMPORTANCE_IMPORTANCEFILE_H
#define EFFC_FRONTEND_IMPORTANCE_IMPORTANCEFILE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace effc::frontend {

class ImportanceFile {
public:
  /// Of one matrix, or of several that lie in one tensor, one after the other.
  using Numbers = std::vector<float>;

  /// Messages call the file by the last part of `path`.
  static llvm::Expected<ImportanceFile> open(llvm::StringRef path);
  /// The same of bytes.
  static llvm::Expected<ImportanceFile> parse(llvm::ArrayRef<uint8_t> bytes,
                                              llvm::StringRef name);

  const std::string &getName() const { return name; }
  uint64_t size() const { return byName.size(); }
  /// Null where the file has no such matrix. Names are those of the tensors that a
  /// GGUF file of the model has: "blk.0.attn_q.weight".
  const Numbers *find(llvm::StringRef matrix) const;
  /// A name of the file, for messages.
  std::string getExample() const;

private:
  explicit ImportanceFile(llvm::StringRef name) : name(name) {}
  llvm::Error parseGguf(llvm::ArrayRef<uint8_t> bytes);
  llvm::Error parseOld(llvm::ArrayRef<uint8_t> bytes);
  llvm::Error add(llvm::StringRef matrix, Numbers numbers);

  std::string name;
  llvm::StringMap<Numbers> byName;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_IMPORTANCE_IMPORTANCEFILE_H
