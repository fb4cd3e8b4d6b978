// What the architectures share, and which products a module's target has.
#include "codegen/host/ByteDots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace effc;
using namespace effc::host;

std::unique_ptr<ByteDots> ByteDots::of(OpBuilder &b, Location loc,
                                       Operation *op, int64_t lanes) {
  tile::TargetAttr target = tile::getTarget(op);
  switch (target ? target.getByteProducts() : tile::ByteProducts::Pairs) {
  case tile::ByteProducts::Pairs:
    return makeX86ByteDots(b, loc, /*hasQuads=*/false, lanes);
  case tile::ByteProducts::Quads:
    return makeX86ByteDots(b, loc, /*hasQuads=*/true, lanes);
  case tile::ByteProducts::SignedQuads:
    return makeArmByteDots(b, loc, /*hasMatrices=*/false, lanes);
  case tile::ByteProducts::SignedMatrices:
    return makeArmByteDots(b, loc, /*hasMatrices=*/true, lanes);
  }
  llvm_unreachable("all products of bytes have a case");
}

VectorType ByteDots::words() const {
  return VectorType::get({lanes}, b.getI32Type());
}

Value ByteDots::splat(VectorType type, int64_t value) {
  return arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(type,
                             b.getIntegerAttr(type.getElementType(), value)));
}

Value ByteDots::load(Type type, const Row &row, int64_t bytes) {
  Value address = row.base;
  if (row.offset + bytes != 0)
    address = LLVM::GEPOp::create(
        b, loc, address.getType(), b.getI8Type(), address,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(row.offset + bytes)});
  return LLVM::LoadOp::create(b, loc, type, address, /*alignment=*/1);
}

Value ByteDots::call(StringRef intrinsic, Type result, ValueRange arguments) {
  return LLVM::CallIntrinsicOp::create(b, loc, result,
                                       b.getStringAttr(intrinsic), arguments)
      .getResult(0);
}
