// Sums of the rows of each block of positions, token by token.
#ifndef EFFC_DIALECTS_SEQ_REFERENCE_BLOCKSUMS_H
#define EFFC_DIALECTS_SEQ_REFERENCE_BLOCKSUMS_H

#include "dialects/seq/reference/Frame.h"

namespace effc::seq::reference {

/// Fails unless positions follow one another, from 0 on, and end inside of `blocks`
/// blocks of `block` positions.
inline llvm::Error checkBlockPositions(const Tensor<int32_t> &positions,
                                       int64_t blocks, int64_t block) {
  for (int64_t t = 0; t < positions.size(); ++t) {
    if (positions(t) < 0 || (t > 0 && positions(t) != positions(t - 1) + 1))
      return fail("expects 'positions' of at least 0, each one more than the "
                  "one before, but got " +
                  llvm::Twine(positions(t)) + " for token " + llvm::Twine(t));
    if (positions(t) / block >= blocks)
      return fail("expects 'positions' inside of " + llvm::Twine(blocks) +
                  " blocks of " + llvm::Twine(block) + ", but got " +
                  llvm::Twine(positions(t)));
  }
  return llvm::Error::success();
}

/// Adds row `t` of `rows` [T, G, K] to the sum of its block in `sums` [L, G, K], which
/// begins anew with the block.
template <typename S>
void addToBlock(Tensor<S> &sums, const Tensor<S> &rows, int64_t t,
                int64_t position, int64_t block) {
  int64_t size = sums.size() / sums.getDim(0);
  S *sum = sums.elements().data() + position / block * size;
  const S *row = rows.elements().data() + t * size;
  for (int64_t i = 0; i < size; ++i)
    sum[i] = (position % block == 0 ? S(0) : sum[i]) + row[i];
}

/// scale times the product of query `h` of token `t` with the mean of block `c`.
template <typename S>
S meanScore(const Tensor<S> &q, int64_t t, int64_t h, const Tensor<S> &sums,
            int64_t c, int64_t block, S scale) {
  int64_t g = h / (q.getDim(1) / sums.getDim(1));
  S score = 0;
  for (int64_t i = 0; i < q.getDim(2); ++i)
    score += q(t, h, i) * (sums(c, g, i) / S(block));
  return score * scale;
}

} // namespace effc::seq::reference

#endif // EFFC_DIALECTS_SEQ_REFERENCE_BLOCKSUMS_H
