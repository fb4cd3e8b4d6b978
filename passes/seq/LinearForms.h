// The forms of a linear recurrence, as primitive ops.
//
// Unrolled over a block of C tokens after the state S_0, with D_ij the decay
// from token j to token i and D_i that from the block's start (each an
// exponential of a sum of log-decays, along the axis that decays):
//
//   read_i = D_i query_i @ S_0 + sum_{j <= i} (query_i D_ij key_j) value_j
//   S_C    = D_C S_0 + sum_j (D_Cj key_j) (x) value_j
//
// With rank-one corrections the values are what they would be without, plus
// what the probes read, z: a triangular system in the block's tokens,
//
//   z_i = D_i probe_i @ S_0 + sum_{j < i} (probe_i D_ij key_j) value_j
//                           + sum_{j < i} (probe_i D_ij erase_j) z_j
//
// A reader before its own write or decay takes the sums up to the token before.
// Every factor is the exponential of a sum of log-decays; none is a quotient or
// a difference, so a decay of -1e4 costs no later token its precision.
#ifndef EFFC_PASSES_SEQ_LINEARFORMS_H
#define EFFC_PASSES_SEQ_LINEARFORMS_H

#include "dialects/seq/SeqAttributes.h"

#include "mlir/IR/Builders.h"

namespace effc::seq {

/// The canonical quantities of some tokens, heads split into groups, and the
/// state before the first of them. Absent ones are null.
struct LinearTokens {
  /// [T, G, K], or of complex numbers [T, G, R, K, V] as well.
  mlir::Value query, key;
  mlir::Value value;           ///< [T, G, R, V]
  mlir::Value headLogDecay;    ///< [T, G, R], nats
  mlir::Value keyLogDecay;     ///< [T, G, R, K]
  mlir::Value valueLogDecay;   ///< [T, G, R, V]
  mlir::Value elementLogDecay; ///< [T, G, R, K, V]
  /// Of complex numbers: what decays turn by, of the shape of the log-decays,
  /// and imaginary parts of the shapes of the real ones; else null.
  mlir::Value turn, turnImaginary, queryImaginary, keyImaginary, stateImaginary;
  mlir::Value bonusKey; ///< [T, G, K]
  mlir::Value probe;    ///< [T, G, K]
  mlir::Value erase;    ///< [T, G, R, K]
  mlir::Value state;    ///< [G, R, K, V]

  /// The members that lead with T, in the order above.
  llvm::SmallVector<mlir::Value *> perToken();
  int64_t getCount() const;
};

/// What of the structure record a form needs beside the quantities.
struct LinearOrder {
  ReadOrder read = ReadOrder::AfterWrite;
  LowRankPair lowRank = LowRankPair::None;
};

/// What a form computes from them.
struct LinearResult {
  mlir::Value read;                ///< [T, G, R, V]
  mlir::Value state;               ///< [G, R, K, V], after the last token
  mlir::Value stateImaginary = {}; ///< of complex numbers; else null
};

/// Builds one form of a recurrence.
class LinearForms {
public:
  LinearForms(mlir::OpBuilder &builder, mlir::Location loc, LinearOrder order)
      : builder(builder), loc(loc), order(order) {}

  /// Token by token: a scan of chunk 1 over the recurrence as it is written.
  LinearResult step(const LinearTokens &tokens);
  /// All tokens as one block (LinearBlock.cpp, LinearComplex.cpp).
  LinearResult quadratic(const LinearTokens &tokens);
  /// A scan over the full blocks of `chunk` tokens, then a block of those left.
  /// Blocks of decays per element or of complex ones are associative scans.
  LinearResult chunkwise(const LinearTokens &tokens, int64_t chunk);
  /// An associative scan over all tokens; without rank-one corrections
  /// (LinearScan.cpp).
  LinearResult scan(const LinearTokens &tokens);

  /// The tokens of a block whose decays per channel are formed together.
  static constexpr int64_t kSubBlock = 16;

private:
  mlir::Value contract(mlir::Value lhs, llvm::StringRef lhsLetters,
                       mlir::Value rhs, llvm::StringRef rhsLetters,
                       llvm::StringRef outLetters);
  mlir::Value exp(mlir::Value x);
  /// a + b, where a null one is 0.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value slice(mlir::Value x, int64_t axis, int64_t first, int64_t count);
  mlir::Value rows(mlir::Value x, int64_t first, int64_t count) {
    return slice(x, 0, first, count);
  }
  mlir::Value concat(mlir::ValueRange xs, int64_t axis);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  LinearTokens sliceTokens(const LinearTokens &tokens, int64_t first,
                           int64_t count);

  LinearResult recurrence(const LinearTokens &token);
  LinearResult
  scanChunks(const LinearTokens &tokens, int64_t chunk,
             llvm::function_ref<LinearResult(const LinearTokens &)> body);

  /// Whether the query reads before its token's decay and write.
  bool readsBefore() const { return order.read == ReadOrder::BeforeWrite; }
  /// The states that the queries of a block read, given those after each token.
  mlir::Value statesToRead(mlir::Value states, mlir::Value start);
  mlir::Value lastState(mlir::Value states, mlir::Value start);
  bool probesBefore() const {
    return order.lowRank == LowRankPair::UndecayedState;
  }

  // LinearBlock.cpp
  LinearResult block(const LinearTokens &tokens);
  LinearResult blockPerValue(const LinearTokens &tokens);
  LinearResult blockPerElement(const LinearTokens &tokens);
  mlir::Value scores(const LinearTokens &tokens, mlir::Value reader,
                     mlir::Value writer, bool strict, bool exclusive);
  mlir::Value headScores(const LinearTokens &tokens, mlir::Value reader,
                         mlir::Value writer, bool strict, bool exclusive);
  mlir::Value keyScores(const LinearTokens &tokens, mlir::Value reader,
                        mlir::Value writer, bool strict, bool exclusive);
  mlir::Value readStart(const LinearTokens &tokens, mlir::Value reader,
                        bool exclusive);
  mlir::Value toEnd(const LinearTokens &tokens, mlir::Value writer);
  mlir::Value decayState(const LinearTokens &tokens);
  mlir::Value bonus(const LinearTokens &tokens);

  // LinearComplex.cpp
  struct Complex {
    mlir::Value re, im;
  };
  Complex multiply(Complex a, llvm::StringRef aLetters, Complex b,
                   llvm::StringRef bLetters, llvm::StringRef outLetters);
  Complex add(Complex a, Complex b);
  Complex complexDecays(const LinearTokens &tokens);
  mlir::Value spreadOver(mlir::Value part, mlir::Value like);
  Complex complexWritten(const LinearTokens &tokens, llvm::StringRef letters);
  mlir::Value complexRead(const LinearTokens &tokens, Complex states,
                          llvm::StringRef letters);
  LinearResult complexRecurrence(const LinearTokens &token);
  LinearResult complexScan(const LinearTokens &tokens);
  LinearResult complexQuadratic(const LinearTokens &tokens);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  LinearOrder order;
};

} // namespace effc::seq

#endif // EFFC_PASSES_SEQ_LINEARFORMS_H
