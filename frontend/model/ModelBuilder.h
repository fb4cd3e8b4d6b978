// Builds the module of a model: weights, the function @forward and its states.
//
//   module attributes {seq.model = #seq.model<...>} {
//     seq.weight @layers.0.in_proj source("...") : tensor<430x56xbf16>
//     func.func @forward(
//         %tokens: tensor<?xi32>, %output_rows: tensor<?xi32>,
//         %state: tensor<3x248xf32> {seq.state_name = "layers.0.conv"})
//         -> (tensor<?x103xf32>, tensor<3x248xf32>)
//   }
//
// Each op gets the location NameLoc(name) of the part of the model it belongs
// to, after which kernels and remarks are named. Each weight is checked against
// the checkpoint when it is declared; the first problem is kept, and finish()
// returns it.
#ifndef EFFC_FRONTEND_MODEL_MODELBUILDER_H
#define EFFC_FRONTEND_MODEL_MODELBUILDER_H

#include "dialects/seq/Seq.h"
#include "frontend/model/ModelInput.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/StringMap.h"

namespace effc::frontend {

/// How a weight is made of the checkpoint's tensors; see seq.weight.
struct WeightSource {
  std::vector<std::string> tensors;
  bool transposed = false;
  /// The shape that each tensor has there, where it is another one.
  llvm::SmallVector<int64_t> stored;
  seq::RowGroupsAttr rows;
  seq::DerivationAttr derived;

  WeightSource(const llvm::Twine &tensor) : tensors{tensor.str()} {}
  WeightSource(std::vector<std::string> tensors)
      : tensors(std::move(tensors)) {}
};

/// A norm over the channels of a token.
struct NormConfig {
  double epsilon = 1e-5;
  /// LayerNorm, which subtracts the mean and has a bias.
  bool centred = false, bias = false;
  /// The stored weight is one less.
  bool unitOffset = false;
  /// Whether it has a weight at all.
  bool weight = true;
};

class ModelBuilder {
public:
  ModelBuilder(FamilyInput &input, llvm::StringRef family, int64_t vocabulary,
               int64_t width);

  // A matrix may have a role (MatrixRole.h), which comes first.

  /// A matrix [rows, columns], in the type wanted or the one it is stored in.
  mlir::Value matrix(MatrixRole role, const llvm::Twine &name,
                     const WeightSource &source, int64_t rows, int64_t columns);
  mlir::Value matrix(const llvm::Twine &name, const WeightSource &source,
                     int64_t rows, int64_t columns) {
    return matrix(MatrixRole::Other, name, source, rows, columns);
  }
  mlir::Value matrix(MatrixRole role, const llvm::Twine &name,
                     const llvm::Twine &source, int64_t rows, int64_t columns) {
    return matrix(role, name, WeightSource(source), rows, columns);
  }
  mlir::Value matrix(const llvm::Twine &name, const llvm::Twine &source,
                     int64_t rows, int64_t columns) {
    return matrix(MatrixRole::Other, name, WeightSource(source), rows, columns);
  }
  /// A matrix [rows, columns] for each of `blocks` blocks of channels.
  mlir::Value blocks(MatrixRole role, const llvm::Twine &name,
                     const WeightSource &source, int64_t blocks, int64_t rows,
                     int64_t columns);
  mlir::Value blocks(const llvm::Twine &name, const WeightSource &source,
                     int64_t blocks, int64_t rows, int64_t columns) {
    return this->blocks(MatrixRole::Other, name, source, blocks, rows, columns);
  }
  /// Numbers in f32, of any shape.
  mlir::Value numbers(const llvm::Twine &name, const WeightSource &source,
                      llvm::ArrayRef<int64_t> shape);
  /// A vector [size], in f32.
  mlir::Value vector(const llvm::Twine &name, const llvm::Twine &source,
                     int64_t size) {
    return numbers(name, WeightSource(source), {size});
  }
  /// The taps [width, channels] of a short convolution, in f32, which the
  /// checkpoint holds as [channels, 1, width].
  mlir::Value taps(const llvm::Twine &name, const llvm::Twine &source,
                   int64_t width, int64_t channels);
  /// Numbers that the configuration gives; declared once for all uses.
  mlir::Value computed(llvm::StringRef name, seq::ComputedWeightInterface rule,
                       llvm::ArrayRef<int64_t> shape);
  /// The same number everywhere, of any static shape.
  mlir::Value constant(llvm::StringRef name, double number,
                       llvm::ArrayRef<int64_t> shape);
  /// Another use of a weight that has been declared.
  mlir::Value parameter(llvm::StringRef name);
  bool isDeclared(llvm::StringRef name) const { return weights.contains(name); }

  /// A state of the model: the argument that carries it in.
  mlir::Value state(const llvm::Twine &name, llvm::ArrayRef<int64_t> shape);
  /// The value that the state has after the tokens; once per state, in the
  /// order in which they were made.
  void setNextState(mlir::Value next) { nextStates.push_back(next); }
  /// The same of `state`, whatever was made after it: it has no place in that
  /// order.
  void setNextStateOf(mlir::Value state, mlir::Value next) {
    nextOf[state] = next;
  }

  /// Whether the checkpoint's weights have a tensor.
  bool hasTensor(llvm::StringRef name) const {
    return input.checkpoint.has(input.names.nameOf(name));
  }
  /// Whether they are called as the public library holds them (HeldNames.h).
  bool areNamesHeld() const { return input.names.areHeld(); }

  mlir::Value getTokens() { return function.getArgument(0); }
  mlir::Value getOutputRows() { return function.getArgument(1); }
  /// The tokens' positions, a table that @forward takes once they are asked
  /// for.
  mlir::Value getPositions();
  /// The positions that states which grow have room for.
  int64_t getContext() const { return context; }
  int64_t getWidth() const { return width; }
  void setContext(int64_t positions) { context = positions; }
  /// The positions that the longest sequence may have by the configuration,
  /// whatever is to be seen of it; 0: no end.
  int64_t getLongest() const { return longest; }
  void setLongest(int64_t positions) { longest = positions; }
  /// What layers are to see that would see more keys.
  const StreamedKeys &getStreamed() const { return input.streamed; }
  /// Reports `found`, weights that belong to absolute positions, where a window
  /// is asked for: positions have no end then, and no place in a cache.
  void refuseStreamed(const llvm::Twine &found);
  /// Notes that the layer `name` follows it.
  void noteStreamed(llvm::StringRef name);
  /// Notes that a layer keeps a window of its own, which is no wider.
  void noteKept(int64_t window) {
    input.widestKept = std::max(input.widestKept, window);
  }

  // Ops whose result type follows from their operands, each at the location
  // `name`. `x` is [T, ...].
  mlir::Value embedding(const llvm::Twine &name, mlir::Value tokens,
                        mlir::Value table);
  mlir::Value selectRows(const llvm::Twine &name, mlir::Value x,
                         mlir::Value rows);
  mlir::Value linear(const llvm::Twine &name, mlir::Value x, mlir::Value weight,
                     mlir::Value bias = {});
  mlir::Value lmHead(const llvm::Twine &name, mlir::Value x,
                     mlir::Value weight);
  mlir::Value rmsNorm(const llvm::Twine &name, mlir::Value x,
                      mlir::Value weight, double epsilon);
  /// The norm whose weight is `source`.weight, and its bias `source`.bias.
  mlir::Value norm(const llvm::Twine &name, const llvm::Twine &source,
                   mlir::Value x, const NormConfig &config);
  /// The same for each of `groups` groups of channels. `size` is that of the
  /// weight: all channels, or those of one group; 0: it has none.
  mlir::Value
  groupNorm(const llvm::Twine &name, const llvm::Twine &source, mlir::Value x,
            int64_t groups, int64_t size, const NormConfig &config,
            seq::NormMeasure measure = seq::NormMeasure::MeanSquare);
  /// The product with `source`.weight [rows, channels of x], and `source`.bias.
  mlir::Value project(MatrixRole role, const llvm::Twine &name,
                      const llvm::Twine &source, mlir::Value x, int64_t rows,
                      bool bias = false, bool transposed = false);
  mlir::Value project(const llvm::Twine &name, const llvm::Twine &source,
                      mlir::Value x, int64_t rows, bool bias = false,
                      bool transposed = false) {
    return project(MatrixRole::Other, name, source, x, rows, bias, transposed);
  }
  /// The same with some rows of both.
  mlir::Value projectRows(MatrixRole role, const llvm::Twine &name,
                          const llvm::Twine &source, mlir::Value x,
                          seq::RowGroupsAttr rows, bool bias = false);
  mlir::Value projectRows(const llvm::Twine &name, const llvm::Twine &source,
                          mlir::Value x, seq::RowGroupsAttr rows,
                          bool bias = false) {
    return projectRows(MatrixRole::Other, name, source, x, rows, bias);
  }
  /// Of each of `count` groups of `stride` rows, the `size` rows from `offset`.
  seq::RowGroupsAttr rows(int64_t offset, int64_t size, int64_t stride,
                          int64_t count) {
    return seq::RowGroupsAttr::get(builder.getContext(), offset, size, stride,
                                   count);
  }
  /// The channels [offset, offset + size) of x, on its last dimension.
  mlir::Value slice(const llvm::Twine &name, mlir::Value x, int64_t offset,
                    int64_t size);
  /// x with the dimensions after T replaced.
  mlir::Value reshape(const llvm::Twine &name, mlir::Value x,
                      llvm::ArrayRef<int64_t> inner);
  mlir::Value add(const llvm::Twine &name, mlir::Value a, mlir::Value b);
  mlir::Value sub(const llvm::Twine &name, mlir::Value a, mlir::Value b);
  mlir::Value mul(const llvm::Twine &name, mlir::Value a, mlir::Value b);
  mlir::Value scale(const llvm::Twine &name, mlir::Value x, double factor);
  /// `vector` [D] for each token of `like` [T, D].
  mlir::Value broadcast(const llvm::Twine &name, mlir::Value vector,
                        mlir::Value like);
  /// The number [T, 1] of each token for all channels of `like` [T, D].
  mlir::Value spread(const llvm::Twine &name, mlir::Value number,
                     mlir::Value like);
  mlir::Value activate(const llvm::Twine &name, mlir::Value x,
                       seq::Nonlinearity function);
  /// An op on elements that has no attributes.
  template <typename Op>
  mlir::Value elementwise(const llvm::Twine &name, mlir::Value x) {
    return Op::create(builder, at(name), x);
  }
  /// most * tanh(x / most)
  mlir::Value softCap(const llvm::Twine &name, mlir::Value x, double most);
  /// A short convolution of each channel, with a state `name`; one of a single tap is a
  /// factor for each, without a state.
  mlir::Value shortConvolution(const llvm::Twine &name, mlir::Value x,
                               mlir::Value taps, mlir::Value bias,
                               seq::Activation activation);
  /// The same with any function behind the convolution.
  mlir::Value shortConvolution(const llvm::Twine &name, mlir::Value x,
                               mlir::Value taps, mlir::Value bias,
                               seq::Nonlinearity function);
  /// The token before each token less the token itself, with a state `name`.
  mlir::Value shiftDifference(const llvm::Twine &name, mlir::Value x);
  /// The token before each token, 0 before the first, with a state `name`.
  mlir::Value previous(const llvm::Twine &name, mlir::Value x);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location at(const llvm::Twine &name);
  /// Keeps the first problem, which finish() returns.
  void report(const llvm::Twine &message);

  /// Returns from @forward and gives the verified module away. Fails with the
  /// first weight that did not fit, or with a tensor that no weight names.
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> finish(mlir::Value logits);

private:
  /// x times `factors` [1, channels].
  mlir::Value scaleChannels(const llvm::Twine &name, mlir::Value x,
                            mlir::Value factors, mlir::Value bias,
                            seq::Activation activation);
  mlir::Value declare(const llvm::Twine &name, const WeightSource &source,
                      llvm::ArrayRef<int64_t> shape, mlir::Type element);
  void take(seq::WeightOp weight);
  void remark(seq::WeightOp weight, llvm::StringRef source);
  mlir::Type getMatrixElement(llvm::StringRef source);
  mlir::RankedTensorType tokenType(llvm::ArrayRef<int64_t> inner);

  FamilyInput &input;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  std::string family;
  int64_t vocabulary, width, context = 0, longest = 0;
  mlir::Value positions;
  llvm::StringMap<seq::WeightOp> weights;
  llvm::SmallVector<Matrix> matrices;
  std::vector<mlir::Value> nextStates;
  llvm::DenseMap<mlir::Value, mlir::Value> nextOf;
  std::string problem;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_MODELBUILDER_H
