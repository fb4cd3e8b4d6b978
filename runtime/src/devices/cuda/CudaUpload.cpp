#include "runtime/src/devices/cuda/CudaUpload.h"

#include <algorithm>
#include <cstring>

using namespace effc;
using namespace effc::rt;

/// As cuMemAlloc aligns, so that every weight starts as if it were alone.
static constexpr uint64_t kAlignment = 256;
static constexpr uint64_t kStagingBytes = uint64_t(16) << 20;

WeightPlaces rt::placeWeights(const artifact::Program &program) {
  WeightPlaces places;
  for (const artifact::Weight *weight : *program.weights()) {
    places.offsets.push_back(places.bytes);
    places.bytes += (weight->size() + kAlignment - 1) / kAlignment * kAlignment;
  }
  return places;
}

namespace {
/// One of the two buffers, and the event after which it can be filled again.
struct Staging {
  PinnedMemory bytes;
  CudaOwned<cuda::Event> copied;
  bool inUse = false;
};
} // namespace

static Result<Staging>
makeStaging(const std::shared_ptr<const CudaContext> &context) {
  const CudaDriver &driver = context->driver();
  Staging staging;
  Result<PinnedMemory> bytes =
      allocatePinned(context, kStagingBytes, "the weights on their way");
  if (!bytes)
    return bytes.error();
  staging.bytes = std::move(*bytes);
  cuda::Event event = nullptr;
  if (Check error =
          driver.check("preparing the upload of the weights",
                       driver.eventCreate(&event, cuda::kEventNoTiming)))
    return *error;
  staging.copied = CudaOwned<cuda::Event>(context, event, driver.eventDestroy);
  return staging;
}

/// Through two buffers, which the GPU may still read where it fails.
static Check copyWeights(const Model &model, const WeightPlaces &places,
                         cuda::Pointer to, Staging *current, Staging *other,
                         const CudaDriver &driver, cuda::Stream stream,
                         const UploadProgress &progress) {
  const artifact::Program &program = model.program();
  uint64_t total = 0, done = 0;
  for (const artifact::Weight *weight : *program.weights())
    total += weight->size();
  for (uint32_t i = 0; i < program.weights()->size(); ++i) {
    uint64_t size = program.weights()->Get(i)->size();
    for (uint64_t at = 0; at < size; at += kStagingBytes) {
      uint64_t count = std::min(size - at, kStagingBytes);
      if (current->inUse)
        if (Check error =
                driver.check("uploading the weights",
                             driver.eventSynchronize(current->copied.get())))
          return error;
      std::memcpy(current->bytes.get(), model.weight(i) + at, count);
      current->inUse = true;
      for (cuda::Result result :
           {driver.copyToDevice(to + places.offsets[i] + at,
                                current->bytes.get(), count, stream),
            driver.eventRecord(current->copied.get(), stream)})
        if (Check error = driver.check("uploading the weights", result))
          return error;
      std::swap(current, other);
      done += count;
      if (progress.report)
        progress.report(progress.user, done, total);
    }
  }
  return driver.check("uploading the weights",
                      driver.streamSynchronize(stream));
}

Check rt::uploadWeights(const Model &model, const WeightPlaces &places,
                        cuda::Pointer to,
                        const std::shared_ptr<const CudaContext> &context,
                        cuda::Stream stream, const UploadProgress &progress) {
  Result<Staging> first = makeStaging(context), second = makeStaging(context);
  for (Result<Staging> *one : {&first, &second})
    if (!*one)
      return one->error();
  const CudaDriver &driver = context->driver();
  Check error = copyWeights(model, places, to, &*first, &*second, driver,
                            stream, progress);
  if (error)
    driver.streamSynchronize(stream); // the failure is known
  return error;
}
