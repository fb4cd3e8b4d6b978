// Bits <-> f32.
#include "codegen/nvptx/StoredElements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace effc::nvptx;

static Type like(Type shape, Type element) {
  auto vector = dyn_cast<VectorType>(shape);
  return vector ? Type(vector.clone(element)) : element;
}

static Value constant(OpBuilder &b, Location loc, Type type, int64_t value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (isa<VectorType>(type))
    attr = DenseElementsAttr::get(cast<ShapedType>(type), attr);
  return arith::ConstantOp::create(b, loc, attr);
}

static bool isNarrow(Type element) {
  return element.isBF16() || element.isF16();
}

Type effc::nvptx::storedType(Type element, int64_t lanes) {
  if (isNarrow(element))
    element = IntegerType::get(element.getContext(), 16);
  return lanes == 1 ? element : Type(VectorType::get({lanes}, element));
}

Value effc::nvptx::widen(OpBuilder &b, Location loc, Value stored,
                         Type element) {
  if (!isNarrow(element))
    return stored;
  Type wide = like(stored.getType(), b.getF32Type());
  if (element.isF16()) {
    Value half = arith::BitcastOp::create(
        b, loc, like(stored.getType(), element), stored);
    return arith::ExtFOp::create(b, loc, wide, half);
  }
  Type words = like(stored.getType(), b.getI32Type());
  Value bits = arith::ExtUIOp::create(b, loc, words, stored);
  bits = arith::ShLIOp::create(b, loc, bits, constant(b, loc, words, 16));
  return arith::BitcastOp::create(b, loc, wide, bits);
}

Value effc::nvptx::narrow(OpBuilder &b, Location loc, Value value,
                          Type element) {
  if (!isNarrow(element))
    return value;
  Value rounded =
      arith::TruncFOp::create(b, loc, like(value.getType(), element), value);
  return arith::BitcastOp::create(b, loc, like(value.getType(), b.getI16Type()),
                                  rounded);
}
