// f32 arithmetic as code, of scalars or of vectors.
#ifndef EFFC_CODEGEN_MATH_ARITHMETIC_H
#define EFFC_CODEGEN_MATH_ARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace effc::f32 {

/// Scalar or vector f32 arithmetic of one shape.
class Arithmetic {
public:
  Arithmetic(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type)
      : b(b), loc(loc), type(type) {}

  mlir::Value constant(float value) {
    mlir::TypedAttr attr = b.getF32FloatAttr(value);
    if (auto shape = mlir::dyn_cast<mlir::VectorType>(type))
      attr = mlir::DenseElementsAttr::get(shape, attr);
    return mlir::arith::ConstantOp::create(b, loc, attr);
  }
  mlir::Value bits(int32_t value) {
    mlir::TypedAttr attr = b.getI32IntegerAttr(value);
    if (mlir::isa<mlir::VectorType>(type))
      attr = mlir::DenseElementsAttr::get(
          mlir::cast<mlir::VectorType>(integers()), attr);
    return mlir::arith::ConstantOp::create(b, loc, attr);
  }
  mlir::Type integers() {
    auto shape = mlir::dyn_cast<mlir::VectorType>(type);
    return shape ? mlir::Type(shape.clone(b.getI32Type()))
                 : mlir::Type(b.getI32Type());
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddFOp::create(b, loc, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return mlir::arith::SubFOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return mlir::arith::MulFOp::create(b, loc, x, y);
  }
  mlir::Value div(mlir::Value x, mlir::Value y) {
    return mlir::arith::DivFOp::create(b, loc, x, y);
  }
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z) {
    return mlir::math::FmaOp::create(b, loc, x, y, z);
  }
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, loc, c, x, y);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate p, mlir::Value x,
                      mlir::Value y) {
    return mlir::arith::CmpFOp::create(b, loc, p, x, y);
  }
  mlir::Value toInteger(mlir::Value x) {
    return mlir::arith::FPToSIOp::create(b, loc, integers(), x);
  }
  mlir::Value toFloat(mlir::Value i) {
    return mlir::arith::SIToFPOp::create(b, loc, type, i);
  }
  mlir::Value asInteger(mlir::Value x) {
    return mlir::arith::BitcastOp::create(b, loc, integers(), x);
  }
  mlir::Value asFloat(mlir::Value i) {
    return mlir::arith::BitcastOp::create(b, loc, type, i);
  }
  /// Horner's rule, highest coefficient first.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<float> coefficients) {
    mlir::Value sum = constant(coefficients.front());
    for (float coefficient : coefficients.drop_front())
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }
  /// 2^n for integers n in [-126, 127].
  mlir::Value power(mlir::Value n) {
    mlir::Value biased = mlir::arith::AddIOp::create(b, loc, n, bits(127));
    return asFloat(mlir::arith::ShLIOp::create(b, loc, biased, bits(23)));
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;
};

} // namespace effc::f32

#endif // EFFC_CODEGEN_MATH_ARITHMETIC_H
