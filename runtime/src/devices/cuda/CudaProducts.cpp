#include "runtime/src/devices/cuda/CudaProducts.h"

#include <cstdlib>
#include <string_view>

using namespace effc;
using namespace effc::rt;

/// What NVIDIA's documentation of cublasSetWorkspace() gives an H100; with less
/// some ways are not suggested.
static constexpr uint64_t kWorkspaceBytes = uint64_t(32) << 20;

Result<CudaProducts> CudaProducts::open(const Plan &plan) {
  CudaProducts products;
  bool wanted = false;
  for (const artifact::Entry *entry : *plan.entries)
    for (const artifact::Launch *launch : *entry->launches())
      wanted |= launch->product() != nullptr;
  const char *given = std::getenv("EFFC_CUBLASLT");
  if (given && !*given)
    given = nullptr;
  if (!wanted || (given && std::string_view(given) == "none"))
    return products;
  auto opened = CublasLt::open(given);
  if (!opened)
    return opened.error();
  products.library = std::move(*opened);
  return products;
}

uint64_t CudaProducts::workspaceBytes() const {
  return library ? kWorkspaceBytes : 0;
}

Check CudaProducts::prepare(const std::shared_ptr<const CudaContext> &given) {
  if (!library)
    return {};
  Result<DeviceMemory> memory =
      allocateOnDevice(given, kWorkspaceBytes, "what cuBLASLt works in");
  if (!memory)
    return memory.error();
  workspace = std::move(*memory);
  cublas::Handle made = nullptr;
  if (Check error = library->check("starting cuBLASLt", library->create(&made)))
    return error;
  handle = {made, [context = given, library = library](cublas::Handle object) {
              CudaScope scope(*context);
              library->destroy(object);
            }};
  return {};
}

static int typeOf(artifact::ElementType type) {
  switch (type) {
  case artifact::ElementType::BF16:
    return cublas::kBF16;
  case artifact::ElementType::F16:
    return cublas::kF16;
  default: // no others are loaded
    return cublas::kF32;
  }
}

/// The library's matrices are columns after columns: rows of ours are its
/// columns, and y^T = (w^T)^T x^T.
Result<CudaProducts::Way>
CudaProducts::find(const artifact::MatrixProduct &product, int64_t rows,
                   const std::string &name) const {
  Way way = {{nullptr, library->operationDestroy},
             {nullptr, library->layoutDestroy},
             {nullptr, library->layoutDestroy},
             {nullptr, library->layoutDestroy},
             {}};
  cublas::Operation operation = nullptr;
  if (Check error = library->check(
          name, library->operationCreate(&operation, cublas::kComputeF32,
                                         cublas::kF32)))
    return *error;
  way.operation.reset(operation);
  int transposed = cublas::kTransposed;
  if (Check error = library->check(
          name, library->operationSet(operation, cublas::kTransposeA,
                                      &transposed, sizeof transposed)))
    return *error;
  struct Matrix {
    Owned<cublas::Layout> &layout;
    artifact::ElementType type;
    uint64_t rows, columns, pitch;
  };
  auto count = static_cast<uint64_t>(rows);
  Matrix matrices[] = {
      {way.w, product.w_type(), product.inner(), product.outputs(),
       product.w_pitch()},
      {way.x, product.x_type(), product.inner(), count, product.x_pitch()},
      {way.y, product.y_type(), product.outputs(), count, product.y_pitch()}};
  for (Matrix &matrix : matrices) {
    cublas::Layout layout = nullptr;
    if (Check error = library->check(
            name, library->layoutCreate(&layout, typeOf(matrix.type),
                                        matrix.rows, matrix.columns,
                                        static_cast<int64_t>(matrix.pitch))))
      return *error;
    matrix.layout.reset(layout);
  }
  cublas::Preference preference = nullptr;
  if (Check error =
          library->check(name, library->preferenceCreate(&preference)))
    return *error;
  Owned<cublas::Preference> owned(preference, library->preferenceDestroy);
  cublas::Suggestion suggestion = {};
  int found = 0;
  for (cublas::Status status :
       {library->preferenceSet(preference, cublas::kMostWorkspaceBytes,
                               &kWorkspaceBytes, sizeof kWorkspaceBytes),
        library->suggest(handle.get(), operation, way.w.get(), way.x.get(),
                         way.y.get(), way.y.get(), preference, /*wanted=*/1,
                         &suggestion, &found)})
    if (Check error = library->check(name, status))
      return *error;
  if (found == 0)
    return fail(EFFC_DEVICE_ERROR, "cuda: ", name, " knows no way to multiply ",
                rows, " x ", product.inner(), " by ", product.inner(), " x ",
                product.outputs());
  way.algorithm = suggestion.algorithm;
  return way;
}

Check CudaProducts::multiply(const artifact::MatrixProduct &product,
                             int64_t rows, const void *const *operands,
                             cuda::Stream stream, const std::string &launch) {
  const std::string name = launch + ": cuBLASLt";
  std::array<uint64_t, 9> key = {
      product.outputs(),          product.inner(),
      product.x_pitch(),          product.w_pitch(),
      product.y_pitch(),          uint64_t(product.x_type()),
      uint64_t(product.w_type()), uint64_t(product.y_type()),
      static_cast<uint64_t>(rows)};
  auto known = ways.find(key);
  if (known == ways.end()) {
    Result<Way> way = find(product, rows, name);
    if (!way)
      return way.error();
    known = ways.emplace(key, std::move(*way)).first;
  }
  const Way &way = known->second;
  const float one = 1, zero = 0;
  auto *y = const_cast<void *>(operands[2]);
  return library->check(
      name,
      library->multiply(handle.get(), way.operation.get(), &one, operands[1],
                        way.w.get(), operands[0], way.x.get(), &zero, y,
                        way.y.get(), y, way.y.get(), &way.algorithm,
                        reinterpret_cast<void *>(workspace.get()),
                        kWorkspaceBytes, stream));
}
