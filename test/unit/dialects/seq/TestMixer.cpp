#include "test/unit/dialects/seq/TestMixer.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::test;

MLIR_DEFINE_EXPLICIT_TYPE_ID(effc::seq::test::TestMixerOp)
MLIR_DEFINE_EXPLICIT_TYPE_ID(effc::seq::test::TestDialect)

TestDialect::TestDialect(MLIRContext *context)
    : Dialect("test", context, TypeID::get<TestDialect>()) {
  addOperations<TestMixerOp>();
}

SmallVector<StateDescriptor> TestMixerOp::getStates() {
  if ((*this)->hasAttr("undescribed"))
    return {};
  return {{/*operand=*/1, /*result=*/1, StateKind::Matrix, StateGrowth::Fixed,
           cast<RankedTensorType>(getOperand(1).getType()), /*neutral=*/0.0,
           /*positionDependent=*/false}};
}

OperandRole TestMixerOp::getOperandRole(unsigned index) {
  return index == 0 ? OperandRole::Token : OperandRole::State;
}

StructureAttr TestMixerOp::getStructure() {
  return (*this)->getAttrOfType<StructureAttr>("structure");
}

FormAttr TestMixerOp::getFormAttr() {
  return (*this)->getAttrOfType<FormAttr>("form");
}

void TestMixerOp::setFormAttr(FormAttr form) { (*this)->setAttr("form", form); }

// Gives no quantity, which is refused before a form reads any.
CanonicalQuantities TestMixerOp::buildTokenMap(OpBuilder &, Location,
                                               ValueRange, ValueRange) {
  return {};
}

// Never called: what tests ask of this op is refused before.
Value TestMixerOp::buildReadOut(OpBuilder &, Location, const LinearReading &,
                                const CanonicalQuantities &) {
  llvm_unreachable("the test mixer has no read-out");
}
