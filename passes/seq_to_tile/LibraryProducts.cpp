#include "passes/seq_to_tile/LibraryProducts.h"

#include "passes/kernel_facts/MethodSizes.h"

using namespace mlir;
using namespace effc;

/// What a tensor core's operands are copied by at once: of matrices that begin
/// elsewhere a library takes another, slower way.
static constexpr int64_t kAlignment = 16;

// What keeps a product of many rows with its kernel, or "".
static std::string obstacleOf(seq::KernelOp source, Operation *product,
                              const KernelContext &context,
                              BuiltKernel &built) {
  for (Operation &op : source.getBody().front().without_terminator())
    if (&op != product && !seq::isViewOp(&op))
      return ("its kernel does '" + op.getName().getStringRef() + "' as well")
          .str();
  if (product->getNumOperands() > 2)
    return "it adds a bias";
  if (cast<RankedTensorType>(product->getOperand(1).getType()).getRank() != 2)
    return "it is several products";
  if (context.lead == tile::Count::Outputs &&
      context.kind == seq::EntryKind::Prefill)
    return "few of a prompt's rows are outputs";
  ValueRange arguments = built.kernel.getOperandArguments();
  for (auto [name, argument] :
       {std::pair("x", arguments[0]), std::pair("w", arguments[1])})
    if (Type element =
            cast<tile::ViewType>(argument.getType()).getElementType();
        element != context.roundedTo()) {
      std::string text;
      llvm::raw_string_ostream(text) << element;
      return std::string(name) + " is " + text + " in memory";
    }
  for (auto [name, operand] :
       llvm::zip_equal(std::array{"x", "w", "y"}, built.operands))
    if (operand.offsetBytes % kAlignment != 0)
      return std::string(name) + " begins " +
             std::to_string(operand.offsetBytes) + " bytes further on, no " +
             "multiple of " + std::to_string(kAlignment);
  return "";
}

plan::ProductAttr effc::productForLibrary(seq::KernelOp source,
                                          const CallContext &call,
                                          BuiltKernel &built) {
  Operation *root = source.getRootOp();
  if (!root || !seq::isProductOfRows(root) ||
      call.entry.getRows() < kLibraryRows)
    return {};
  std::string obstacle = obstacleOf(source, root, call, built);
  StringRef entry = stringifyEntryKind(call.kind);
  if (!obstacle.empty()) {
    emitRemark(source.getLoc()) << "stays with its kernel in " << entry << "_"
                                << call.entry.getRows() << ": " << obstacle;
    return {};
  }
  emitRemark(source.getLoc())
      << "goes to cuBLASLt in " << entry << "_" << call.entry.getRows();
  SmallVector<tile::ViewType> views;
  for (Value argument : built.kernel.getOperandArguments())
    views.push_back(cast<tile::ViewType>(argument.getType()));
  return plan::ProductAttr::get(
      source.getContext(), views[1].getShape()[0], views[1].getShape()[1],
      views[0].getElementType(), views[0].getStrides()[0],
      views[1].getElementType(), views[1].getStrides()[0],
      views[2].getElementType(), views[2].getStrides()[0]);
}
