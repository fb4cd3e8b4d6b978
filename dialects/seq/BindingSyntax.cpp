#include "dialects/seq/BindingSyntax.h"

using namespace mlir;

namespace effc::seq {

ParseResult Bindings::parse(OpAsmParser &parser) {
  return parser.parseCommaSeparatedList(
      OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
        return failure(parser.parseArgument(arguments.emplace_back()) ||
                       parser.parseEqual() ||
                       parser.parseOperand(operands.emplace_back()) ||
                       parser.parseColonType(arguments.back().type));
      });
}

ParseResult Bindings::resolve(OpAsmParser &parser,
                              SmallVectorImpl<Value> &values) const {
  for (auto [argument, operand] : llvm::zip_equal(arguments, operands))
    if (parser.resolveOperand(operand, argument.type, values))
      return failure();
  return success();
}

void printBindings(OpAsmPrinter &printer, ValueRange arguments,
                   ValueRange operands) {
  printer << '(';
  llvm::interleaveComma(
      llvm::zip_equal(arguments, operands), printer, [&](auto pair) {
        auto [argument, operand] = pair;
        printer << argument << " = " << operand << " : " << operand.getType();
      });
  printer << ')';
}

ParseResult parseTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&] {
    return parser.parseType(types.emplace_back());
  });
}

} // namespace effc::seq
