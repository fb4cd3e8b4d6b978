#include "runtime/src/devices/cuda/CudaBoxMaps.h"

#include <cstdlib>

using namespace effc;
using namespace effc::rt;

static int mapTypeOf(artifact::ElementType type) {
  switch (type) {
  case artifact::ElementType::BF16:
    return cuda::kMapBF16;
  case artifact::ElementType::F16:
    return cuda::kMapF16;
  case artifact::ElementType::F32:
    return cuda::kMapF32;
  case artifact::ElementType::I32:
  case artifact::ElementType::I64:
  case artifact::ElementType::Blocks:
    break;
  }
  std::abort(); // checkBoxMap() has refused it
}

static cuda::Result encodeOne(const CudaDriver &driver,
                              const artifact::BoxMap &map, const void *operand,
                              cuda::TensorMap &out) {
  // The fastest dimension comes first; its stride is that of elements.
  uint64_t sizes[] = {map.columns(), map.rows()}, strides[] = {map.pitch()};
  unsigned box[] = {map.box_columns(), map.box_rows()}, steps[] = {1, 1};
  return driver.tensorMapEncode(
      &out, mapTypeOf(map.type()), 2, const_cast<void *>(operand), sizes,
      strides, box, steps, cuda::kMapPlain, cuda::kMapSwizzle128,
      cuda::kMapPromoteTo256, cuda::kMapZerosOutside);
}

Result<CudaBoxMaps> CudaBoxMaps::encode(const Plan &plan,
                                        const ReadyPlan &ready,
                                        const CudaDriver &driver) {
  CudaBoxMaps made;
  for (const ReadyPlan::Launch &launch : ready.launches) {
    const artifact::Kernel &kernel = *plan.kernels->Get(launch.kernel);
    made.first.push_back(made.maps.size());
    if (!kernel.box_maps())
      continue;
    for (const artifact::BoxMap *map : *kernel.box_maps()) {
      made.maps.emplace_back();
      if (Check error = driver.check(
              "making a tensor map for operand " +
                  std::to_string(map->operand()) + " of kernel '" +
                  kernel.name()->str() + "'",
              encodeOne(driver, *map,
                        ready.operands[launch.firstOperand + map->operand()],
                        made.maps.back())))
        return *error;
    }
  }
  made.first.push_back(made.maps.size());
  return made;
}
