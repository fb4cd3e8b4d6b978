// cuBLASLt as it is documented (cuBLAS 13, "Using the cuBLASLt API"), by three
// nested loops: matrices lie column after column, f32 or bf16.
#include "test/unit/runtime/cuda/FakeCalls.h"
#include "test/unit/runtime/cuda/FakeCuda.h"

#include <cstring>
#include <sstream>

using namespace effc::test;

namespace {
constexpr int kInvalidValue = 7, kComputeF32 = 68, kF32 = 0, kBF16 = 14;

struct Operation {
  int transposeA = 0;
};
struct Layout {
  int type;
  uint64_t rows, columns;
  int64_t pitch;

  float read(const void *data, uint64_t row, uint64_t column) const {
    uint64_t at = column * static_cast<uint64_t>(pitch) + row;
    if (type == kF32)
      return static_cast<const float *>(data)[at];
    uint32_t bits = uint32_t(static_cast<const uint16_t *>(data)[at]) << 16;
    float wide;
    std::memcpy(&wide, &bits, sizeof wide);
    return wide;
  }
  std::string text() const {
    return std::to_string(type) + ":" + std::to_string(rows) + "x" +
           std::to_string(columns) + "/" + std::to_string(pitch);
  }
};
struct Preference {
  uint64_t workspaceBytes = 0;
  uint32_t reductions = 7, alignments[4] = {256, 256, 256, 256};
};
/// Fits a result, and pointers that are so aligned.
struct Algorithm {
  uint64_t rows, columns;
  uint32_t alignments[4];
  uint64_t rest[4];

  /// Also that no more alignment could have been promised.
  bool fits(int operand, const void *pointer) const {
    auto address = reinterpret_cast<uintptr_t>(pointer);
    uint32_t alignment = alignments[operand];
    return address % alignment == 0 &&
           (alignment == 256 || address % (2 * alignment) != 0);
  }
};
struct Suggestion {
  Algorithm algorithm;
  size_t workspaceBytes;
  int status;
  float waves;
  int reserved[4];
};

template <typename T> int make(T **out, T made) {
  *out = new T(made);
  ++fakeCuda()->live;
  return 0;
}
template <typename T> int unmake(T *object) {
  delete object;
  --fakeCuda()->live;
  return 0;
}
} // namespace

extern "C" {
const char *cublasLtGetStatusString(int status) {
  return status == 13 ? "CUBLAS_STATUS_EXECUTION_FAILED" : "CUBLAS_STATUS";
}
int cublasLtCreate(int **handle) {
  ENTER(cublasLtCreate);
  return make(handle, 0);
}
int cublasLtDestroy(int *handle) { return unmake(handle); }
int cublasLtMatmulDescCreate(Operation **out, int computeType, int scaleType) {
  if (computeType != kComputeF32 || scaleType != kF32)
    return kInvalidValue;
  return make(out, Operation());
}
int cublasLtMatmulDescDestroy(Operation *object) { return unmake(object); }
int cublasLtMatmulDescSetAttribute(Operation *object, int attribute,
                                   const void *value, size_t bytes) {
  if (attribute != 3 || bytes != sizeof(int))
    return kInvalidValue;
  std::memcpy(&object->transposeA, value, bytes);
  return 0;
}
int cublasLtMatrixLayoutCreate(Layout **out, int type, uint64_t rows,
                               uint64_t columns, int64_t pitch) {
  if (pitch < static_cast<int64_t>(rows) || (type != kF32 && type != kBF16))
    return kInvalidValue;
  return make(out, Layout{type, rows, columns, pitch});
}
int cublasLtMatrixLayoutDestroy(Layout *object) { return unmake(object); }
int cublasLtMatmulPreferenceCreate(Preference **out) {
  return make(out, Preference());
}
int cublasLtMatmulPreferenceDestroy(Preference *object) {
  return unmake(object);
}
int cublasLtMatmulPreferenceSetAttribute(Preference *object, int attribute,
                                         const void *value, size_t bytes) {
  void *to = attribute == 1   ? &object->workspaceBytes
             : attribute == 3 ? &object->reductions
             : attribute >= 5 && attribute <= 8
                 ? (void *)&object->alignments[attribute - 5]
                 : nullptr;
  if (!to || bytes != (attribute == 1 ? sizeof(uint64_t) : sizeof(uint32_t)))
    return kInvalidValue;
  std::memcpy(to, value, bytes);
  return 0;
}
int cublasLtMatmulAlgoGetHeuristic(int *, Operation *, Layout *, Layout *,
                                   Layout *c, Layout *d, Preference *preference,
                                   int wanted, Suggestion *suggestions,
                                   int *found) {
  ENTER(cublasLtMatmulAlgoGetHeuristic);
  *found = 0;
  if (wanted < 1 || c != d || preference->workspaceBytes == 0 ||
      preference->reductions != 2)
    return kInvalidValue;
  if (!fakeCuda()->knowsProducts)
    return 0;
  suggestions[0] = {{d->rows, d->columns, {}, {}}, 0, 0, 1, {}};
  std::memcpy(suggestions[0].algorithm.alignments, preference->alignments,
              sizeof preference->alignments);
  *found = 1;
  return 0;
}
int cublasLtMatmul(int *, Operation *operation, const float *alpha,
                   const void *a, Layout *aLayout, const void *b,
                   Layout *bLayout, const float *beta, const void *c, Layout *,
                   void *d, Layout *dLayout, const Algorithm *algorithm,
                   void *workspace, size_t workspaceBytes, void *stream) {
  std::ostringstream details;
  details << aLayout->text() << " by " << bLayout->text() << " to "
          << dLayout->text();
  ENTER(cublasLtMatmul, details.str());
  if (!operation->transposeA || *alpha != 1 || *beta != 0 || c != d ||
      !workspace || workspaceBytes == 0 || stream != fakeCuda() ||
      algorithm->rows != dLayout->rows ||
      algorithm->columns != dLayout->columns || !algorithm->fits(0, a) ||
      !algorithm->fits(1, b) || !algorithm->fits(2, c) ||
      !algorithm->fits(3, d) || dLayout->type != kF32 ||
      aLayout->rows != bLayout->rows || aLayout->columns != dLayout->rows ||
      bLayout->columns != dLayout->columns)
    return kInvalidValue;
  Layout left = *aLayout, right = *bLayout, out = *dLayout;
  return doOrRecord([=] {
    for (uint64_t j = 0; j < out.columns; ++j)
      for (uint64_t i = 0; i < out.rows; ++i) {
        float sum = 0;
        for (uint64_t k = 0; k < left.rows; ++k)
          sum += left.read(a, k, i) * right.read(b, k, j);
        static_cast<float *>(d)[j * static_cast<uint64_t>(out.pitch) + i] = sum;
      }
  });
}
}
