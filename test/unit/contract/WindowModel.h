// A model of one window op between an embedding, whose table holds the operands
// of every token of a test, and a choice of rows, which leads its result out;
// and sequences for it.
#ifndef EFFC_TEST_UNIT_CONTRACT_WINDOWMODEL_H
#define EFFC_TEST_UNIT_CONTRACT_WINDOWMODEL_H

#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/contract/WindowCase.h"

namespace effc::test {

/// A sequence: its tokens, where it starts and the states it has there.
struct WindowSequence {
  std::vector<int32_t> tokens;
  int64_t start = 0;
  std::vector<std::vector<float>> states; // empty: it begins here

  PlanRunner::Segment segment(int32_t slot, int64_t from, int64_t to) const;
  int64_t size() const { return tokens.size(); }
};

/// What a sequence's tokens gave, and its last states: bits to compare.
struct WindowOutcome {
  std::vector<float> outputs, states;
  bool operator==(const WindowOutcome &) const = default;
};

class WindowModel {
public:
  WindowModel(const WindowCase &shape, uint64_t seed);

  /// Prefill calls of up to 192 rows, decode calls of up to 8.
  static PipelineOptions optionsFor(StateStorage states,
                                    Products products = Products::F32);
  /// With 7 slots; `inspect` sees the module before it is compiled.
  PlanRunner
  compile(const PipelineOptions &options,
          llvm::function_ref<void(mlir::ModuleOp)> inspect = nullptr);
  /// Kernels with states of f32, compiled once for all tests; on a GPU decode has the
  /// bits of prefill where it is to be `bitStable`.
  PlanRunner &compiled(bool bitStable = false);

  /// A sequence of `length` tokens of the table; one that starts later than at
  /// 0 has states, which tokens before it may have left.
  WindowSequence pickSequence(int64_t length, int64_t start);
  void place(PlanRunner &runner, const WindowSequence &sequence, int32_t slot);
  std::vector<float> states(PlanRunner &runner, int32_t slot);

  /// Outputs of every token, and the states after the last; rows of a ring that
  /// no token has reached are what they were.
  std::pair<std::vector<double>, std::vector<double>>
  expected(const WindowSequence &sequence) const;

  /// Feeds a sequence in pieces of the given lengths, the rest by decode calls.
  WindowOutcome inPieces(PlanRunner &runner, const WindowSequence &sequence,
                         llvm::ArrayRef<int64_t> pieces);
  /// Rows that no token reaches are compared too: a ring's keep this, and those
  /// of first tokens, which another sequence has left, become 0.
  void clear(PlanRunner &runner, int32_t slot);

  WindowCase shape;

private:
  Random random;
  TestModel model;
  llvm::StringMap<std::vector<float>> weights;
  std::optional<PlanRunner> runners[2]; // by whether bits are stable
};

/// Sequences of 1 to 47 tokens that begin here or start on and off the grid of
/// blocks, before and after a ring has gone round: 172 rows in all, of which
/// the last two of each are for decode calls.
std::vector<WindowSequence> pickSequences(WindowModel &w);
/// All but the last `decoded` tokens of each, as one call.
std::vector<PlanRunner::Segment>
prefixes(llvm::ArrayRef<WindowSequence> sequences, int64_t decoded);
/// One prefill of seven sequences, then two decode calls, against the reference
/// over all their tokens. Returns the larger error of outputs and states;
/// states that are stored in another type begin at nothing and are not
/// compared.
double worstError(WindowModel &w, PlanRunner &runner, bool compareStates);
/// The same of other sequences, of 3 tokens or more each.
double worstError(WindowModel &w, PlanRunner &runner, bool compareStates,
                  std::vector<WindowSequence> sequences);

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_WINDOWMODEL_H
