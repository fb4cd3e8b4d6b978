// Accesses of memory, each with a check before it.
#include "codegen/sim/Rewrites.h"

#include "mlir/Interfaces/DataLayoutInterfaces.h"

using namespace mlir;
using namespace effc;

namespace effc::sim {

static constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;

static void checkAccess(RewriteState &s, Operation *op, Value address,
                        Type type, uint64_t alignment, bool writes) {
  unsigned space =
      cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace();
  if (space != kGlobalSpace && space != kSharedSpace)
    return;
  DataLayout layout = DataLayout::closest(op);
  uint64_t bytes = layout.getTypeSize(type);
  if (alignment == 0)
    alignment = layout.getTypeABIAlignment(type);
  uint32_t flags = (writes ? rt::kSimWrite : rt::kSimRead) |
                   (space == kSharedSpace ? rt::kSimShared : 0);
  s.call(EFFC_SIM_CALL(access), {},
         {s.plain(address), s.i32(bytes), s.i32(alignment), s.i32(flags)},
         /*withSite=*/true);
}

static LogicalResult rewrite(LLVM::LoadOp op, RewriteState &s) {
  checkAccess(s, op, op.getAddr(), op.getType(), op.getAlignment().value_or(0),
              /*writes=*/false);
  return success();
}

static LogicalResult rewrite(LLVM::StoreOp op, RewriteState &s) {
  checkAccess(s, op, op.getAddr(), op.getValue().getType(),
              op.getAlignment().value_or(0), /*writes=*/true);
  return success();
}

static LogicalResult rewrite(LLVM::AddressOfOp op, RewriteState &s) {
  auto type = cast<LLVM::LLVMPointerType>(op.getType());
  if (type.getAddressSpace() != kSharedSpace)
    return success();
  Value start =
      s.call(EFFC_SIM_CALL(shared), s.pointer, {}, /*withSite=*/false);
  return replace(op, LLVM::AddrSpaceCastOp::create(s.b, type, start));
}

void addMemory(Rewrites &rewrites) {
  rewrites.add<LLVM::LoadOp, LLVM::StoreOp, LLVM::AddressOfOp>(
      [](auto op, RewriteState &s) { return rewrite(op, s); });
}

} // namespace effc::sim
