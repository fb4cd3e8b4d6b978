// Bits <-> f32, and places of elements.
#include "codegen/storage/StoredElements.h"

#include "dialects/storage/DenseKind.h"
#include "dialects/storage/NearestBF16.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"

#include <numeric>

using namespace mlir;
using namespace effc;
using namespace effc::stored;

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

// Whether elements of a dense storage are moved as bits and converted.
static bool isNarrow(Type element) {
  switch (storage::getDenseKind(element)) {
  case storage::DenseKind::BF16:
  case storage::DenseKind::F16:
    return true;
  case storage::DenseKind::F32:
  case storage::DenseKind::I32:
  case storage::DenseKind::I64:
    return false;
  }
  llvm_unreachable("every kind is listed");
}

Type stored::storedType(Type element, int64_t lanes) {
  if (isNarrow(element))
    element =
        IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth());
  return lanes == 1 ? element : Type(VectorType::get({lanes}, element));
}

// bf16 is the upper half of an f32.
static Value widenBF16(OpBuilder &b, Location loc, Value stored) {
  Type words = like(stored.getType(), b.getI32Type());
  Value bits = arith::ExtUIOp::create(b, loc, words, stored);
  bits = arith::ShLIOp::create(b, loc, bits, constant(b, loc, words, 16));
  return arith::BitcastOp::create(b, loc,
                                  like(stored.getType(), b.getF32Type()), bits);
}

// f16 goes through the conversion unit.
static Value widenF16(OpBuilder &b, Location loc, Value stored) {
  Value half = arith::BitcastOp::create(
      b, loc, like(stored.getType(), b.getF16Type()), stored);
  return arith::ExtFOp::create(b, loc, like(stored.getType(), b.getF32Type()),
                               half);
}

Value stored::widen(OpBuilder &b, Location loc, Value stored, Type element) {
  switch (storage::getDenseKind(element)) {
  case storage::DenseKind::F32:
  case storage::DenseKind::I32:
  case storage::DenseKind::I64:
    return stored;
  case storage::DenseKind::BF16:
    return widenBF16(b, loc, stored);
  case storage::DenseKind::F16:
    return widenF16(b, loc, stored);
  }
  llvm_unreachable("every kind is listed");
}

// By integer arithmetic; a NaN keeps its quiet bit.
static Value roundToBF16(OpBuilder &b, Location loc, Value value) {
  Type words = like(value.getType(), b.getI32Type());
  auto splat = [&](int64_t bits) { return constant(b, loc, words, bits); };
  Value bits = arith::BitcastOp::create(b, loc, words, value);
  Value rounded =
      storage::nearestBF16<arith::AddIOp, arith::AndIOp, arith::ShRUIOp>(
          b, loc, bits, splat);
  rounded = arith::ShRUIOp::create(b, loc, rounded, splat(16));
  Value isNan =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  Value upper = arith::ShRUIOp::create(b, loc, bits, splat(16));
  Value quiet = arith::OrIOp::create(b, loc, upper, splat(0x40));
  Value chosen = arith::SelectOp::create(b, loc, isNan, quiet, rounded);
  return arith::TruncIOp::create(b, loc, like(value.getType(), b.getI16Type()),
                                 chosen);
}

// By the target's instruction.
static Value truncate(OpBuilder &b, Location loc, Value value, Type element) {
  Value rounded =
      arith::TruncFOp::create(b, loc, like(value.getType(), element), value);
  return arith::BitcastOp::create(
      b, loc, like(value.getType(), storedType(element, /*lanes=*/1)), rounded);
}

Value stored::narrow(OpBuilder &b, Location loc, Value value, Type element,
                     Rounding rounding) {
  switch (storage::getDenseKind(element)) {
  case storage::DenseKind::F32:
  case storage::DenseKind::I32:
  case storage::DenseKind::I64:
    return value;
  case storage::DenseKind::BF16:
    return rounding == Rounding::Arithmetic ? roundToBF16(b, loc, value)
                                            : truncate(b, loc, value, element);
  case storage::DenseKind::F16:
    return truncate(b, loc, value, element);
  }
  llvm_unreachable("every kind is listed");
}

ElementPlace stored::firstPlace(OpBuilder &b, Location loc, Value address,
                                Type element) {
  storage::Storage storage = storage::Storage::get(element);
  if (storage.isDense())
    return {address, {}, 0};
  return {address, arith::ConstantIndexOp::create(b, loc, 0),
          storage.blockElements()};
}

ElementPlace stored::panelRow(OpBuilder &b, Location loc, Value address,
                              Type element, Value row, int64_t rowElements) {
  ElementPlace place = firstPlace(b, loc, address, element);
  place.row = row;
  place.rowElements = rowElements;
  return place;
}

ElementPlace stored::further(OpBuilder &b, Location loc,
                             const ElementPlace &place, Type element,
                             Value count, int64_t divisor) {
  if (place.number) {
    ElementPlace next = place;
    next.number = arith::AddIOp::create(b, loc, place.number, count);
    next.divisor = std::gcd(place.divisor, divisor);
    return next;
  }
  bool isShared =
      cast<LLVM::LLVMPointerType>(place.address.getType()).getAddressSpace() ==
      3;
  count = arith::IndexCastOp::create(
      b, loc, isShared ? b.getI32Type() : b.getI64Type(), count);
  return {LLVM::GEPOp::create(b, loc, place.address.getType(),
                              storedType(element, 1), place.address,
                              ArrayRef<LLVM::GEPArg>{count}),
          {},
          0};
}

ElementPlace stored::select(OpBuilder &b, Location loc, Value which,
                            const ElementPlace &yes, const ElementPlace &no) {
  if (!yes.number)
    return {
        arith::SelectOp::create(b, loc, which, yes.address, no.address), {}, 0};
  assert(!yes.row && !no.row && "rows of panels are chosen by their numbers");
  ElementPlace chosen = yes;
  if (yes.address != no.address)
    chosen.address =
        arith::SelectOp::create(b, loc, which, yes.address, no.address);
  chosen.number = arith::SelectOp::create(b, loc, which, yes.number, no.number);
  chosen.divisor = std::gcd(yes.divisor, no.divisor);
  chosen.alignment = std::gcd(yes.alignment, no.alignment);
  return chosen;
}
