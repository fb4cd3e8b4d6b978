//===- CublasLt.h - cuBLASLt, opened at run time --------------------------===//
//
// Types, values and functions of cuBLASLt, as far as they are used, declared
// after its documentation (cuBLAS, "Using the cuBLASLt API", 12.0 and 13.0), so
// that no CUDA header is needed and nothing is opened that no model asks for:
// the library has half a gigabyte.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUBLASLT_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUBLASLT_H

#include "runtime/src/devices/cuda/CudaDriver.h"

#include <mutex>

namespace effc::rt {

namespace cublas {
using Status = int; // cublasStatus_t
using Handle = struct HandleObject *;
using Operation = struct OperationObject *;   // cublasLtMatmulDesc_t
using Layout = struct LayoutObject *;         // cublasLtMatrixLayout_t
using Preference = struct PreferenceObject *; // cublasLtMatmulPreference_t
/// cublasLtMatmulAlgo_t; what is in it only the library knows.
struct Algorithm {
  uint64_t opaque[8];
};
/// cublasLtMatmulHeuristicResult_t.
struct Suggestion {
  Algorithm algorithm;
  size_t workspaceBytes;
  Status status;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Algorithm) == 64 && sizeof(Suggestion) == 96);

constexpr Status kSuccess = 0;
constexpr Status kNotSupported = 15;
// cublasComputeType_t, cudaDataType_t
constexpr int kComputeF32 = 68;
constexpr int kF32 = 0;
constexpr int kF16 = 2;
constexpr int kBF16 = 14;
// cublasLtMatmulDescAttributes_t, cublasOperation_t
constexpr int kTransposeA = 3;
constexpr int kTransposed = 1;
// cublasLtMatmulPreferenceAttributes_t
constexpr int kMostWorkspaceBytes = 1;
constexpr int kReductionSchemes = 3;
constexpr int kAlignmentOfA = 5; // then of B, C and D
// cublasLtReductionScheme_t
constexpr uint32_t kReduceInF32 = 2;
} // namespace cublas

/// F(name, name of the symbol, parameters) for each function.
#define EFFC_CUBLASLT_FUNCTIONS(F)                                             \
  F(create, "cublasLtCreate", (cublas::Handle * handle))                       \
  F(destroy, "cublasLtDestroy", (cublas::Handle handle))                       \
  F(operationCreate, "cublasLtMatmulDescCreate",                               \
    (cublas::Operation * operation, int computeType, int scaleType))           \
  F(operationDestroy, "cublasLtMatmulDescDestroy",                             \
    (cublas::Operation operation))                                             \
  F(operationSet, "cublasLtMatmulDescSetAttribute",                            \
    (cublas::Operation operation, int attribute, const void *value,            \
     size_t bytes))                                                            \
  F(layoutCreate, "cublasLtMatrixLayoutCreate",                                \
    (cublas::Layout * layout, int type, uint64_t rows, uint64_t columns,       \
     int64_t pitch))                                                           \
  F(layoutDestroy, "cublasLtMatrixLayoutDestroy", (cublas::Layout layout))     \
  F(preferenceCreate, "cublasLtMatmulPreferenceCreate",                        \
    (cublas::Preference * preference))                                         \
  F(preferenceDestroy, "cublasLtMatmulPreferenceDestroy",                      \
    (cublas::Preference preference))                                           \
  F(preferenceSet, "cublasLtMatmulPreferenceSetAttribute",                     \
    (cublas::Preference preference, int attribute, const void *value,          \
     size_t bytes))                                                            \
  F(suggest, "cublasLtMatmulAlgoGetHeuristic",                                 \
    (cublas::Handle handle, cublas::Operation operation, cublas::Layout a,     \
     cublas::Layout b, cublas::Layout c, cublas::Layout d,                     \
     cublas::Preference preference, int wanted,                                \
     cublas::Suggestion *suggestions, int *found))                             \
  F(multiply, "cublasLtMatmul",                                                \
    (cublas::Handle handle, cublas::Operation operation, const void *alpha,    \
     const void *a, cublas::Layout aLayout, const void *b,                     \
     cublas::Layout bLayout, const void *beta, const void *c,                  \
     cublas::Layout cLayout, void *d, cublas::Layout dLayout,                  \
     const cublas::Algorithm *algorithm, void *workspace,                      \
     size_t workspaceBytes, cuda::Stream stream))

/// The functions of the opened library.
class CublasLt {
public:
  /// Opens libcublasLt.so.13 or .12, or what `path` names. The message of a
  /// failure says what to install, or to do without.
  static Result<std::shared_ptr<const CublasLt>> open(const char *path);

#define EFFC_CUBLASLT_MEMBER(name, symbol, parameters)                         \
  cublas::Status(*name) parameters = nullptr;
  EFFC_CUBLASLT_FUNCTIONS(EFFC_CUBLASLT_MEMBER)
#undef EFFC_CUBLASLT_MEMBER

  /// Empty when `status` is a success; else "cuBLASLt: ..." and why, before
  /// which the caller puts what was to be done.
  Check check(cublas::Status status) const;

private:
  CublasLt() = default;
  Check resolve(const std::string &path);

  OpenedLibrary library;
  const char *(*statusText)(cublas::Status) = nullptr;
};

/// Opens the library when it is first asked for, and keeps it: opening takes
/// its time. From any thread.
class CublasLtOnDemand {
public:
  /// As CublasLt::open(), of which a failure is not kept.
  Result<std::shared_ptr<const CublasLt>> get(const char *path);

private:
  std::mutex mutex;
  std::string openedPath;
  std::shared_ptr<const CublasLt> library;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUBLASLT_H
