//===- CudaDevice.h - A GPU of NVIDIA's through its driver ----------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDADEVICE_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDADEVICE_H

#include "runtime/src/Device.h"
#include "runtime/src/devices/cuda/CublasLt.h"
#include "runtime/src/devices/cuda/CudaChoice.h"
#include "runtime/src/devices/cuda/CudaMemory.h"

namespace effc::rt {

class CudaDevice : public Device {
public:
  /// GPU `ordinal` of those that the driver lists.
  static Result<std::shared_ptr<Device>> create(uint32_t ordinal);

  const std::string &description() const override { return text; }
  uint32_t threads() const override { return 1; }
  Check accepts(const Model &model) const override;
  Result<std::unique_ptr<Executor>>
  prepare(std::shared_ptr<const Model> model, uint32_t sessions,
          const UploadProgress &progress) override;

private:
  CudaDevice(std::shared_ptr<const CudaContext> context, CudaChip chip);

  std::shared_ptr<const CudaContext> context;
  CudaChip chip;
  std::string text;
  mutable CublasLtOnDemand libraries; // which accepts() opens to see
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDADEVICE_H
