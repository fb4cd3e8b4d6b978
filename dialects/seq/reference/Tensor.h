// A dense row-major tensor of the reference evaluator.
#ifndef EFFC_DIALECTS_SEQ_REFERENCE_TENSOR_H
#define EFFC_DIALECTS_SEQ_REFERENCE_TENSOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cassert>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace effc::seq::reference {

/// The number of elements of a shape.
inline int64_t countElements(llvm::ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

/// Steps through the points of a box in row-major order:
///
///   Point point(shape);
///   do { ... point.index ... } while (point.next());
///
/// A box without points must be left out by the caller.
struct Point {
  llvm::ArrayRef<int64_t> shape;
  llvm::SmallVector<int64_t> index;

  explicit Point(llvm::ArrayRef<int64_t> shape)
      : shape(shape), index(shape.size(), 0) {}

  bool next() {
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        return true;
      index[axis] = 0;
    }
    return false;
  }
};

template <typename S> class Tensor {
public:
  Tensor() = default;
  /// A tensor of zeros.
  explicit Tensor(llvm::ArrayRef<int64_t> shape)
      : shape(shape), data(countElements(shape), S(0)) {}
  /// A tensor of the given elements, in row-major order.
  Tensor(llvm::ArrayRef<int64_t> shape, std::vector<S> elements)
      : shape(shape), data(std::move(elements)) {
    assert(int64_t(data.size()) == countElements(shape));
  }

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  int64_t getDim(unsigned axis) const { return shape[axis]; }
  int64_t size() const { return data.size(); }

  llvm::ArrayRef<S> elements() const { return data; }
  llvm::MutableArrayRef<S> elements() { return data; }

  /// The element at an index with one entry per dimension.
  const S &at(llvm::ArrayRef<int64_t> index) const {
    return data[offsetOf(index)];
  }
  S &at(llvm::ArrayRef<int64_t> index) { return data[offsetOf(index)]; }

  template <typename... I> const S &operator()(I... index) const {
    return at({int64_t(index)...});
  }
  template <typename... I> S &operator()(I... index) {
    return at({int64_t(index)...});
  }

private:
  int64_t offsetOf(llvm::ArrayRef<int64_t> index) const {
    assert(index.size() == shape.size());
    int64_t offset = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      assert(index[axis] >= 0 && index[axis] < shape[axis]);
      offset = offset * shape[axis] + index[axis];
    }
    return offset;
  }

  llvm::SmallVector<int64_t> shape;
  std::vector<S> data;
};

} // namespace effc::seq::reference

#endif // EFFC_DIALECTS_SEQ_REFERENCE_TENSOR_H
