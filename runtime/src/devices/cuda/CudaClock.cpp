#include "runtime/src/devices/cuda/CudaClock.h"

using namespace effc;
using namespace effc::rt;

static Check makeEvent(const std::shared_ptr<const CudaContext> &context,
                       CudaOwned<cuda::Event> &out) {
  const CudaDriver &driver = context->driver();
  cuda::Event event = nullptr;
  if (Check error =
          driver.check("making a mark of time",
                       driver.eventCreate(&event, cuda::kEventTiming)))
    return error;
  out = CudaOwned<cuda::Event>(context, event, driver.eventDestroy);
  return {};
}

Result<CudaStopwatch>
CudaStopwatch::create(const std::shared_ptr<const CudaContext> &context,
                      cuda::Stream stream) {
  CudaStopwatch watch;
  watch.context = context;
  watch.stream = stream;
  for (CudaOwned<cuda::Event> *one : {&watch.begin, &watch.end})
    if (Check error = makeEvent(context, *one))
      return *error;
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

Check CudaMarks::mark(uint32_t what) {
  if (passed.size() == events.size())
    if (Check error = makeEvent(context, events.emplace_back())) {
      events.pop_back();
      return error;
    }
  const CudaDriver &driver = context->driver();
  if (Check error =
          driver.check("marking the time",
                       driver.eventRecord(events[passed.size()].get(), stream)))
    return error;
  passed.push_back(what);
  return {};
}

Result<std::vector<std::pair<uint32_t, double>>> CudaMarks::times() const {
  const CudaDriver &driver = context->driver();
  std::vector<std::pair<uint32_t, double>> times;
  for (size_t i = 1; i < passed.size(); ++i) {
    float milliseconds = 0;
    if (Check error =
            driver.check("reading the time",
                         driver.eventElapsed(&milliseconds, events[0].get(),
                                             events[i].get())))
      return *error;
    times.emplace_back(passed[i], 1e-3 * static_cast<double>(milliseconds));
  }
  return times;
}
