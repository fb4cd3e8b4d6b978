// A mixer that is whatever its attributes say, for tests of what passes make of
// structures that no mixer of the dialect has, and of the interfaces'
// verifiers.
//
//   %y, %next = "test.mixer"(%x, %s) {structure = #seq.structure<...>}
#ifndef EFFC_TEST_UNIT_DIALECTS_SEQ_TESTMIXER_H
#define EFFC_TEST_UNIT_DIALECTS_SEQ_TESTMIXER_H

#include "dialects/seq/Seq.h"

namespace effc::seq::test {

class TestMixerOp
    : public mlir::Op<TestMixerOp, mlir::OpTrait::ZeroRegions,
                      mlir::OpTrait::NOperands<2>::Impl,
                      mlir::OpTrait::NResults<2>::Impl,
                      StatefulOpInterface::Trait, MixerOpInterface::Trait> {
public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "test.mixer"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }

  /// With `undescribed` present no descriptor is given for the state.
  llvm::SmallVector<StateDescriptor> getStates();
  OperandRole getOperandRole(unsigned index);
  StructureAttr getStructure();
  FormAttr getFormAttr();
  void setFormAttr(FormAttr form);
  CanonicalQuantities buildTokenMap(mlir::OpBuilder &builder,
                                    mlir::Location loc, mlir::ValueRange tokens,
                                    mlir::ValueRange parameters);
  mlir::Value buildReadOut(mlir::OpBuilder &builder, mlir::Location loc,
                           const LinearReading &reading,
                           const CanonicalQuantities &quantities);
};

class TestDialect : public mlir::Dialect {
public:
  explicit TestDialect(mlir::MLIRContext *context);
  static llvm::StringRef getDialectNamespace() { return "test"; }
};

} // namespace effc::seq::test

MLIR_DECLARE_EXPLICIT_TYPE_ID(effc::seq::test::TestMixerOp)
MLIR_DECLARE_EXPLICIT_TYPE_ID(effc::seq::test::TestDialect)

#endif // EFFC_TEST_UNIT_DIALECTS_SEQ_TESTMIXER_H
