// The tokens of a linear recurrence one after another, as CanonicalQuantities.h
// writes them.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_TOKENSTEPS_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_TOKENSTEPS_H

#include "passes/seq_to_tile/builders/linear/Carried.h"
#include "passes/seq_to_tile/builders/linear/Recurrence.h"

namespace effc {

/// Emits one token after another of one item.
class TokenSteps {
public:
  /// Without outputs where another launch gives them.
  TokenSteps(KernelBuilder &k, Recurrence &r, bool givesOutputs = true)
      : k(k), r(r), b(k.ops()), givesOutputs(givesOutputs) {}

  /// Emits what no token changes.
  void emitConstants();
  /// The state after a decode call's one token.
  mlir::FailureOr<Carried> onlyStep(Carried before);
  /// The state after the tokens of the item's segment in [from, to).
  mlir::FailureOr<Carried> stepsOver(mlir::Value from, mlir::Value to,
                                     Carried before);

private:
  /// A token on its way.
  struct Token {
    mlir::Value row;
    TokenMap::Scope scope;
    TokenMap::Tiles q;
    llvm::SmallVector<mlir::Value> decays, probing;
    TokenMap::Reading reading;
    TileCode::Emitted emitted;
  };
  int64_t tokensTogether() const;
  mlir::LogicalResult loopOver(mlir::Value from, mlir::Value to,
                               int64_t together, Carried &carried);
  mlir::FailureOr<Carried> steps(llvm::ArrayRef<mlir::Value> rows,
                                 Carried before);
  Token prepare(mlir::Value row, Carried &carried);
  llvm::SmallVector<mlir::Value> probeOf(const Token &token);
  void advance(Token &token, Carried &carried);
  void advanceSum(Token &token, Carried &carried);
  mlir::LogicalResult finish(Token &token);
  mlir::FailureOr<Carried> complexStep(mlir::Value row,
                                       const TokenMap::Scope &scope,
                                       const TokenMap::Tiles &q,
                                       Carried before);

  void addDecays(const TokenMap::Tiles &q, Carried &carried);
  void stabilise(TokenMap::Tiles &q, Carried &carried);
  mlir::Value nextSum(const TokenMap::Tiles &q,
                      llvm::ArrayRef<mlir::Value> decays, mlir::Value sum);
  mlir::Value nextMatrix(const TokenMap::Tiles &q,
                         llvm::ArrayRef<mlir::Value> decays, mlir::Value matrix,
                         mlir::Value probed);

  // Of factors that broadcast to `type`.
  mlir::Value mul(llvm::ArrayRef<mlir::Value> factors, tile::TileType type);
  // The sum over key channels of factors that broadcast to the state's block.
  mlir::Value overKeys(llvm::ArrayRef<mlir::Value> factors);
  // The sum over key channels of a product of columns, a scalar.
  mlir::Value dot(mlir::Value x, mlir::Value y);
  // Both parts of a complex decay.
  std::pair<mlir::Value, mlir::Value> turn(mlir::Value size, mlir::Value real,
                                           mlir::Value imaginary);
  bool readsBefore() const {
    return r.linear.getRead() == seq::ReadOrder::BeforeWrite;
  }

  KernelBuilder &k;
  Recurrence &r;
  mlir::OpBuilder &b;
  bool givesOutputs;
  std::pair<mlir::Value, mlir::Value> turned; ///< where no token changes it
};

/// a b + c d, or a b - c d, of tiles that broadcast to `type`.
mlir::Value emitTwoProducts(KernelBuilder &k, tile::TileType type,
                            mlir::Value a, mlir::Value b, mlir::Value c,
                            mlir::Value d, bool subtract);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_TOKENSTEPS_H
