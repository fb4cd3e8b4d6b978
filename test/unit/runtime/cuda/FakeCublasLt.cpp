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
};
struct Algorithm {
  uint64_t rows, columns, rest[6];
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
  if (attribute != 1 || bytes != sizeof object->workspaceBytes)
    return kInvalidValue;
  std::memcpy(&object->workspaceBytes, value, bytes);
  return 0;
}
int cublasLtMatmulAlgoGetHeuristic(int *, Operation *, Layout *, Layout *,
                                   Layout *c, Layout *d, Preference *preference,
                                   int wanted, Suggestion *suggestions,
                                   int *found) {
  ENTER(cublasLtMatmulAlgoGetHeuristic);
  *found = 0;
  if (wanted < 1 || c != d || preference->workspaceBytes == 0)
    return kInvalidValue;
  if (!fakeCuda()->knowsProducts)
    return 0;
  suggestions[0] = {{d->rows, d->columns, {}}, 0, 0, 1, {}};
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
      algorithm->columns != dLayout->columns || dLayout->type != kF32 ||
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
