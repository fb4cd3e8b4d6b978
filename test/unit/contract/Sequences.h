// Sequences of tokens fed to a compiled model in every way: packed into calls,
// cut into pieces, token by token.
#ifndef EFFC_TEST_UNIT_CONTRACT_SEQUENCES_H
#define EFFC_TEST_UNIT_CONTRACT_SEQUENCES_H

#include "test/unit/codegen/host/PlanRunner.h"

#include "gtest/gtest.h"

#include <numeric>

namespace effc::test {

using Tokens = std::vector<int32_t>;

/// `count` tokens below `rows`, from `first` on, of which no two neighbours
/// agree.
inline Tokens tokensOf(int64_t count, int64_t first, int64_t rows) {
  Tokens tokens;
  for (int64_t t = 0; t < count; ++t)
    tokens.push_back((first + 7 * t) % rows);
  return tokens;
}

/// Tokens [from, to) of a sequence that begins with them where `from` is 0.
inline PlanRunner::Segment segmentOf(int32_t slot, llvm::ArrayRef<int32_t> all,
                                     int64_t from, int64_t to) {
  return {slot, from, from == 0, all.slice(from, to - from).vec()};
}

/// 0, 1, ..., count - 1, as output rows and positions of a whole sequence.
inline seq::reference::Tensor<int32_t> countFromZero(int64_t count) {
  seq::reference::Tensor<int32_t> rows({count});
  std::iota(rows.elements().begin(), rows.elements().end(), 0);
  return rows;
}

/// A runner with entries of 64 and 4 rows and three slots; on a GPU bits depend
/// on the pieces of a prompt unless it is to be `bitStable`.
inline PlanRunner
compileForThree(TestModel &model,
                const llvm::StringMap<std::vector<float>> &weights,
                bool bitStable = false) {
  PipelineOptions options;
  options.bitStableOnGpu = bitStable;
  options.prefillRows = {64};
  options.decodeRows = {4};
  PlanRunner runner(model, options, /*slots=*/3);
  for (const auto &[name, elements] : weights)
    runner.setWeight(name, elements);
  return runner;
}

/// The outputs, of `width` numbers per token, of sequences whose tokens but the
/// last share one prefill call, and the last ones a decode call. The slots have
/// been used before.
inline std::vector<std::vector<float>>
runTogether(PlanRunner &runner, llvm::ArrayRef<Tokens> sequences,
            int64_t width) {
  std::vector<PlanRunner::Segment> prefill, decode;
  for (auto [slot, tokens] : llvm::enumerate(sequences)) {
    runner.prefill(segmentOf(slot, sequences.back(), 0, 20));
    int64_t last = tokens.size() - 1;
    prefill.push_back(segmentOf(slot, tokens, 0, last));
    decode.push_back(segmentOf(slot, tokens, last, last + 1));
  }
  std::vector<float> rows = runner.prefill(prefill);
  std::vector<float> ends = runner.decode(decode);
  llvm::ArrayRef<float> rest = rows;
  std::vector<std::vector<float>> outputs;
  for (auto [slot, tokens] : llvm::enumerate(sequences)) {
    size_t size = (tokens.size() - 1) * width;
    outputs.push_back(rest.take_front(size).vec());
    rest = rest.drop_front(size);
    llvm::append_range(outputs.back(),
                       llvm::ArrayRef(ends).slice(slot * width, width));
  }
  return outputs;
}

/// Expects the same bits of a sequence of at least 28 tokens beside another one
/// and alone, in pieces and token by token.
inline void expectSameBitsInAnyPieces(PlanRunner &runner, const Tokens &tokens,
                                      const Tokens &other, int64_t width) {
  int64_t count = tokens.size(), before = other.size();
  runner.parts = 3;
  std::vector<float> whole = runner.prefill(
      {segmentOf(0, other, 0, before), segmentOf(2, tokens, 0, count)});
  whole.erase(whole.begin(), whole.begin() + before * width);
  runner.parts = 1;
  for (std::vector<int64_t> pieces :
       {std::vector<int64_t>{count}, {16, count - 16}, {1, 7, 20}, {}}) {
    std::vector<float> found;
    int64_t at = 0;
    for (int64_t length : pieces) {
      llvm::append_range(
          found, runner.prefill({segmentOf(1, tokens, at, at + length)}));
      at += length;
    }
    for (; at < count; ++at)
      llvm::append_range(found,
                         runner.decode({segmentOf(1, tokens, at, at + 1)}));
    EXPECT_EQ(found, whole) << pieces.size() << " pieces";
  }
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_SEQUENCES_H
