//===- CudaDevice.h - A GPU of NVIDIA's through its driver ----------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDADEVICE_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDADEVICE_H

#include "runtime/src/Device.h"
#include "runtime/src/devices/cuda/CudaMemory.h"

namespace effc::rt {

/// What a GPU is, as far as code for it is concerned.
struct CudaChip {
  std::string name; // "NVIDIA H200"
  uint32_t major = 0, minor = 0;
  uint32_t mostSharedBytes = 0; // of a block
};

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
};

/// A plan, and which segment each of its kernels is taken from.
struct CudaChoice {
  Plan plan;
  std::vector<uint32_t> segments;
};

/// The best for `chip` of a program's plans: modules made for it rather than
/// texts that the driver compiles, new ones rather than old ones. Else the
/// reason why there is none, with what there is.
Result<CudaChoice> chooseCudaPlan(const artifact::Program &program,
                                  const CudaChip &chip);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDADEVICE_H
