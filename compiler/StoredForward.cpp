#include "compiler/StoredForward.h"

#include "compiler/Register.h"
#include "dialects/seq/Seq.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace effc;

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerAllDialects(registry);
  return registry;
}

StoredForward::StoredForward(CompileEvents given)
    : events(std::move(given)),
      context(makeRegistry(), MLIRContext::Threading::DISABLED),
      diagnostics(context, events, /*fallbackIsError=*/false) {
  context.loadAllAvailableDialects();
}

llvm::Error StoredForward::read(const StoredModel &model) {
  module = parseSourceString<ModuleOp>(model.seqBytecode, &context);
  function =
      module ? module->lookupSymbol<func::FuncOp>("forward") : func::FuncOp();
  if (!function || !function.getBody().hasOneBlock())
    return diagnostics.takeError("the stored seq module has no '@forward'");
  return llvm::Error::success();
}

/// The ops that `value` needs, and with each that keeps a state, those that the
/// state's next value needs.
static void collectNeeded(Value value, Block &body,
                          SetVector<Operation *> &needed) {
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != &body || !needed.insert(op))
      continue;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        open.push_back(operand);
    });
  }
}

/// Takes the results whose ops are not needed out of the terminator.
static void dropResults(func::FuncOp function,
                        const SetVector<Operation *> &needed) {
  Operation *end = function.getBody().front().getTerminator();
  for (unsigned i = end->getNumOperands(); i-- > 1;) {
    Value result = end->getOperand(i);
    auto argument = dyn_cast<BlockArgument>(result);
    bool keep = argument ? llvm::any_of(argument.getUsers(),
                                        [&](Operation *user) {
                                          return needed.contains(user);
                                        })
                         : needed.contains(result.getDefiningOp());
    if (!keep)
      end->eraseOperand(i);
  }
}

void StoredForward::prune() {
  Block &body = getBody();
  SetVector<Operation *> needed;
  collectNeeded(getLogits(), body, needed);
  dropResults(function, needed);
  // A needed op's next states stay, and so does what leads to them.
  for (Value result : llvm::drop_begin(body.getTerminator()->getOperands()))
    collectNeeded(result, body, needed);
  SmallVector<Operation *> unneeded;
  for (Operation &op : body.without_terminator())
    if (!needed.contains(&op))
      unneeded.push_back(&op);
  for (Operation *op : llvm::reverse(unneeded)) // readers first
    op->erase();
  for (unsigned i = function.getNumArguments(); i-- > 0;)
    if (function.getArgAttr(i, "seq.state_name") &&
        function.getArgument(i).use_empty())
      (void)function.eraseArgument(i);
  function.setType(
      FunctionType::get(&context, TypeRange(body.getArgumentTypes()),
                        TypeRange(body.getTerminator()->getOperandTypes())));
  llvm::StringSet<> used;
  function.walk(
      [&](seq::ParameterOp parameter) { used.insert(parameter.getWeight()); });
  for (seq::WeightOp weight :
       llvm::make_early_inc_range(module->getOps<seq::WeightOp>()))
    if (!used.contains(weight.getSymName()))
      weight.erase();
}

llvm::Expected<std::string> StoredForward::write() {
  if (failed(verify(*module)))
    return diagnostics.takeError("the module is not sound any more");
  std::string bytecode;
  llvm::raw_string_ostream stream(bytecode);
  if (failed(
          writeBytecodeToFile(*module, stream, BytecodeWriterConfig("effc"))))
    return diagnostics.takeError("the module cannot be written as bytecode");
  return bytecode;
}
