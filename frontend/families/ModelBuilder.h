// Builds the module of a model: weights, the function @forward and its states.
//
//   module attributes {seq.model = #seq.model<...>} {
//     seq.weight @layers.0.in_proj source("...") : tensor<430x56xbf16>
//     func.func @forward(%tokens: tensor<?xi32>, %output_rows: tensor<?xi32>,
//                        %state: tensor<3x248xf32> {seq.state_name =
//                        "layers.0.conv"})
//         -> (tensor<?x103xf32>, tensor<3x248xf32>)
//   }
//
// Each op gets the location NameLoc(name) of the part of the model it belongs
// to, after which kernels and remarks are named. Each weight is checked against
// the checkpoint when it is declared; the first problem is kept, and finish()
// returns it.
#ifndef EFFC_FRONTEND_FAMILIES_MODELBUILDER_H
#define EFFC_FRONTEND_FAMILIES_MODELBUILDER_H

#include "dialects/seq/Seq.h"
#include "frontend/families/Family.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/StringMap.h"

namespace effc::frontend {

class ModelBuilder {
public:
  ModelBuilder(FamilyInput &input, llvm::StringRef family, int64_t vocabulary,
               int64_t width);

  /// A matrix [rows, columns], in the type wanted or the one it is stored in.
  mlir::Value matrix(const llvm::Twine &name, const llvm::Twine &source,
                     int64_t rows, int64_t columns);
  /// A vector [size], in f32.
  mlir::Value vector(const llvm::Twine &name, const llvm::Twine &source,
                     int64_t size);
  /// The taps [width, channels] of a short convolution, in f32, which the
  /// checkpoint holds as [channels, 1, width].
  mlir::Value taps(const llvm::Twine &name, const llvm::Twine &source,
                   int64_t width, int64_t channels);
  /// Another use of a weight that has been declared.
  mlir::Value parameter(llvm::StringRef name);

  /// A state of the model: the argument that carries it in.
  mlir::Value state(const llvm::Twine &name, llvm::ArrayRef<int64_t> shape);
  /// The value that the state has after the tokens; once per state, in the
  /// order in which they were made.
  void setNextState(mlir::Value next) { nextStates.push_back(next); }

  mlir::Value getTokens() { return function.getArgument(0); }
  mlir::Value getOutputRows() { return function.getArgument(1); }

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
  /// The channels [offset, offset + size) of x [T, D].
  mlir::Value slice(const llvm::Twine &name, mlir::Value x, int64_t offset,
                    int64_t size);
  /// x with the dimensions after T replaced.
  mlir::Value reshape(const llvm::Twine &name, mlir::Value x,
                      llvm::ArrayRef<int64_t> inner);
  mlir::Value add(const llvm::Twine &name, mlir::Value a, mlir::Value b);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location at(const llvm::Twine &name);

  /// Returns from @forward and gives the verified module away. Fails with the
  /// first weight that did not fit, or with a tensor that no weight names.
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> finish(mlir::Value logits);

private:
  void declare(const llvm::Twine &name, const llvm::Twine &source,
               llvm::ArrayRef<int64_t> shape, mlir::Type element,
               bool transposed);
  void take(seq::WeightOp weight);
  mlir::Type getMatrixElement(llvm::StringRef source);
  mlir::RankedTensorType tokenType(llvm::ArrayRef<int64_t> inner);

  FamilyInput &input;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  llvm::StringMap<seq::WeightOp> weights;
  std::vector<mlir::Value> nextStates;
  std::string problem;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_MODELBUILDER_H
