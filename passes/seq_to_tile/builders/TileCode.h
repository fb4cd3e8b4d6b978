// Ops on the tensors of one token, or of a chunk of them, as ops on tiles.
//
// A kernel holds one head. Each dimension of a value lies along the tokens, the
// heads, or one of the two axes of a tile, and a value becomes
//
//   dimensions along...   one token       a chunk
//   rows                  column of K     C x K block (row of K)
//   columns               row of V        C x V block (row of V)
//   both                  K x V block     -
//   neither               scalar          column of C (scalar)
//
// (in parentheses: where it does not vary with the token). An op becomes a map,
// which broadcasts as the axes say, and a sum a reduction. Where the dimensions
// of a value lie is decided by who asks for it: a token that is both a key and
// a value is loaded along both axes.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_TILECODE_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_TILECODE_H

#include "passes/seq_to_tile/KernelBuilder.h"

#include <functional>
#include <utility>

namespace effc {

class TileCode {
public:
  /// What a dimension lies along. `Key` is the rows of a tile, `Column` its
  /// columns; `Value` is columns of which an item may have a block. `Group` is
  /// the item's group of heads, `One` nothing: a single element.
  enum class Along { Token, Head, Group, Key, Value, Column, One };
  using Axes = llvm::SmallVector<Along, 4>; // one for each dimension

  /// What one instance of the code works on.
  struct Scope {
    mlir::Value row;  // first row of the call's tensors
    mlir::Value rows; // limit of a chunk's rows; null for one token
    mlir::Value head, group;
    mlir::Value firstValue; // first value channel of the item's block
    int64_t chunk = 0;      // tokens of a chunk; 0: one token
  };

  explicit TileCode(KernelBuilder &k) : k(&k) {}

  /// Columns of an item where a dimension lies along `Value`.
  int64_t valueBlock = 0;
  /// Whether all scopes are chunks.
  bool isChunked = false;

  /// Says that `argument` is loaded from `tensor`. Where it lacks the tensor's
  /// leading dimension of tokens, it is the token's part.
  void setSource(mlir::Value argument, mlir::Value tensor, bool perToken);
  /// Says that a kernel computes what it loads of `tensor`, [T, H, V] of a
  /// chunk's tokens, a head and a block of values: `compute` does.
  using Compute = std::function<mlir::Value(const Scope &)>;
  void setComputed(mlir::Value tensor, Compute compute) {
    computed[tensor] = std::move(compute);
  }
  /// Says that `argument` is bound to a tile, which lies along `axes`.
  void declareBound(mlir::Value argument, Axes axes);
  /// Finds what varies with the token: all that follows from `arguments`.
  void setVarying(mlir::Block &block,
                  llvm::function_ref<bool(mlir::BlockArgument)> varies);

  /// Whether a value can be emitted along `axes`. If not, the obstacle says
  /// why.
  bool canEmit(mlir::Value value, const Axes &axes);
  /// The op that stood in the way of the last value refused, and why.
  mlir::Operation *obstacle = nullptr;
  std::string reason;

  void bind(mlir::Value argument, mlir::Value tile);
  /// Emits, of a value that can be, what does not vary with the token: the
  /// largest parts.
  void emitConstants(mlir::Value value, const Axes &axes, const Scope &scope);
  /// What emitConstants made of a value; null where it varies with the token.
  mlir::Value constant(mlir::Value value, const Axes &axes) const {
    return constants.lookup(keyOf(value, axes));
  }
  /// Forgets what varies with the token, bound tiles too.
  void beginScope() { emitted.clear(); }
  /// What one scope has emitted and bound, for when it goes on after another.
  using Emitted = llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value>;
  Emitted leaveScope() { return std::exchange(emitted, Emitted()); }
  void resumeScope(Emitted of) { emitted = std::move(of); }
  /// Emits a value that can be, of the full type of its axes.
  mlir::Value emit(mlir::Value value, const Axes &axes, const Scope &scope);
  /// The part of a tensor that the scope works on.
  mlir::Value load(mlir::Value tensor, const Axes &axes, const Scope &scope);

private:
  using Key = std::pair<mlir::Value, unsigned>; // with the axes as a number
  /// How a value is emitted: from its operands along these axes, or turned from
  /// the other axis. Where it cannot be, which op stands in the way, and why.
  struct Plan {
    bool possible = false, turned = false;
    llvm::SmallVector<Axes, 2> operands;
    int left = -1; // the left operand of a product of matrices
    mlir::Operation *obstacle = nullptr;
    std::string reason = {};
  };
  static Key keyOf(mlir::Value value, const Axes &axes);
  Plan plan(mlir::Value value, const Axes &axes);
  Plan planDirect(mlir::Value value, const Axes &axes);
  Plan planContract(seq::ContractOp op, const Axes &axes, bool sumsOverOne);
  Plan planProduct(seq::ContractOp op, const Axes &axes);
  static Plan refuse(mlir::Operation *op, const llvm::Twine &why);
  mlir::Value emitPart(mlir::Value value, const Axes &axes, const Scope &scope);
  mlir::Value emitOp(mlir::Operation *op, const Axes &axes, const Scope &scope);
  mlir::Value emitAtStart(seq::AtStartOp op, const Scope &scope);
  mlir::Value emitSum(seq::ContractOp op, const Plan &how, const Axes &axes,
                      mlir::ValueRange inputs, const Scope &scope);
  mlir::Value emitProduct(const Plan &how, tile::TileType type,
                          mlir::ValueRange inputs);
  mlir::Value turn(mlir::Value vector);
  /// Null for a scalar.
  tile::TileType typeOf(llvm::ArrayRef<int64_t> shape, const Axes &axes,
                        const Scope &scope);

  struct Source {
    mlir::Value tensor;
    bool perToken;
  };
  KernelBuilder *k;
  llvm::DenseMap<mlir::Value, Source> sources;
  llvm::DenseMap<mlir::Value, Compute> computed;
  llvm::DenseMap<mlir::Value, Axes> bound;
  llvm::DenseSet<mlir::Value> varying;
  llvm::DenseMap<Key, Plan> plans;
  Emitted emitted, constants;
  llvm::DenseSet<Key> searched; // for constants
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_TILECODE_H
