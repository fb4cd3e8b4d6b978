// A register is a table: 16 entries of f32 with 512 bits, 8 with 256.
#include "codegen/host/TableLookUp.h"
#include "codegen/host/VectorShape.h"

#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace effc;
using namespace effc::host;

namespace {
class TableLookUp {
public:
  TableLookUp(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value operator()(ArrayRef<float> table, Value choice) {
    auto lanes = cast<VectorType>(choice.getType()).getDimSize(0);
    assert(table.size() == 16 && "four bits choose");
    if (lanes == 16)
      return permute("llvm.x86.avx512.permvar.sf.512", table, choice);
    auto half = [&](ArrayRef<float> entries) {
      return permute("llvm.x86.avx2.permps", entries, choice);
    };
    // Three bits choose in each half, the fourth between them.
    Value fourth = arith::AndIOp::create(b, loc, choice, splat(choice, 8));
    Value isUpper = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                          fourth, splat(choice, 0));
    return arith::SelectOp::create(b, loc, isUpper, half(table.drop_front(8)),
                                   half(table.take_front(8)));
  }

private:
  Value splat(Value like, int32_t number) {
    return arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(cast<VectorType>(like.getType()), number));
  }
  // Bits of a choice that are more than a register has entries do not count.
  Value permute(StringRef intrinsic, ArrayRef<float> entries, Value choice) {
    auto type = VectorType::get({int64_t(entries.size())}, b.getF32Type());
    Value table = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, entries));
    return LLVM::CallIntrinsicOp::create(b, loc, type,
                                         b.getStringAttr(intrinsic),
                                         ValueRange{table, choice})
        .getResult(0);
  }

  OpBuilder &b;
  Location loc;
};
} // namespace

stored::LookUp effc::host::makeLookUp(OpBuilder &b, Location loc,
                                      Operation *op) {
  tile::TargetAttr target = tile::getTarget(op);
  switch (target ? target.getByteProducts() : tile::ByteProducts::Pairs) {
  case tile::ByteProducts::Pairs:
  case tile::ByteProducts::Quads:
    return {VectorShape::of(op).lanes, TableLookUp(b, loc)};
  case tile::ByteProducts::SignedQuads:
  case tile::ByteProducts::SignedMatrices:
    return {};
  }
  llvm_unreachable("all products of bytes have a case");
}
