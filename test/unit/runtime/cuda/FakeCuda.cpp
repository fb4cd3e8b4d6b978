#include "test/unit/runtime/cuda/FakeCuda.h"
#include "test/unit/runtime/cuda/FakeCalls.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sstream>
#include <unistd.h>
#include <utility>

using namespace effc::test;

// The kernels of ToyKernels.c.
extern "C" {
void toy_embed(const void *const *, const int64_t *, int64_t, int64_t);
void toy_scan(const void *const *, const int64_t *, int64_t, int64_t);
void toy_scan_keys(const void *const *, const int64_t *, int64_t, int64_t);
void toy_head(const void *const *, const int64_t *, int64_t, int64_t);
void toy_draw(const void *const *, const int64_t *, int64_t, int64_t);
}

namespace {
using Kernel = void (*)(const void *const *, const int64_t *, int64_t, int64_t);
constexpr int kCounts = 3, kNotFound = 500, kOutOfMemory = 2, kInvalidValue = 1;

struct Function {
  std::string name;
  Kernel run;
  int operands = 4;
  int dynamicSharedBytes = 0; // that are granted
};
struct Recording {
  std::vector<std::function<void()>> steps;
};

FakeCuda state;

/// What a test wants of it that starts a program.
void changeByEnvironment() {
  auto number = [](const char *variable, auto to) {
    if (const char *given = std::getenv(variable))
      to(std::atoi(given));
  };
  number("FAKE_CUDA_FREE",
         [](int value) { state.free = static_cast<size_t>(value); });
  number("FAKE_CUDA_CAPABILITY", [](int value) {
    state.major = value / 10;
    state.minor = value % 10;
  });
  if (const char *image = std::getenv("FAKE_CUDA_REFUSES"))
    state.failures[std::string("cuModuleLoadDataEx ") + image] = 200;
}

Recording *recording = nullptr; // while a stream is captured
std::map<uint64_t, size_t> allocations;

void copy(void *to, const void *from, size_t bytes) {
  doOrRecord([=] { std::memcpy(to, from, bytes); });
}

/// What a kernel does that cuBLASLt may do instead: f32 [rows, 3] by bf16
/// [271, 3].
void toyProduct(const void *const *operands, const int64_t *counts, int64_t,
                int64_t) {
  auto *x = static_cast<const float *>(operands[0]);
  auto *w = static_cast<const uint16_t *>(operands[1]);
  auto *y = static_cast<float *>(const_cast<void *>(operands[2]));
  for (int64_t row = 0; row < counts[0]; ++row)
    for (int64_t v = 0; v < 271; ++v) {
      float sum = 0;
      for (int64_t c = 0; c < 3; ++c) {
        uint32_t bits = uint32_t(w[v * 32 + c]) << 16;
        float wide;
        std::memcpy(&wide, &bits, sizeof wide);
        sum += wide * x[row * 4 + c];
      }
      y[row * 271 + v] = sum;
    }
}

Function functions[] = {
    {"toy_embed", toy_embed},  {"toy_scan", toy_scan},
    {"toy_head", toy_head},    {"toy_scan_keys", toy_scan_keys, 7},
    {"toy_draw", toy_draw, 5}, {"toy_product", toyProduct, 3}};
} // namespace

namespace effc::test {
int enter(const std::string &symbol, const std::string &details) {
  state.calls.push_back(details.empty() ? symbol : symbol + " " + details);
  static const char *const lost = std::getenv("FAKE_CUDA_LOST");
  if (lost && symbol == "cuStreamSynchronize" && access(lost, F_OK) == 0)
    return 700;
  auto failure = state.failures.find(symbol);
  return failure == state.failures.end() ? 0 : failure->second;
}

int doOrRecord(std::function<void()> step) {
  if (recording)
    recording->steps.push_back(std::move(step));
  else
    step();
  return 0;
}
} // namespace effc::test

// The library's functions, by the types of their machine words.
extern "C" {
FakeCuda *fakeCuda() { return &state; }

int cuInit(unsigned) {
  ENTER(cuInit);
  changeByEnvironment();
  return 0;
}
int cuDriverGetVersion(int *version) {
  *version = state.version;
  return 0;
}
int cuGetErrorName(int result, const char **text) {
  *text = result == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == 200        ? "CUDA_ERROR_INVALID_IMAGE"
          : result == 209        ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : result == 222        ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
          : result == 500        ? "CUDA_ERROR_NOT_FOUND"
          : result == 700        ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                 : "CUDA_ERROR_UNKNOWN";
  return 0;
}
int cuGetErrorString(int result, const char **text) {
  *text = result == 700   ? "an illegal memory access was encountered"
          : result == 200 ? "device kernel image is invalid"
                          : "something";
  return 0;
}
int cuDeviceGetCount(int *count) {
  ENTER(cuDeviceGetCount);
  *count = state.devices;
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  ENTER(cuDeviceGet);
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char *name, int bytes, int) {
  std::strncpy(name, "Fake GPU", static_cast<size_t>(bytes));
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  switch (attribute) {
  case 75:
    *value = state.major;
    return 0;
  case 76:
    *value = state.minor;
    return 0;
  case 97:
    *value = state.mostSharedBytes;
    return 0;
  }
  return kInvalidValue;
}
int cuDevicePrimaryCtxRetain(void **context, int) {
  ENTER(cuDevicePrimaryCtxRetain);
  *context = &state;
  ++state.live;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --state.live;
  return 0;
}
// Of these two there are too many to be written down.
int cuCtxPushCurrent_v2(void *) {
  auto failure = state.failures.find("cuCtxPushCurrent_v2");
  if (failure != state.failures.end())
    return failure->second;
  ++state.pushed;
  return 0;
}
int cuCtxPopCurrent_v2(void **) {
  --state.pushed;
  return 0;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned options,
                       int *names, void **values) {
  std::string text = static_cast<const char *>(image);
  auto failure = state.failures.find("cuModuleLoadDataEx " + text);
  bool fails = failure != state.failures.end();
  for (unsigned i = 0; i < options; ++i)
    if (names[i] == 5) // the error log
      std::strcpy(static_cast<char *>(values[i]),
                  fails || state.failures.count("cuModuleLoadDataEx")
                      ? "bad\nimage"
                      : "");
  ENTER(cuModuleLoadDataEx);
  if (fails)
    return failure->second;
  state.images.emplace_back(static_cast<const char *>(image));
  *module = &functions;
  ++state.live;
  return 0;
}
int cuModuleUnload(void *) {
  --state.live;
  return 0;
}
int cuModuleGetFunction(void **function, void *, const char *name) {
  ENTER(cuModuleGetFunction, name);
  for (Function &one : functions)
    if (one.name == name) {
      *function = &one;
      return 0;
    }
  return kNotFound;
}
int cuFuncGetAttribute(int *value, int attribute, void *) {
  if (attribute != 1)
    return kInvalidValue;
  *value = state.staticSharedBytes;
  return 0;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  auto *one = static_cast<Function *>(function);
  ENTER(cuFuncSetAttribute, one->name + " " + std::to_string(attribute) + " " +
                                std::to_string(value));
  one->dynamicSharedBytes = value;
  return 0;
}

int cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = state.free;
  *total = state.total;
  return 0;
}
int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  ENTER(cuMemAlloc_v2, std::to_string(bytes));
  if (bytes == 0)
    return kInvalidValue;
  // What it may hold before it is written.
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(memory, 0xFF, bytes);
  *address = reinterpret_cast<uint64_t>(memory);
  allocations[*address] = bytes;
  ++state.live;
  return 0;
}
int cuMemFree_v2(uint64_t address) {
  std::free(reinterpret_cast<void *>(address));
  allocations.erase(address);
  --state.live;
  return 0;
}
int cuMemAllocHost_v2(void **address, size_t bytes) {
  ENTER(cuMemAllocHost_v2, std::to_string(bytes));
  *address = std::calloc(bytes, 1);
  ++state.live;
  return 0;
}
int cuMemFreeHost(void *address) {
  std::free(address);
  --state.live;
  return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *) {
  ENTER(cuMemcpyHtoDAsync_v2);
  copy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *) {
  ENTER(cuMemcpyDtoHAsync_v2, std::to_string(bytes));
  copy(to, reinterpret_cast<const void *>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *) {
  ENTER(cuMemcpyDtoDAsync_v2, std::to_string(bytes));
  copy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from),
       bytes);
  return 0;
}
int cuMemsetD8Async(uint64_t at, unsigned char value, size_t bytes, void *) {
  std::memset(reinterpret_cast<void *>(at), value, bytes);
  return 0;
}

int cuStreamCreate(void **stream, unsigned) {
  ENTER(cuStreamCreate);
  *stream = &state;
  ++state.live;
  return 0;
}
int cuStreamDestroy_v2(void *) {
  --state.live;
  return 0;
}
int cuStreamSynchronize(void *) {
  ENTER(cuStreamSynchronize);
  return 0;
}
int cuEventCreate(void **event, unsigned) {
  *event = &state;
  ++state.live;
  return 0;
}
int cuEventDestroy_v2(void *) {
  --state.live;
  return 0;
}
int cuEventRecord(void *, void *) {
  ++state.marks;
  return 0;
}
int cuEventElapsedTime(float *milliseconds, void *, void *) {
  ENTER(cuEventElapsedTime);
  *milliseconds = 2;
  return 0;
}
int cuEventSynchronize(void *) {
  ENTER(cuEventSynchronize);
  return 0;
}

int cuStreamBeginCapture_v2(void *, int) {
  ENTER(cuStreamBeginCapture_v2);
  recording = new Recording;
  return 0;
}
int cuStreamEndCapture(void *, void **graph) {
  *graph = std::exchange(recording, nullptr);
  ++state.live;
  return 0;
}
int cuGraphInstantiateWithFlags(void **ready, void *graph, unsigned long long) {
  ENTER(cuGraphInstantiateWithFlags);
  *ready = new Recording(*static_cast<Recording *>(graph));
  ++state.live;
  return 0;
}
int cuGraphDestroy(void *graph) {
  delete static_cast<Recording *>(graph);
  --state.live;
  return 0;
}
int cuGraphExecDestroy(void *graph) {
  delete static_cast<Recording *>(graph);
  --state.live;
  return 0;
}
int cuGraphLaunch(void *graph, void *) {
  ENTER(cuGraphLaunch);
  for (const auto &step : static_cast<Recording *>(graph)->steps)
    step();
  return 0;
}

int cuTensorMapEncodeTiled(uint64_t *map, int type, unsigned rank,
                           void *address, const uint64_t *sizes,
                           const uint64_t *strides, const unsigned *box,
                           const unsigned *steps, int interleave, int swizzle,
                           int promotion, int outside) {
  std::ostringstream details;
  details << "type " << type << " of " << sizes[0] << " x " << sizes[1]
          << " every " << strides[0] << " box " << box[0] << " x " << box[1]
          << " swizzle " << swizzle;
  ENTER(cuTensorMapEncodeTiled, details.str());
  if (reinterpret_cast<uint64_t>(map) % 64 != 0 || rank != 2 ||
      reinterpret_cast<uint64_t>(address) % 16 != 0 || steps[0] != 1 ||
      steps[1] != 1 || interleave != 0 || promotion > 3 || outside != 0)
    return kInvalidValue;
  std::fill_n(map, 16, ++state.tensorMaps);
  return 0;
}

// As cuda.h has them, so that the runtime's own have to lie alike.
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    int value;
  };
};
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};

int cuLaunchKernelEx(const LaunchConfig *config, void *function,
                     void **parameters, void **extra) {
  auto *one = static_cast<Function *>(function);
  unsigned gridX = config->gridX, blockX = config->blockX;
  // What a driver takes without being asked for more.
  int granted =
      std::max(48 * 1024 - state.staticSharedBytes, one->dynamicSharedBytes);
  if (gridX == 0 || config->gridY != 1 || config->gridZ != 1 ||
      config->blockY != 1 || config->blockZ != 1 || extra ||
      static_cast<int>(config->sharedBytes) > granted ||
      config->stream != &state || config->attributeCount > 1)
    return kInvalidValue;
  bool overlaps = config->attributeCount == 1;
  if (overlaps &&
      (config->attributes->id != 6 || config->attributes->value != 1))
    return kInvalidValue;
  std::vector<const void *> operands(one->operands);
  std::vector<int64_t> counts(kCounts + 1, 1);
  for (int i = 0; i < one->operands; ++i)
    std::memcpy(&operands[i], parameters[i], sizeof(void *));
  for (int i = 0; i < kCounts; ++i)
    std::memcpy(&counts[i], parameters[one->operands + i], sizeof(int64_t));
  std::ostringstream details;
  details << one->name << " grid " << gridX << " block " << blockX << " shared "
          << config->sharedBytes << " counts " << counts[0] << ' ' << counts[1]
          << ' ' << counts[2];
  for (int i = 0; i < state.mapsOf[one->name]; ++i) {
    uint64_t map[16];
    std::memcpy(map, parameters[one->operands + kCounts + i], sizeof map);
    details << " map " << map[0];
  }
  if (overlaps)
    details << " overlaps";
  ENTER(cuLaunchKernelEx, details.str());
  if (auto failure = state.failures.find("cuLaunchKernelEx " + one->name);
      failure != state.failures.end())
    return failure->second;
  return doOrRecord(
      [=] { one->run(operands.data(), counts.data(), 0, gridX); });
}
}
