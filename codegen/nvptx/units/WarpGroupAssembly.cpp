// The ops of warp groups -> inline assembly: NVVM's have A in shared memory.
#include "codegen/nvptx/units/Units.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace effc::tile;

namespace effc::nvptx {

/// "$4, $5, $6": `count` operands from number `first` on.
static std::string operandList(size_t first, size_t count) {
  std::string text;
  for (size_t i = first; i < first + count; ++i)
    text += (i > first ? ", $" : "$") + std::to_string(i);
  return text;
}

/// What LLVM calls a register of `type` in assembly.
static StringRef constraintOf(Type type) {
  if (type.isF32())
    return "f";
  if (type.isInteger(32))
    return "r";
  llvm::report_fatal_error("an op of warp groups gives f32 or i32");
}

/// Replaces `op`, whose results are i32 or f32, by assembly that also reads
/// `inputs`; `kinds` are the constraints of these. The results change in place
/// from `changed`; without these they are written before all inputs are read.
static void writeAssembly(Operation *op, StringRef text, ValueRange inputs,
                          StringRef kinds, ValueRange changed) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  size_t count = op->getNumResults();
  std::string constraints;
  for (Type result : op->getResultTypes()) {
    constraints += constraints.empty() ? "=" : ",=";
    constraints += changed.empty() ? "&" : "";
    constraints += constraintOf(result);
  }
  constraints += kinds;
  for (size_t i = 0; i < changed.size(); ++i)
    constraints += "," + std::to_string(i);
  SmallVector<Value> operands(inputs);
  llvm::append_range(operands, changed);
  // A single result is no struct.
  auto type =
      count == 1 ? op->getResult(0).getType()
                 : LLVM::LLVMStructType::getLiteral(
                       b.getContext(), SmallVector<Type>(op->getResultTypes()));
  Value written =
      LLVM::InlineAsmOp::create(
          b, loc, type, operands, text, constraints, /*has_side_effects=*/true,
          /*is_align_stack=*/false, LLVM::TailCallKind::None,
          /*asm_dialect=*/LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr())
          .getRes();
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    result.replaceAllUsesWith(
        count == 1 ? written
                   : LLVM::ExtractValueOp::create(b, loc, written,
                                                  static_cast<int64_t>(i))
                         .getResult());
  op->erase();
}

static void write(WarpGroupDotOp dot) {
  size_t count = dot.getSums().size();
  std::string text;
  llvm::raw_string_ostream out(text);
  // The predicate says whether D is added to, the numbers behind it scale A and
  // B, and say whether B's rows have its columns side by side.
  out << "{\n\t.reg .pred adds;\n\tsetp.ne.b32 adds, "
      << (dot.getAcc().empty() ? 0 : 1) << ", 0;\n\t"
      << "wgmma.mma_async.sync.aligned.m64n" << 2 * count << "k16.f32."
      << dot.getElement() << "." << dot.getElement() << " {"
      << operandList(0, count) << "}, {" << operandList(count, 4) << "}, $"
      << count + 4 << ", adds, 1, 1, " << (dot.getAcross() ? 1 : 0) << ";\n\t}";
  SmallVector<Value> inputs(dot.getA());
  inputs.push_back(dot.getB());
  writeAssembly(dot, text, inputs, ",r,r,r,r,l", dot.getAcc());
}

bool writeWarpGroupAssembly(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](WarpGroupDotOp dot) {
        write(dot);
        return true;
      })
      .Case([](WarpGroupFenceOp fence) {
        writeAssembly(fence, "wgmma.fence.sync.aligned;", {}, "",
                      fence->getOperands());
        return true;
      })
      .Case([](WarpGroupWaitOp wait) {
        writeAssembly(wait, "wgmma.wait_group.sync.aligned 0;", {}, "",
                      wait.getPending());
        return true;
      })
      .Default(false);
}

} // namespace effc::nvptx
