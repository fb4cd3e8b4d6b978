// What a launch of a GPU kernel needs, from its lowering until its binary says it.
#ifndef EFFC_CODEGEN_LAUNCHNEEDS_H
#define EFFC_CODEGEN_LAUNCHNEEDS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace effc::codegen {

/// Attributes of a lowered kernel's function: `effc.threads` and `effc.shared_bytes`,
/// `effc.box_maps` where it reads boxes, `effc.overlaps` where it may begin while the
/// launch before it ends.
struct LaunchNeeds {
  int64_t threads = 0, sharedBytes = 0;
  mlir::ArrayAttr boxMaps = {}; // of #tile.box_map; null: none
  bool overlaps = false;

  /// Those of a kernel; none of a function that is no GPU's kernel.
  static std::optional<LaunchNeeds> of(mlir::LLVM::LLVMFuncOp kernel) {
    auto threads = kernel->getAttrOfType<mlir::IntegerAttr>(kThreads);
    if (!threads)
      return std::nullopt;
    return LaunchNeeds{
        threads.getInt(),
        kernel->getAttrOfType<mlir::IntegerAttr>(kSharedBytes).getInt(),
        kernel->getAttrOfType<mlir::ArrayAttr>(kBoxMaps),
        kernel->hasAttr(kOverlaps)};
  }

  void setOn(mlir::LLVM::LLVMFuncOp kernel) const {
    mlir::Builder builder(kernel.getContext());
    kernel->setAttr(kThreads, builder.getI64IntegerAttr(threads));
    kernel->setAttr(kSharedBytes, builder.getI64IntegerAttr(sharedBytes));
    if (boxMaps)
      kernel->setAttr(kBoxMaps, boxMaps);
    if (overlaps)
      kernel->setAttr(kOverlaps, builder.getUnitAttr());
  }

private:
  static constexpr llvm::StringLiteral kThreads = "effc.threads",
                                       kSharedBytes = "effc.shared_bytes",
                                       kBoxMaps = "effc.box_maps",
                                       kOverlaps = "effc.overlaps";
};

} // namespace effc::codegen

#endif // EFFC_CODEGEN_LAUNCHNEEDS_H
