#include "runtime/src/devices/cuda/CudaClock.h"

using namespace effc;
using namespace effc::rt;

Result<CudaStopwatch>
CudaStopwatch::create(const std::shared_ptr<const CudaContext> &context,
                      cuda::Stream stream) {
  const CudaDriver &driver = context->driver();
  CudaStopwatch watch;
  watch.context = context;
  watch.stream = stream;
  for (CudaOwned<cuda::Event> *one : {&watch.begin, &watch.end}) {
    cuda::Event event = nullptr;
    if (Check error =
            driver.check("making a stopwatch",
                         driver.eventCreate(&event, cuda::kEventTiming)))
      return *error;
    *one = CudaOwned<cuda::Event>(context, event, driver.eventDestroy);
  }
  return watch;
}

Check CudaStopwatch::mark(cuda::Event event) const {
  const CudaDriver &driver = context->driver();
  return driver.check("marking the time", driver.eventRecord(event, stream));
}

Result<double> CudaStopwatch::seconds() const {
  const CudaDriver &driver = context->driver();
  float milliseconds = 0;
  if (Check error = driver.check(
          "reading the time",
          driver.eventElapsed(&milliseconds, begin.get(), end.get())))
    return *error;
  return 1e-3 * static_cast<double>(milliseconds);
}
