//===- ProductUnit.td - what a unit that multiplies tiles has to say ------===//
#ifndef EFFC_DIALECTS_TILE_UNITS_PRODUCTUNIT_TD
#define EFFC_DIALECTS_TILE_UNITS_PRODUCTUNIT_TD

include "mlir/IR/Interfaces.td"

def Tile_ProductUnit : AttrInterface<"ProductUnit"> {
  let cppNamespace = "::effc::tile";
  let description = [{
    A kind of instruction that multiplies matrices. A target lists its units, the
    preferred one first; passes ask a unit instead of knowing it. Its lowerings are in
    `codegen/nvptx/units` and `codegen/sim/units`.
  }];
  let methods = [
    InterfaceMethod<"Who forms a product, for messages: \"warps\".",
      "::llvm::StringRef", "getFormedBy">,
    InterfaceMethod<"Warps that form one product together.", "int64_t", "getWarps">,
    InterfaceMethod<[{
      Whether a token's sums have the same bits whatever rows are beside it, and the
      bits that any other such unit gives.
    }], "bool", "isBitStable">,
    InterfaceMethod<[{
      Whether it runs beside the threads. What they wrote to shared memory and to
      registers is fenced before, and results are waited for.
    }], "bool", "isAsynchronous">,
    InterfaceMethod<[{
      Whether it multiplies elements of B of type `b`, as they are, where operands are
      rounded to `roundedTo` (null: exact).
    }], "bool", "multiplies", (ins "::mlir::Type":$b, "::mlir::Type":$roundedTo)>,
    InterfaceMethod<[{
      Whether products are exact where rounding to `roundedTo` is allowed.
    }], "bool", "isExact", (ins "::mlir::Type":$roundedTo)>,
    InterfaceMethod<[{
      Whether `warps`, of which `rowWarps` lie along the rows, can form the product.
    }], "bool", "canForm", (ins "const ::effc::tile::DotShape &":$shape,
      "int64_t":$warps, "int64_t":$rowWarps)>,
    InterfaceMethod<[{
      How the accumulators of `threads` lie, of whose warps `rowWarps` lie along the
      rows.
    }], "::mlir::Attribute", "getAccumulators", (ins "int64_t":$threads,
      "int64_t":$rowWarps)>,
    InterfaceMethod<[{
      How it wants rows of operands of type `element` in shared memory; nothing where
      it takes them as anything else does.
    }], "std::optional<::effc::tile::SharedRows>", "getOwnRows",
      (ins "::mlir::Type":$element)>,
    InterfaceMethod<[{
      Whether it reads an operand that is transposed, or not, from rows of its own.
    }], "bool", "readsOwnRows", (ins "::effc::tile::DotOperand":$operand,
      "bool":$transposed)>,
    InterfaceMethod<"Whether it reads B from a layout in shared memory.",
      "bool", "takesB", (ins "::mlir::Attribute":$layout)>,
    InterfaceMethod<[{
      Whether it reads an A that is transposed, or not, from a layout in shared memory.
    }], "bool", "takesA", (ins "::mlir::Attribute":$layout, "bool":$transposed)>,
    InterfaceMethod<[{
      Tiles to offer for products of many rows, the largest first, all with B in steps
      of its own rows; none where it has no wish.
    }], "::llvm::ArrayRef<::effc::tile::DotTile>", "getTiles", (ins "bool":$isExact)>,
  ];
}

#endif
