// What the architectures share, and which of them a module is compiled for.
#include "codegen/host/ByteDots.h"

#include "dialects/tile/Tile.h"
#include "runtime/abi/HostIsas.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace effc;
using namespace effc::host;

std::unique_ptr<ByteDots> ByteDots::of(OpBuilder &b, Location loc,
                                       Operation *op, int64_t lanes) {
  static constexpr struct {
    const char *triple;
    ByteDotsMaker make;
  } kMakers[] = {{rt::kX86Triple, makeX86ByteDots},
                 {rt::kArmTriple, makeArmByteDots}};
  tile::TargetAttr target = tile::getTarget(op);
  auto text = [](StringAttr attr, StringRef other) {
    return attr ? attr.getValue() : other;
  };
  StringRef triple = rt::kX86Triple, features;
  if (target) {
    triple = text(target.getTriple(), triple);
    features = text(target.getFeatures(), features);
  }
  for (const auto &[known, make] : kMakers)
    if (known == triple)
      return make(b, loc, features, lanes);
  llvm::report_fatal_error("no byte products are known of " + Twine(triple));
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
