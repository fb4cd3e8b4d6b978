#include "codegen/storage/UnpackDigits.h"
#include "codegen/storage/Unpack.h"

#include "dialects/storage/Digits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace effc;
using namespace effc::stored;

Value stored::unpackDigits(OpBuilder &b, Location loc,
                           const ElementPlace &place, storage::DigitsType type,
                           int64_t lanes) {
  storage::DigitsLayout layout{type.getCount()};
  Value block = blockAddress(b, loc, place, type);
  Value column = arith::RemUIOp::create(
      b, loc, place.number,
      arith::ConstantIndexOp::create(b, loc, layout.kNumbers));
  column = arith::IndexCastOp::create(b, loc, b.getI64Type(), column);
  auto load = [&](Type moved, Value from, int64_t bytes) -> Value {
    Value at = LLVM::GEPOp::create(
        b, loc, from.getType(), b.getI8Type(), from,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
    return LLVM::LoadOp::create(b, loc, moved, at, /*alignment=*/1);
  };
  auto shaped = [&](Type element) {
    return lanes == 1 ? element : Type(VectorType::get({lanes}, element));
  };
  auto splat = [&](Value scalar) -> Value {
    return lanes == 1 ? scalar
                      : vector::BroadcastOp::create(
                            b, loc, VectorType::get({lanes}, scalar.getType()),
                            scalar);
  };
  Value row = LLVM::GEPOp::create(b, loc, block.getType(), b.getI8Type(), block,
                                  ArrayRef<LLVM::GEPArg>{column});
  Type i32 = shaped(b.getI32Type());
  Value whole;
  for (int64_t digit = 0; digit < layout.count; ++digit) {
    Value byte = arith::ExtSIOp::create(
        b, loc, i32, load(shaped(b.getI8Type()), row, layout.digit(digit)));
    if (whole) {
      Value eight =
          splat(arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(8)));
      byte = arith::AddIOp::create(
          b, loc, arith::ShLIOp::create(b, loc, whole, eight), byte);
    }
    whole = byte;
  }
  Value number = arith::SIToFPOp::create(b, loc, shaped(b.getF32Type()), whole);
  return arith::MulFOp::create(
      b, loc, number, splat(load(b.getF32Type(), block, layout.scale())));
}
