//===- CudaDriver.h - The CUDA driver, opened at run time -----------------===//
//
// Types, values and functions of the CUDA driver API, as far as they are used,
// declared after its documentation (CUDA Driver API reference manual, 12.0), so
// that no CUDA header is needed. Suffixes like _v2 are those that cuda.h adds.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDADRIVER_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDADRIVER_H

#include "runtime/src/Error.h"
#include "runtime/src/devices/cuda/OpenedLibrary.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace effc::rt {

namespace cuda {
using Result = int; // CUresult
using Device = int;
using Pointer = uint64_t; // CUdeviceptr
using Context = struct ContextObject *;
using Module = struct ModuleObject *;
using Function = struct FunctionObject *;
using Stream = struct StreamObject *;
using Event = struct EventObject *;
using Graph = struct GraphObject *;
using GraphExec = struct GraphExecObject *;
/// CUtensorMap; what is in it only the driver knows.
struct alignas(128) TensorMap {
  uint64_t opaque[16];
};
/// CUlaunchAttribute, of a value that is an int.
struct alignas(8) LaunchAttribute {
  int id;
  int padding = 0;
  int value;
  int rest[15] = {};
};
/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  Stream stream;
  const LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(TensorMap) == 128 && sizeof(LaunchAttribute) == 72 &&
              sizeof(LaunchConfig) == 56);

constexpr Result kSuccess = 0;
constexpr Result kOutOfMemory = 2;
constexpr Result kNoDevice = 100;
constexpr Result kInvalidImage = 200;
constexpr Result kNoBinaryForGpu = 209;
constexpr Result kInvalidPtx = 218;
constexpr Result kUnsupportedPtxVersion = 222;

// CUdevice_attribute
constexpr int kSharedBytesPerBlockOptIn = 97;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;
// CUfunction_attribute
constexpr int kStaticSharedBytes = 1;
constexpr int kMostDynamicSharedBytes = 8;
// CUjit_option
constexpr int kJitErrorLog = 5;
constexpr int kJitErrorLogBytes = 6;
// CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
constexpr int kMayOverlap = 6;
// CUtensorMapDataType, ...Interleave, ...Swizzle, ...L2promotion, ...OOBfill
constexpr int kMapF16 = 6;
constexpr int kMapF32 = 7;
constexpr int kMapBF16 = 9;
constexpr int kMapPlain = 0;
constexpr int kMapSwizzle128 = 3;
constexpr int kMapPromoteTo256 = 3;
constexpr int kMapZerosOutside = 0;
// CUstreamCaptureMode
constexpr int kCaptureThreadLocal = 1;
// CUstream_flags, CUevent_flags
constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kEventTiming = 0;
constexpr unsigned kEventNoTiming = 2;
} // namespace cuda

/// F(name, name of the symbol, parameters) for each function.
#define EFFC_CUDA_FUNCTIONS(F)                                                 \
  F(init, "cuInit", (unsigned flags))                                          \
  F(driverGetVersion, "cuDriverGetVersion", (int *version))                    \
  F(getErrorName, "cuGetErrorName", (cuda::Result, const char **text))         \
  F(getErrorString, "cuGetErrorString", (cuda::Result, const char **text))     \
  F(deviceGetCount, "cuDeviceGetCount", (int *count))                          \
  F(deviceGet, "cuDeviceGet", (cuda::Device * device, int ordinal))            \
  F(deviceGetName, "cuDeviceGetName",                                          \
    (char *name, int bytes, cuda::Device device))                              \
  F(deviceGetAttribute, "cuDeviceGetAttribute",                                \
    (int *value, int attribute, cuda::Device device))                          \
  F(contextRetain, "cuDevicePrimaryCtxRetain",                                 \
    (cuda::Context * context, cuda::Device device))                            \
  F(contextRelease, "cuDevicePrimaryCtxRelease_v2", (cuda::Device device))     \
  F(contextPush, "cuCtxPushCurrent_v2", (cuda::Context context))               \
  F(contextPop, "cuCtxPopCurrent_v2", (cuda::Context * context))               \
  F(moduleLoad, "cuModuleLoadDataEx",                                          \
    (cuda::Module * module, const void *image, unsigned options, int *names,   \
     void **values))                                                           \
  F(moduleUnload, "cuModuleUnload", (cuda::Module module))                     \
  F(moduleGetFunction, "cuModuleGetFunction",                                  \
    (cuda::Function * function, cuda::Module module, const char *name))        \
  F(functionGetAttribute, "cuFuncGetAttribute",                                \
    (int *value, int attribute, cuda::Function function))                      \
  F(functionSetAttribute, "cuFuncSetAttribute",                                \
    (cuda::Function function, int attribute, int value))                       \
  F(memoryInfo, "cuMemGetInfo_v2", (size_t *free, size_t *total))              \
  F(memoryAllocate, "cuMemAlloc_v2", (cuda::Pointer * address, size_t bytes))  \
  F(memoryFree, "cuMemFree_v2", (cuda::Pointer address))                       \
  F(hostAllocate, "cuMemAllocHost_v2", (void **address, size_t bytes))         \
  F(hostFree, "cuMemFreeHost", (void *address))                                \
  F(copyToDevice, "cuMemcpyHtoDAsync_v2",                                      \
    (cuda::Pointer to, const void *from, size_t bytes, cuda::Stream stream))   \
  F(copyToHost, "cuMemcpyDtoHAsync_v2",                                        \
    (void *to, cuda::Pointer from, size_t bytes, cuda::Stream stream))         \
  F(copyOnDevice, "cuMemcpyDtoDAsync_v2",                                      \
    (cuda::Pointer to, cuda::Pointer from, size_t bytes, cuda::Stream stream)) \
  F(setBytes, "cuMemsetD8Async",                                               \
    (cuda::Pointer at, unsigned char value, size_t bytes,                      \
     cuda::Stream stream))                                                     \
  F(streamCreate, "cuStreamCreate", (cuda::Stream * stream, unsigned flags))   \
  F(streamDestroy, "cuStreamDestroy_v2", (cuda::Stream stream))                \
  F(streamSynchronize, "cuStreamSynchronize", (cuda::Stream stream))           \
  F(eventCreate, "cuEventCreate", (cuda::Event * event, unsigned flags))       \
  F(eventDestroy, "cuEventDestroy_v2", (cuda::Event event))                    \
  F(eventRecord, "cuEventRecord", (cuda::Event event, cuda::Stream stream))    \
  F(eventSynchronize, "cuEventSynchronize", (cuda::Event event))               \
  F(eventElapsed, "cuEventElapsedTime",                                        \
    (float *milliseconds, cuda::Event from, cuda::Event to))                   \
  F(captureBegin, "cuStreamBeginCapture_v2", (cuda::Stream stream, int mode))  \
  F(captureEnd, "cuStreamEndCapture",                                          \
    (cuda::Stream stream, cuda::Graph * graph))                                \
  F(graphInstantiate, "cuGraphInstantiateWithFlags",                           \
    (cuda::GraphExec * ready, cuda::Graph graph, unsigned long long flags))    \
  F(graphDestroy, "cuGraphDestroy", (cuda::Graph graph))                       \
  F(graphExecDestroy, "cuGraphExecDestroy", (cuda::GraphExec graph))           \
  F(graphLaunch, "cuGraphLaunch",                                              \
    (cuda::GraphExec graph, cuda::Stream stream))                              \
  F(tensorMapEncode, "cuTensorMapEncodeTiled",                                 \
    (cuda::TensorMap * map, int type, unsigned rank, void *address,            \
     const uint64_t *sizes, const uint64_t *strides, const unsigned *box,      \
     const unsigned *steps, int interleave, int swizzle, int promotion,        \
     int outside))                                                             \
  F(launchKernel, "cuLaunchKernelEx",                                          \
    (const cuda::LaunchConfig *config, cuda::Function function,                \
     void **parameters, void **extra))

/// The functions of an opened driver; they may be called from any thread.
class CudaDriver {
public:
  /// Opens "libcuda.so.1", or what the environment's EFFC_CUDA_DRIVER names,
  /// and initialises it. The message of a failure says what to install.
  static Result<std::shared_ptr<const CudaDriver>> open();

#define EFFC_CUDA_MEMBER(name, symbol, parameters)                             \
  cuda::Result(*name) parameters = nullptr;
  EFFC_CUDA_FUNCTIONS(EFFC_CUDA_MEMBER)
#undef EFFC_CUDA_MEMBER

  int version() const { return found; } // 12040 is 12.4
  std::string versionText() const;
  /// "CUDA_ERROR_INVALID_VALUE (invalid argument)".
  std::string textOf(cuda::Result result) const;
  /// What a failed call becomes: `what` says what was to be done.
  Error failure(const std::string &what, cuda::Result result) const;
  /// Empty when `result` is a success.
  Check check(const std::string &what, cuda::Result result) const;

private:
  CudaDriver() = default;
  Check resolve(const std::string &path);

  OpenedLibrary library;
  int found = 0;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDADRIVER_H
