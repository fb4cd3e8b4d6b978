// Verifiers of the plan dialect's ops.
#include "dialects/plan/Plan.h"

#include "dialects/tile/Tile.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace effc::plan;

#define GET_OP_CLASSES
#include "dialects/plan/PlanOps.cpp.inc"

LogicalResult EntryOp::verify() {
  int64_t rows = getRows(), chunk = getChunk();
  if (rows < 1 || chunk < 1 ||
      (getKind() == EntryKind::Prefill && rows % chunk != 0)) // plan_entry1
    return emitOpError(
               "expects 'rows' to be a positive multiple of 'chunk', but got ")
           << rows << " and " << chunk;
  return success();
}

LogicalResult ArenaOp::verify() {
  int64_t bytes = getBytes(), offset = getOffset().value_or(0);
  if (bytes < 1 || offset < 0 || offset % 64 != 0) // arena1
    return emitOpError("expects positive 'bytes' and an 'offset' that is a "
                       "multiple of 64, "
                       "but got ")
           << bytes << " and " << offset;
  return success();
}

LogicalResult OffsetOp::verify() {
  if (static_cast<int64_t>(getBytes()) < 0) // offset1
    return emitOpError("expects 'bytes' of at least 0, but got ")
           << static_cast<int64_t>(getBytes());
  return success();
}

LogicalResult LaunchOp::verify() {
  if (std::optional<uint64_t> flops = getFlops();
      flops && static_cast<int64_t>(*flops) < 1) // launch2
    return emitOpError("expects positive 'flops', but got ")
           << static_cast<int64_t>(*flops);
  if (getProduct() && getOperands().size() != 3) // launch3
    return emitOpError("expects the three operands of a 'product', but got ")
           << getOperands().size();
  return success();
}

LogicalResult ProductAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t outputs, int64_t inner, Type x,
                                  int64_t xPitch, Type w, int64_t wPitch,
                                  Type y, int64_t yPitch) {
  if (outputs < 1 || inner < 1) // product1
    return emitError() << "expects positive 'outputs' and 'inner', but got "
                       << outputs << " and " << inner;
  std::tuple<StringRef, Type, int64_t, int64_t> matrices[] = {
      {"x", x, xPitch, inner},
      {"w", w, wPitch, inner},
      {"y", y, yPitch, outputs}};
  for (auto [name, type, pitch, columns] : matrices) {
    if (pitch < columns) // product1
      return emitError() << "expects the rows of " << name << " every "
                         << columns << " elements or more, but got " << pitch;
    if (!type.isF32() && !type.isBF16() && !type.isF16()) // product2
      return emitError() << "expects " << name
                         << " of f32, bf16 or f16, but got " << type;
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // Once lowered, a kernel is a function of another dialect, then bytes of
  // plan.binary; only its form in the tile dialect has operands to compare.
  auto kernel =
      symbols.lookupNearestSymbolFrom<tile::KernelOp>(*this, getKernelAttr());
  if (kernel &&
      kernel.getOperandArguments().size() != getOperands().size()) // launch1
    return (emitOpError("expects ")
            << kernel.getOperandArguments().size() << " operands for kernel "
            << getKernelAttr() << ", but got " << getOperands().size())
               .attachNote(kernel.getLoc())
           << "the kernel is declared here";
  if (kernel && kernel.getItems() != getItems()) // launch1
    return emitOpError("expects the items of its kernel, ")
           << kernel.getItems() << ", but got " << getItems();
  return success();
}

LogicalResult BinaryOp::verify() {
  size_t count = getKernels().size();
  std::pair<StringRef, std::optional<ArrayRef<int64_t>>> lists[] = {
      {"offsets", getOffsets()},     {"stack_bytes", getStackBytes()},
      {"threads", getThreads()},     {"shared_bytes", getSharedBytes()},
      {"registers", getRegisters()}, {"spill_bytes", getSpillBytes()}};
  for (auto [name, list] : lists)
    if (list && list->size() != count) // binary1
      return emitOpError("expects '")
             << name << "' to have one element for each of " << count
             << " kernels, but got " << list->size();
  if (ArrayAttr maps = getBoxMapsAttr()) {
    if (maps.size() != count) // binary1
      return emitOpError("expects 'box_maps' to have one element for each of ")
             << count << " kernels, but got " << maps.size();
    for (Attribute ofKernel : maps) {
      auto list = dyn_cast<ArrayAttr>(ofKernel);
      if (!list || !llvm::all_of(list, llvm::IsaPred<tile::BoxMapAttr>))
        // binary2
        return emitOpError("expects lists of #tile.box_map, but got ")
               << ofKernel;
    }
  }
  return success();
}
