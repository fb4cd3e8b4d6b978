// Retrieval from its definition: every row is scored, and the best are chosen
// among all of them.
#ifndef EFFC_DIALECTS_SEQ_REFERENCE_RETRIEVAL_H
#define EFFC_DIALECTS_SEQ_REFERENCE_RETRIEVAL_H

#include "dialects/seq/reference/Selection.h"
#include "dialects/seq/reference/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace effc::seq::reference {

/// The scores of all rows of one head: of row i S + j the sum of those of key i
/// on the first axis and key j on the second. `scores` is [T, axes, H, S].
template <typename S>
std::vector<ScoredRow<S>> scoreRows(const Tensor<S> &scores, int64_t token,
                                    int64_t head) {
  int64_t keys = scores.getDim(3);
  std::vector<ScoredRow<S>> rows;
  for (int64_t i = 0; i < keys; ++i) {
    if (scores.getDim(1) == 1) {
      rows.push_back({scores(token, 0, head, i), i});
      continue;
    }
    for (int64_t j = 0; j < keys; ++j)
      rows.push_back({scores(token, 0, head, i) + scores(token, 1, head, j),
                      i * keys + j});
  }
  return rows;
}

/// Calls `use` with token, row and weight of everything that `record` chooses,
/// head after head. With `order`, of the shape of `scores`, it is chosen by
/// these numbers.
template <typename S>
void retrieve(const Tensor<S> &scores, RetrievalAttr record,
              llvm::function_ref<void(int64_t, int64_t, S)> use,
              const Tensor<S> *order = nullptr) {
  for (int64_t t = 0; t < scores.getDim(0); ++t)
    for (int64_t h = 0; h < record.getHeads(); ++h) {
      std::vector<ScoredRow<S>> rows = scoreRows(scores, t, h);
      std::vector<ScoredRow<S>> chosen =
          best(order ? scoreRows(*order, t, h) : rows, record.getTopK());
      for (ScoredRow<S> &row : chosen)
        row.score = rows[row.row].score;
      std::vector<S> weights = weigh<S>(record.getWeighting(), chosen, [&] {
        std::vector<S> all;
        for (const ScoredRow<S> &row : rows)
          all.push_back(row.score);
        return logSumExp<S>(all);
      });
      for (int64_t j = 0; j < record.getTopK(); ++j)
        use(t, chosen[j].row, weights[j]);
    }
}

} // namespace effc::seq::reference

#endif // EFFC_DIALECTS_SEQ_REFERENCE_RETRIEVAL_H
