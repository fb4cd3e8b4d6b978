//===- CudaProducts.h - Products that a library computes ------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAPRODUCTS_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAPRODUCTS_H

#include "runtime/src/devices/PlanMemory.h"
#include "runtime/src/devices/cuda/CublasLt.h"
#include "runtime/src/devices/cuda/CudaMemory.h"

#include <compare>
#include <map>
#include <type_traits>

namespace effc::rt {

/// The launches of a plan that go to cuBLASLt, and what it needs for them. How
/// it multiplies so many rows it is asked once.
class CudaProducts {
public:
  /// Of a plan without products there is nothing to open; nor where the
  /// environment says EFFC_CUBLASLT=none. It may name the library's file, too.
  static Result<CudaProducts> open(const Plan &plan,
                                   CublasLtOnDemand &libraries);

  /// Bytes of the GPU's memory that the library works in.
  uint64_t workspaceBytes() const;
  /// Takes it and starts the library, inside a CudaScope.
  Check prepare(const std::shared_ptr<const CudaContext> &context);

  /// Whether `launch` of the plan is the library's.
  bool takes(const artifact::Launch &launch) const {
    return library && launch.product();
  }
  /// Puts y = x w^T of so many rows into the stream; `operands` are x, w and y.
  /// A message says why it failed, not which launch it was.
  Check multiply(const artifact::MatrixProduct &product, int64_t rows,
                 const void *const *operands, cuda::Stream stream);

private:
  /// Something of the library's, destroyed with the function that fits.
  template <typename T>
  using Owned =
      std::unique_ptr<std::remove_pointer_t<T>, cublas::Status (*)(T)>;
  /// All that decides how a product is done.
  struct Task {
    uint64_t rows, outputs, inner;
    struct Matrix {
      uint64_t pitch;
      artifact::ElementType type;
      uint32_t alignment; ///< of its first element, in bytes
      auto operator<=>(const Matrix &) const = default;
    } x, w, y;
    auto operator<=>(const Task &) const = default;
  };
  /// How it is done.
  struct Way {
    Owned<cublas::Operation> operation;
    Owned<cublas::Layout> w, x, y;
    cublas::Algorithm algorithm;
  };
  Result<Way> find(const Task &task) const;
  Check describe(const Task &task, Way &way) const;

  std::shared_ptr<const CublasLt> library; // null: kernels do all
  std::shared_ptr<std::remove_pointer_t<cublas::Handle>> handle;
  DeviceMemory workspace;
  std::map<Task, Way> ways;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAPRODUCTS_H
