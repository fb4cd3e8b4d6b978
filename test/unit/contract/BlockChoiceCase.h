// Cases of attention over chosen blocks: shapes and rules, the ops as text, and what
// they come to by formulas that share nothing with the ops' definitions.
#ifndef EFFC_TEST_UNIT_CONTRACT_BLOCKCHOICECASE_H
#define EFFC_TEST_UNIT_CONTRACT_BLOCKCHOICECASE_H

#include "dialects/seq/reference/Tensor.h"
#include "test/unit/contract/WindowCase.h"

namespace effc::test {

/// Letters are those of `seq.choose_blocks`: H heads, G of keys and of values, M groups
/// that choose together, U blocks each; `C` positions in a block, states for `W`.
struct BlockChoiceCase {
  int64_t H, G, M, K, V, C, U, W;
  int64_t first = 0, last = 1;
  bool isShare = false;
  /// Whether numbers are few and whole, so that many scores are equal, and sums exact.
  bool hasTies = false;

  int64_t blocks() const { return (W + C - 1) / C; }
  double scale() const { return hasTies ? 0.25 : 0.9 / std::sqrt(double(K)); }
  /// Channels of what a token's ops give: attention over what is chosen, then over
  /// means.
  int64_t width() const { return 2 * H * V; }

  std::string text() const;
  /// Names and shapes, after the leading T, of what a token brings: q, k, v.
  std::vector<std::pair<std::string, std::vector<int64_t>>> tokens() const;
  std::vector<std::pair<std::string, std::vector<int64_t>>> states() const;
  /// The three ops on values of these names and %p: %y of choose_blocks and attention,
  /// %z of mix_block_means, and %next_<state>; `rows` is T as a type has it.
  std::string opText(const std::string &rows) const;
  double element(Random &random) const;
};

/// A case by chance that fits `tokens` positions.
BlockChoiceCase pickBlockChoice(Random &random, int64_t tokens);

/// The blocks that group `m` of the token at position `p` chooses, and what heads then
/// mix, by the keys and values of all positions: means are formed anew, blocks sorted.
class BlockChoiceFormula {
public:
  using Tensor = seq::reference::Tensor<double>;
  /// q [T, H, K], k [T, G, K], v [T, G, V] of positions from 0 on.
  BlockChoiceFormula(const BlockChoiceCase &shape, const Tensor &q,
                     const Tensor &k, const Tensor &v)
      : s(shape), q(q), k(k), v(v) {}

  std::vector<int64_t> chosen(int64_t p, int64_t m) const;
  /// [H V] of either op.
  std::vector<double> overChosen(int64_t p) const;
  std::vector<double> overMeans(int64_t p) const;

private:
  /// Query `h` at `p` with the mean key of block `c`, scaled.
  double meanScore(int64_t p, int64_t h, int64_t c) const;
  BlockChoiceCase s;
  const Tensor &q, &k, &v;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_BLOCKCHOICECASE_H
