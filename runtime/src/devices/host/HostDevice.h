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

#include "runtime/abi/HostIsas.h"
#include "runtime/src/Device.h"
#include "runtime/src/devices/host/ThreadPool.h"

namespace effc::rt {

class HostDevice : public Device {
public:
  /// `threads` 0: one per usable core. `isa`: the level whose code alone runs;
  /// empty: that of EFFC_HOST_ISA in the environment, or without it any.
  static Result<std::shared_ptr<Device>> create(uint32_t threads,
                                                std::string_view isa = "");

  const std::string &description() const override { return text; }
  uint32_t threads() const override { return pool->threads(); }
  Check accepts(const Model &model) const override;
  Result<std::unique_ptr<Executor>>
  prepare(std::shared_ptr<const Model> model, uint32_t sessions,
          const UploadProgress &progress) override;

private:
  HostDevice(std::unique_ptr<ThreadPool> pool, const HostIsa *only);

  std::unique_ptr<ThreadPool> pool;
  const HostIsa *only; // null: the best that a file has and the machine runs
  std::string text;
};

/// The index of the HostCode segment of the highest level, or of `only`, that runs
/// here and has code for every kernel; else why there is none: what the file has,
/// what the machine has and what to do.
Result<uint32_t> chooseHostCode(const artifact::Program &program,
                                const HostIsa *only = nullptr);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_HOST_HOSTDEVICE_H
