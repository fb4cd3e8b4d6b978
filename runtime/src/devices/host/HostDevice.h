//===- HostDevice.h - The processor as a device ---------------------------===//
//
// Runs the import-free code of a HostCode segment, mapped read-execute from the
// file. A call of an entry is one job of the pool, its launches the job's
// phases. Work items are independent, so results depend neither on the number
// of threads nor on which thread does what.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_HOST_HOSTDEVICE_H
#define EFFC_RUNTIME_SRC_DEVICES_HOST_HOSTDEVICE_H

#include "runtime/src/Device.h"
#include "runtime/src/devices/host/ThreadPool.h"

namespace effc::rt {

class HostDevice : public Device {
public:
  /// `threads` 0: one per usable core.
  static Result<std::shared_ptr<Device>> create(uint32_t threads);

  const std::string &description() const override { return text; }
  uint32_t threads() const override { return pool->threads(); }
  Check accepts(const Model &model) const override;
  Result<std::unique_ptr<Executor>>
  prepare(std::shared_ptr<const Model> model, uint32_t sessions,
          const UploadProgress &progress) override;

private:
  explicit HostDevice(std::unique_ptr<ThreadPool> pool);

  std::unique_ptr<ThreadPool> pool;
  std::string text;
};

/// The index of the best HostCode segment that runs here and has code for every
/// kernel; else why there is none.
Result<uint32_t> chooseHostCode(const artifact::Program &program);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_HOST_HOSTDEVICE_H
