// What a weight lost when it was stored in another type than its source.
#ifndef EFFC_CODEGEN_ARTIFACT_WEIGHTLOSS_H
#define EFFC_CODEGEN_ARTIFACT_WEIGHTLOSS_H

#include "dialects/storage/Storage.h"

namespace effc::codegen {

/// Sums over the numbers of one weight, or of several.
struct WeightLoss {
  uint64_t elements = 0, bytes = 0;
  double squares = 0;      // of the source's numbers
  double errorSquares = 0; // of what is stored less the source's numbers
  double largestError = 0; // in magnitude
  /// The sums of squares by the importance of columns, where it is known.
  double importantSquares = 0, importantErrorSquares = 0;

  /// Adds numbers of a row, and the bytes that stand for them, padding included.
  /// `importance` is of its columns, or of those of each matrix in it; it may be empty.
  void add(storage::Storage storage, llvm::ArrayRef<float> numbers,
           llvm::ArrayRef<uint8_t> stored,
           llvm::ArrayRef<float> importance = {});
  void add(const WeightLoss &other);

  /// Root of the squared errors over that of the squares; 0 where all numbers are.
  double relative() const;
  /// The same by the importance of columns.
  double importantRelative() const;
  /// The largest error over the root of the mean square; 0 where all numbers are.
  double largest() const;
  double bitsPerElement() const;
};

} // namespace effc::codegen

#endif // EFFC_CODEGEN_ARTIFACT_WEIGHTLOSS_H
