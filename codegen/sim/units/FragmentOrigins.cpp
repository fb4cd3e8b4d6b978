// Elements back to the loads that they come from.
#include "codegen/sim/units/FragmentOrigins.h"

#include "codegen/math/Permutation.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace effc;
using namespace effc::sim;

static constexpr unsigned kSharedSpace = 3;

/// The number that `value` is, if it is one.
static std::optional<unsigned> numberOf(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return static_cast<unsigned>(number.getZExtValue());
}

static bool isPairOf16(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getNumElements() == 2 &&
         vector.getElementTypeBitWidth() == 16;
}

static ElementOrigin inPair(Value pair, unsigned at);

/// Element `at` of the vector `value`, or the scalar `value`.
static ElementOrigin originOf(Value value, unsigned at) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    Value address = load.getAddr();
    bool isShared =
        cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace() ==
        kSharedSpace;
    // What is past the shape is read from anywhere.
    bool isChosen = isa_and_nonnull<LLVM::SelectOp>(address.getDefiningOp());
    return isShared && !isChosen ? ElementOrigin{load, at} : ElementOrigin{};
  }
  if (auto extract = dyn_cast<LLVM::ExtractElementOp>(op)) {
    auto number = numberOf(extract.getPosition());
    return number ? originOf(extract.getVector(), *number) : ElementOrigin{};
  }
  if (auto insert = dyn_cast<LLVM::InsertElementOp>(op)) {
    auto number = numberOf(insert.getPosition());
    if (!number)
      return {};
    return *number == at ? originOf(insert.getValue(), 0)
                         : originOf(insert.getVector(), at);
  }
  if (auto bitcast = dyn_cast<LLVM::BitcastOp>(op)) {
    Value from = bitcast.getArg();
    if (from.getType().isInteger(32) && isPairOf16(value.getType()))
      return inPair(from, at);
    bool isSameShape =
        isa<VectorType>(from.getType()) == isa<VectorType>(value.getType());
    return isSameShape ? originOf(from, at) : ElementOrigin{};
  }
  // Narrowed, widened, or its leading part.
  if (isa<NVVM::ConvertFloatToTF32Op, LLVM::FPTruncOp, LLVM::FPExtOp,
          LLVM::ZExtOp, LLVM::ShlOp, LLVM::AndOp>(op))
    return originOf(op->getOperand(0), at);
  // What the leading part leaves of it.
  if (isa<LLVM::FSubOp>(op)) {
    ElementOrigin whole = originOf(op->getOperand(0), at);
    return whole == originOf(op->getOperand(1), at) ? whole : ElementOrigin{};
  }
  return {};
}

/// Element `at` of the two of 16 bits in a register.
static ElementOrigin inPair(Value pair, unsigned at) {
  if (isa<VectorType>(pair.getType()))
    return originOf(pair, at);
  Operation *op = pair.getDefiningOp();
  if (!op)
    return {};
  if (auto bitcast = dyn_cast<LLVM::BitcastOp>(op))
    return inPair(bitcast.getArg(), at);
  if (isa<NVVM::LdMatrixOp>(op))
    return {op, at};
  if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
    Operation *matrices = extract.getContainer().getDefiningOp();
    if (!isa_and_nonnull<NVVM::LdMatrixOp>(matrices))
      return {};
    return {matrices, 2 * static_cast<unsigned>(extract.getPosition()[0]) + at};
  }
  if (auto fence = dyn_cast<tile::WarpGroupFenceOp>(op))
    return inPair(fence->getOperand(cast<OpResult>(pair).getResultNumber()),
                  at);
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    if (call.getIntrin() == "llvm.nvvm.prmt" &&
        numberOf(call.getArgs()[2]) == unsigned(f32::kUpperHalves))
      return originOf(call.getArgs()[at], 0);
  return {};
}

/// Whether something of it is known that none of `seen` is.
static bool isNew(ArrayRef<ElementOrigin> elements,
                  SmallVectorImpl<SmallVector<ElementOrigin>> &seen) {
  bool isKnown = llvm::any_of(
      elements, [](const ElementOrigin &origin) { return origin.from; });
  bool isSeen = llvm::any_of(seen, [&](const SmallVector<ElementOrigin> &one) {
    return ArrayRef(one) == elements;
  });
  if (!isKnown || isSeen)
    return false;
  seen.emplace_back(elements);
  return true;
}

void FragmentOrigins::collect(
    LLVM::LLVMFuncOp function,
    function_ref<std::optional<ProductRegisters>(Operation *)> registersOf) {
  using Elements = SmallVector<ElementOrigin>;
  auto elementsOf = [](ValueRange registers, bool isPair) {
    Elements elements;
    for (Value value : registers) {
      elements.push_back(isPair ? inPair(value, 0) : originOf(value, 0));
      elements.push_back(isPair ? inPair(value, 1) : ElementOrigin());
    }
    return elements;
  };
  for (Block &block : function.getBody()) {
    SmallVector<Elements> seen;
    for (Operation &op : block) {
      std::optional<ProductRegisters> registers = registersOf(&op);
      if (!registers)
        continue;
      Elements ofA = elementsOf(registers->a, registers->inPairs),
               ofB = elementsOf(registers->b, registers->inPairs);
      bool newA = isNew(ofA, seen), newB = isNew(ofB, seen);
      if (!newA && !newB)
        continue;
      Elements &elements = products[&op];
      llvm::append_range(elements, ofA);
      llvm::append_range(elements, ofB);
      for (const ElementOrigin &origin : elements)
        if (isa_and_nonnull<NVVM::LdMatrixOp>(origin.from))
          loads.insert(origin.from);
    }
  }
}
