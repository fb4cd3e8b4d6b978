#include "runtime/src/devices/cuda/CudaProducts.h"

#include <cstdlib>
#include <string_view>

using namespace effc;
using namespace effc::rt;

/// What NVIDIA's documentation of cublasSetWorkspace() gives an H100; with less
/// some ways are not suggested.
static constexpr uint64_t kWorkspaceBytes = uint64_t(32) << 20;
/// More than the rows of all prefill entries times a model's different
/// products.
static constexpr size_t kMostWays = 16384;

/// What can be done where the library does not multiply.
static constexpr const char *kRemedy =
    "; with EFFC_CUBLASLT=none in the environment, or compiled without --dense "
    "library, the file's own kernel does it";

Result<CudaProducts> CudaProducts::open(const Plan &plan,
                                        CublasLtOnDemand &libraries) {
  CudaProducts products;
  bool wanted = false;
  for (const artifact::Entry *entry : *plan.entries)
    for (const artifact::Launch *launch : *entry->launches())
      wanted |= launch->product() != nullptr;
  const char *given = secure_getenv("EFFC_CUBLASLT");
  if (given && !*given)
    given = nullptr;
  if (!wanted || (given && std::string_view(given) == "none"))
    return products;
  auto opened = libraries.get(given);
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
  if (Check error = library->check(library->create(&made)))
    return fail(error->code, "cuda: starting ", error->message);
  handle = {made, [context = given, library = library](cublas::Handle object) {
              if (!context->isOfThisProcess())
                return;
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
  case artifact::ElementType::F32:
    return cublas::kF32;
  case artifact::ElementType::I32:
  case artifact::ElementType::I64:
  case artifact::ElementType::Blocks:
    break;
  }
  std::abort(); // checkEntries() has refused it
}

/// Makes the product's matrices known. The library's lie column after column:
/// rows of ours are its columns, and y^T = (w^T)^T x^T.
Check CudaProducts::describe(const Task &task, Way &way) const {
  cublas::Operation operation = nullptr;
  if (Check error = library->check(library->operationCreate(
          &operation, cublas::kComputeF32, cublas::kF32)))
    return error;
  way.operation.reset(operation);
  int transposed = cublas::kTransposed;
  if (Check error = library->check(library->operationSet(
          operation, cublas::kTransposeA, &transposed, sizeof transposed)))
    return error;
  struct {
    Owned<cublas::Layout> &layout;
    const Task::Matrix &matrix;
    uint64_t rows, columns;
  } layouts[] = {{way.w, task.w, task.inner, task.outputs},
                 {way.x, task.x, task.inner, task.rows},
                 {way.y, task.y, task.outputs, task.rows}};
  for (auto &[layout, matrix, rows, columns] : layouts) {
    cublas::Layout made = nullptr;
    if (Check error = library->check(
            library->layoutCreate(&made, typeOf(matrix.type), rows, columns,
                                  static_cast<int64_t>(matrix.pitch))))
      return error;
    layout.reset(made);
  }
  return {};
}

Result<CudaProducts::Way> CudaProducts::find(const Task &task) const {
  Way way = {{nullptr, library->operationDestroy},
             {nullptr, library->layoutDestroy},
             {nullptr, library->layoutDestroy},
             {nullptr, library->layoutDestroy},
             {}};
  if (Check error = describe(task, way))
    return *error;
  cublas::Preference made = nullptr;
  if (Check error = library->check(library->preferenceCreate(&made)))
    return *error;
  Owned<cublas::Preference> preference(made, library->preferenceDestroy);
  auto set = [&](int attribute, const auto &value) {
    return library->check(
        library->preferenceSet(made, attribute, &value, sizeof value));
  };
  // Sums that are taken together later stay f32 until then.
  for (Check error : {set(cublas::kMostWorkspaceBytes, kWorkspaceBytes),
                      set(cublas::kReductionSchemes, cublas::kReduceInF32)})
    if (error)
      return *error;
  // A is w, B is x, C and D are y.
  int attribute = cublas::kAlignmentOfA;
  for (uint32_t alignment :
       {task.w.alignment, task.x.alignment, task.y.alignment, task.y.alignment})
    if (Check error = set(attribute++, alignment))
      return *error;
  cublas::Suggestion suggestion = {};
  int found = 0;
  cublas::Status status = library->suggest(
      handle.get(), way.operation.get(), way.w.get(), way.x.get(), way.y.get(),
      way.y.get(), made, /*wanted=*/1, &suggestion, &found);
  bool isUnknown = status == cublas::kNotSupported || found == 0 ||
                   suggestion.status != cublas::kSuccess;
  if (isUnknown &&
      (status == cublas::kSuccess || status == cublas::kNotSupported))
    return fail(EFFC_DEVICE_ERROR, "cuBLASLt knows no way to multiply ",
                task.rows, " x ", task.inner, " by ", task.inner, " x ",
                task.outputs);
  if (Check error = library->check(status))
    return *error;
  way.algorithm = suggestion.algorithm;
  return way;
}

/// The largest power of two, up to what an algorithm may ask for, that an
/// address is a multiple of.
static uint32_t alignmentOf(const void *address) {
  constexpr uintptr_t kMost = 256;
  uintptr_t bits = reinterpret_cast<uintptr_t>(address) | kMost;
  return static_cast<uint32_t>(bits & (~bits + 1));
}

Check CudaProducts::multiply(const artifact::MatrixProduct &product,
                             int64_t rows, const void *const *operands,
                             cuda::Stream stream) {
  Task task = {static_cast<uint64_t>(rows),
               product.outputs(),
               product.inner(),
               {product.x_pitch(), product.x_type(), alignmentOf(operands[0])},
               {product.w_pitch(), product.w_type(), alignmentOf(operands[1])},
               {product.y_pitch(), product.y_type(), alignmentOf(operands[2])}};
  auto known = ways.find(task);
  if (known == ways.end()) {
    Result<Way> way = find(task);
    if (!way)
      return fail(way.error().code, way.error().message, kRemedy);
    if (ways.size() >= kMostWays)
      ways.clear();
    known = ways.emplace(task, std::move(*way)).first;
  }
  const Way &way = known->second;
  const float one = 1, zero = 0;
  auto *y = const_cast<void *>(operands[2]);
  cublas::Status status = library->multiply(
      handle.get(), way.operation.get(), &one, operands[1], way.w.get(),
      operands[0], way.x.get(), &zero, y, way.y.get(), y, way.y.get(),
      &way.algorithm, reinterpret_cast<void *>(workspace.get()),
      kWorkspaceBytes, stream);
  Check error = library->check(status);
  if (status == cublas::kNotSupported)
    error->message += kRemedy;
  return error;
}
