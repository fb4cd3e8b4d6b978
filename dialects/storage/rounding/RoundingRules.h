// The rules themselves: what each takes besides the numbers. Their sums are f32 in
// the order of the elements, as in ggml-quants.c of llama.cpp (ggml 0.25), whose
// function each names; the expressions are that file's (MIT, see NOTICE).
#ifndef EFFC_DIALECTS_STORAGE_ROUNDING_ROUNDINGRULES_H
#define EFFC_DIALECTS_STORAGE_ROUNDING_ROUNDINGRULES_H

#include "dialects/storage/rounding/Rounding.h"

namespace effc::storage {

/// Codes of -half to half - 1: the largest magnitude has the code -half, whatever
/// its sign (quantize_row_q4_0_ref: 8, quantize_row_q5_0_ref: 16).
void roundSigned(llvm::ArrayRef<float> numbers, uint32_t half,
                 RoundedBlock &block);

/// Codes of 0 to `most` between the least and the largest number
/// (quantize_row_q4_1_ref: 15, quantize_row_q5_1_ref: 31).
void roundRange(llvm::ArrayRef<float> numbers, uint32_t most,
                RoundedBlock &block);

/// How quantize_row_q2_K_ref, q4_K_ref and q5_K_ref differ.
struct GroupedRanges {
  size_t group;      // elements that share a scale and an offset
  int most;          // largest code
  int mostScale;     // largest second factor
  float first, step; // scales that are tried: (most + first + i step) / range
  int tries;         // i is 0 to this
  bool byMagnitude;  // errors count as they are, not squared
};
/// Groups of codes of 0 to `most`: of some scales with their best offsets, the one
/// of the least weighted error.
void roundGroupedRanges(llvm::ArrayRef<float> numbers,
                        const GroupedRanges &rule, RoundedBlock &block);
/// The same by the importance of columns: the factors of the groups are searched for
/// too (quantize_row_q2_K_impl, q4_K_impl and q5_K_impl).
void roundImportantRanges(llvm::ArrayRef<float> numbers,
                          const GroupedRanges &rule,
                          const Importance &importance, RoundedBlock &block);
/// One such group (quantize_row_q4_1_impl: 15, quantize_row_q5_1_impl: 31).
void roundImportantRange(llvm::ArrayRef<float> numbers, int most,
                         const Importance &importance, RoundedBlock &block);

/// Groups of 16 codes of -4 to 3, improved one by one (quantize_row_q3_K_ref); by the
/// importance of columns, of nineteen scales the best (quantize_row_q3_K_impl).
void roundByExchange(llvm::ArrayRef<float> numbers,
                     const Importance &importance, RoundedBlock &block);

/// Groups of 16 codes of -32 to 31, of nineteen scales the one of the least
/// weighted error (quantize_row_q6_K_ref, quantize_row_q6_K_impl).
void roundBySearch(llvm::ArrayRef<float> numbers, const Importance &importance,
                   RoundedBlock &block);

/// One group of codes of -half to half - 1 by the importance of columns
/// (quantize_row_q4_0_impl: 8, quantize_row_q5_0_impl: 16).
void roundImportantSigned(llvm::ArrayRef<float> numbers, int half,
                          const Importance &importance, RoundedBlock &block);

/// Codes that stand for entries of the type's table: of some scales the one of the
/// least weighted error, for one group of 32 (quantize_iq4_nl) or for eight, whose
/// scales are integers then (quantize_iq4_xs).
void roundToTable(BlockType type, llvm::ArrayRef<float> numbers,
                  const Importance &importance, RoundedBlock &block);

/// The same where the scale is the power of two that the largest magnitude asks
/// for (quantize_row_mxfp4_ref).
void roundToTableByExponent(BlockType type, llvm::ArrayRef<float> numbers,
                            RoundedBlock &block);

/// The mean of the squares, added in the order of the numbers.
float meanSquareOf(llvm::ArrayRef<float> numbers);

/// What numbers of a group count for: importance, times the root of `square` and the
/// number's own square.
llvm::SmallVector<float, 32> weigh(llvm::ArrayRef<float> numbers,
                                   llvm::ArrayRef<float> importance,
                                   float square);

/// The integer next to a number below 2^22, halves to even. Other numbers give
/// some integer, where the public library's result is undefined.
int nearestInteger(float number);

/// The first number of the largest magnitude; 0 where all are 0.
float largestOf(llvm::ArrayRef<float> numbers);

/// Groups with no larger number than this are zeros.
constexpr float kLeastMagnitude = 1e-15f;

} // namespace effc::storage

#endif // EFFC_DIALECTS_STORAGE_ROUNDING_ROUNDINGRULES_H
