// Syntax and verifier of tile.kernel.
#include "dialects/tile/Distribution.h"
#include "dialects/tile/Tile.h"

#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace effc::tile;

bool effc::tile::arePlacesOpen(Operation *op) {
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel)
    kernel = op->getParentOfType<KernelOp>();
  return kernel && kernel.getSchedule() &&
         kernel.getSchedule()->getDecided() < Decided::Places;
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  ItemsAttr items;
  SmallVector<int64_t> writes;
  auto parseIndices = [&](SmallVector<int64_t> &indices) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
      return parser.parseInteger(indices.emplace_back());
    });
  };
  SmallVector<OpAsmParser::Argument> arguments(1);
  auto parseOperand = [&] {
    return parser.parseArgument(arguments.emplace_back(), /*allowType=*/true);
  };
  if (parser.parseSymbolName(name, "sym_name", result.attributes) ||
      parser.parseLParen() || parser.parseArgument(arguments[0]))
    return failure();
  arguments[0].type = parser.getBuilder().getIndexType();
  while (succeeded(parser.parseOptionalComma()))
    if (parseOperand())
      return failure();
  if (parser.parseRParen() || parser.parseKeyword("items") ||
      parser.parseLParen() || parser.parseAttribute(items) ||
      parser.parseRParen() || parser.parseKeyword("writes") ||
      parseIndices(writes))
    return failure();
  result.addAttribute("items", items);
  result.addAttribute("writes",
                      parser.getBuilder().getDenseI64ArrayAttr(writes));
  for (StringRef keyword : {"streamed", "aligned"}) {
    SmallVector<int64_t> indices;
    if (failed(parser.parseOptionalKeyword(keyword)))
      continue;
    if (parseIndices(indices))
      return failure();
    result.addAttribute(keyword,
                        parser.getBuilder().getDenseI64ArrayAttr(indices));
  }
  ScheduleAttr schedule;
  if (succeeded(parser.parseOptionalKeyword("schedule"))) {
    if (parser.parseLParen() || parser.parseAttribute(schedule) ||
        parser.parseRParen())
      return failure();
    result.addAttribute("schedule", schedule);
  }
  return failure(parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(' << getItem();
  for (BlockArgument operand : getOperandArguments())
    printer << ", " << operand << ": " << operand.getType();
  printer << ") items(" << getItems() << ")";
  auto printIndices = [&](StringRef keyword, ArrayRef<int64_t> indices) {
    printer << ' ' << keyword << '(';
    llvm::interleaveComma(indices, printer);
    printer << ')';
  };
  printIndices("writes", getWrites());
  if (auto streamed = getStreamed())
    printIndices("streamed", *streamed);
  if (auto aligned = getAligned())
    printIndices("aligned", *aligned);
  if (getSchedule())
    printer << " schedule(" << *getSchedule() << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {"sym_name", "items", "writes", "streamed", "aligned", "schedule"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult KernelOp::verify() {
  auto arguments = getBody().getArguments();
  if (arguments.empty() || !arguments[0].getType().isIndex()) // tile_kernel1
    return emitOpError(
        "expects the item, an index, as its first block argument");
  for (BlockArgument operand : getOperandArguments()) // tile_kernel2
    if (!isa<ViewType, SegmentTableType>(operand.getType()))
      return emitOpError("expects operand ")
             << operand.getArgNumber() - 1
             << " to be a view or the segment table, but got "
             << operand.getType();
  int64_t operands = arguments.size() - 1;
  auto verifyIndices = [&](StringRef name,
                           ArrayRef<int64_t> indices) -> LogicalResult {
    for (int64_t index : indices)
      if (index < 0 || index >= operands) // tile_kernel3
        return emitOpError("expects '")
               << name << "' to name operands 0.." << operands - 1
               << ", but got " << index;
    return success();
  };
  if (failed(verifyIndices("writes", getWrites())) ||
      failed(verifyIndices("streamed",
                           getStreamed().value_or(ArrayRef<int64_t>{}))) ||
      failed(
          verifyIndices("aligned", getAligned().value_or(ArrayRef<int64_t>{}))))
    return failure();
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  std::optional<ScheduleAttr> schedule = getSchedule();
  bool laidOut = schedule && schedule->getDecided() >= Decided::Layouts;
  int64_t threads = laidOut ? schedule->getThreads() : 0;
  bool placed = !arePlacesOpen(*this);
  auto check = [&](Operation *op, Type type) -> LogicalResult {
    auto tile = dyn_cast<TileType>(type);
    if (!tile)
      return success();
    if ((tile.getLayout() ? getThreads(tile.getLayout()) : 0) == threads) {
      SharedAttr shared = tile.getSharedLayout();
      if (!shared || shared.getOffset().has_value() == placed)
        return success();
      return op->emitOpError("expects tiles in shared memory ") // tile_kernel5
             << (placed ? "with an offset in this scheduled kernel"
                        : "without an offset before their places are decided")
             << ", but got " << tile;
    }
    if (!laidOut) // tile_kernel4
      return op->emitOpError("expects tiles without a layout in a kernel ")
             << (schedule ? "whose layouts are not decided"
                          : "without a schedule")
             << ", but got " << tile;
    return op->emitOpError("expects tiles with a layout over ")
           << threads // tile_kernel4
           << " threads in this scheduled kernel, but got " << tile;
  };
  WalkResult result = getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(check(op, type)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          if (failed(check(op, type)))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
