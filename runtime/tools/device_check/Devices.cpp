#include "runtime/tools/device_check/Devices.h"

#include "runtime/src/devices/cuda/CudaDevice.h"
#include "runtime/src/devices/host/HostDevice.h"
#include "runtime/src/devices/sim/SimDevice.h"

#include <cstdlib>

using namespace effc;
using namespace effc::check;

static rt::Result<std::shared_ptr<rt::Device>> open(const std::string &name) {
  if (name == "host")
    return rt::HostDevice::create(0);
  if (name == "cuda")
    return rt::CudaDevice::create(0);
  if (name == "sim")
    return rt::createSimDevice(0, 0);
  if (name.rfind("sim:", 0) == 0)
    return rt::createSimDevice(
        static_cast<uint32_t>(std::strtoul(name.c_str() + 4, nullptr, 10)), 0);
  return rt::invalidArgument("'", name,
                             "' is no device: host, sim, sim:80, sim:90, cuda");
}

std::shared_ptr<rt::Device> check::openDevice(const std::string &name) {
  auto device = open(name);
  if (!device)
    throw Failure(device.error().message);
  return std::move(*device);
}

Prepared check::prepare(rt::Device &device, const std::string &path,
                        uint32_t slots) {
  rt::LoadOptions options;
  options.drawSeed = 1;
  auto model = rt::Model::load(path, options);
  if (!model)
    throw Failure(model.error().message);
  auto executor = device.prepare(*model, slots, {});
  if (!executor)
    throw Failure(path + ": " + executor.error().message);
  // What is checked and timed is the file's best code, not other code for it.
  if (const std::string &note = (*executor)->note(); !note.empty())
    throw Failure(path + ": " + note);
  return {std::move(*model), std::move(*executor)};
}

uint32_t check::findEntry(const rt::Plan &plan, artifact::EntryKind kind,
                          int64_t rows) {
  std::optional<uint32_t> best;
  for (uint32_t i = 0; i < plan.entries->size(); ++i) {
    const artifact::Entry &entry = *plan.entries->Get(i);
    if (entry.kind() == kind && entry.rows() >= rows &&
        (!best || entry.rows() < plan.entries->Get(*best)->rows()))
      best = i;
  }
  if (!best)
    throw Failure("no " +
                  std::string(kind == artifact::EntryKind::Prefill ? "prefill"
                                                                   : "decode") +
                  " entry has " + std::to_string(rows) + " rows");
  return *best;
}
