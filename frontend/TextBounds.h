// What a text may hold before MLIR's parser sees it.
#ifndef EFFC_FRONTEND_TEXTBOUNDS_H
#define EFFC_FRONTEND_TEXTBOUNDS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace effc::frontend {

/// MLIR's parser has no limits of its own. A text beyond these takes it
/// minutes, gigabytes or the stack.
struct TextBounds {
  /// Characters of the whole text. The largest public models have some
  /// megabytes.
  uint64_t text = uint64_t(64) << 20;
  /// Levels of brackets, of aliases for what has levels, and of operators in a
  /// row: the parser calls itself once for each.
  unsigned levels = 256;
  /// Characters that aliases stand for, over all places that use one: a value
  /// is printed, and walked, as if none of its parts were shared. Models of
  /// kMostOps ops with three maps each have some 12 million.
  uint64_t aliased = uint64_t(16) << 20;
  /// Characters of a name or number: the parser reads the dimensions "1x1x1x"
  /// of a type, and the digits of a number, in time that grows as the square.
  size_t word = 4096;
  /// Bits of an integer type, of which models have at most 64 and MLIR allows
  /// 16,777,215: each number of such a type takes as many.
  uint64_t integerBits = 1024;
};

/// Where and why a text goes beyond its bounds.
struct TextExcess {
  size_t at; // a position in the text
  std::string reason;
};

/// The first excess of `text`, in one pass over it. Strings and comments have no
/// levels and no words.
std::optional<TextExcess> findTextExcess(llvm::StringRef text,
                                         const TextBounds &bounds);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_TEXTBOUNDS_H
