// The values of a function under evaluation.
//
// A frame is what an op's meaning reads from and writes to:
//
//   template <typename S>
//   static llvm::Error evaluate(NegOp op, Frame<S> &frame) {
//     const Tensor<S> &x = frame[op.getX()];
//     ...
//     frame.set(op.getY(), std::move(y));
//     return llvm::Error::success();
//   }
//   EFFC_SEQ_REFERENCE(NegOp)
//
// The verifier has checked all that types can say. What only a call can violate
// (a dynamic T, a token id, a row number) is checked where it is read, and is
// an error with a message.
#ifndef EFFC_DIALECTS_SEQ_REFERENCE_FRAME_H
#define EFFC_DIALECTS_SEQ_REFERENCE_FRAME_H

#include "dialects/seq/SeqOps.h"
#include "dialects/seq/reference/Tensor.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <variant>

namespace effc::seq::reference {

/// A value: numbers in the precision of the evaluation, or indices.
template <typename S> using Datum = std::variant<Tensor<S>, Tensor<int32_t>>;

/// Gives the elements of a weight, of the shape of its type.
template <typename S>
using WeightProvider = std::function<llvm::Expected<Tensor<S>>(WeightOp)>;

/// What a product does to a row that it multiplies with a weight, in place.
template <typename S>
using RowRounding = std::function<void(WeightOp, llvm::MutableArrayRef<S> row)>;

/// What is done, in place, to the elements that a result of an op has got.
template <typename S>
using ResultRounding =
    std::function<void(mlir::OpResult, llvm::MutableArrayRef<S> elements)>;

template <typename S> class Frame {
public:
  /// Without a `rounding` rows are multiplied as they are.
  explicit Frame(WeightProvider<S> provider, RowRounding<S> rounding = {})
      : provider(std::move(provider)), rounding(std::move(rounding)) {}

  /// The numbers of a value that has been set.
  const Tensor<S> &operator[](mlir::Value value) const {
    return std::get<Tensor<S>>(*values.at(value));
  }
  /// The indices of a value that has been set.
  const Tensor<int32_t> &getIndices(mlir::Value value) const {
    return std::get<Tensor<int32_t>>(*values.at(value));
  }
  const Datum<S> &getDatum(mlir::Value value) const {
    return *values.at(value);
  }

  /// The rows [..., columns] of `rows` as products with `weight` read them.
  Tensor<S> asMultiplied(mlir::Value rows, mlir::Value weight) const {
    Tensor<S> read = (*this)[rows];
    asMultiplied(read.elements(), read.getShape().back(), weight);
    return read;
  }
  /// The same of rows of so many `columns` that an op makes for itself.
  void asMultiplied(llvm::MutableArrayRef<S> rows, int64_t columns,
                    mlir::Value weight) const {
    WeightOp stored = weightOps.lookup(weight);
    if (!rounding || !stored)
      return;
    for (; !rows.empty(); rows = rows.drop_front(columns))
      rounding(stored, rows.take_front(columns));
  }

  /// Sets a value, replacing what an earlier round of a loop left.
  void set(mlir::Value value, Datum<S> datum) {
    values[value] = std::make_shared<const Datum<S>>(std::move(datum));
  }
  /// Sets `to` to what `from` holds.
  void bind(mlir::Value to, mlir::Value from) {
    Shared datum = values.at(from); // a new entry may move the others
    values[to] = std::move(datum);
  }

  /// Sets `value` to the elements of a weight. The provider is asked once for as
  /// long as some value holds them.
  llvm::Error setWeight(mlir::Value value, WeightOp weight);
  /// Forgets a value, which nothing reads any more.
  void release(mlir::Value value) { values.erase(value); }

  /// Evaluates the ops of a block up to its terminator. The block's arguments
  /// have been set.
  llvm::Error run(mlir::Block &block);
  /// Evaluates one op, whose operands have been set.
  llvm::Error run(mlir::Operation &op);

private:
  using Shared = std::shared_ptr<const Datum<S>>;
  WeightProvider<S> provider;
  RowRounding<S> rounding;
  llvm::DenseMap<mlir::Value, Shared> values;
  llvm::DenseMap<mlir::Value, WeightOp> weightOps; // of the values they are
  llvm::StringMap<std::weak_ptr<const Datum<S>>> weights;
};

/// An error in words.
inline llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

/// Fails unless `a` and `b`, which the message names, have as many rows.
template <typename A, typename B>
llvm::Error expectSameRows(llvm::StringRef nameA, const Tensor<A> &a,
                           llvm::StringRef nameB, const Tensor<B> &b) {
  if (a.getDim(0) == b.getDim(0))
    return llvm::Error::success();
  return fail("expects '" + nameB + "' with the " + llvm::Twine(a.getDim(0)) +
              " rows of '" + nameA + "', but got " + llvm::Twine(b.getDim(0)));
}

/// Implements ReferenceOpInterface for OP by the template `evaluate`.
#define EFFC_SEQ_REFERENCE(OP)                                                 \
  llvm::Error OP::evaluateInDouble(effc::seq::reference::Frame<double> &f) {   \
    return evaluate(*this, f);                                                 \
  }                                                                            \
  llvm::Error OP::evaluateInFloat(effc::seq::reference::Frame<float> &f) {     \
    return evaluate(*this, f);                                                 \
  }

} // namespace effc::seq::reference

#endif // EFFC_DIALECTS_SEQ_REFERENCE_FRAME_H
