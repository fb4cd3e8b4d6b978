//===- Layouts.td - what a layout of tiles has to say ---------------------===//
#ifndef EFFC_DIALECTS_TILE_LAYOUTS_TD
#define EFFC_DIALECTS_TILE_LAYOUTS_TD

include "mlir/IR/Interfaces.td"

def Tile_TileLayout : AttrInterface<"TileLayout"> {
  let cppNamespace = "::effc::tile";
  let description = "Where a tile lies at scheduled level.";
  let methods = [
    InterfaceMethod<"Threads of the block that it is over.", "int64_t", "getThreads">,
  ];
}

def Tile_RegisterLayout : AttrInterface<"RegisterLayout"> {
  let cppNamespace = "::effc::tile";
  let description = "A layout in the registers of threads.";
  let methods = [
    InterfaceMethod<"Which elements of a block a thread holds.",
      "::effc::tile::Distribution", "distribute", (ins "int64_t":$rows,
      "int64_t":$columns)>,
  ];
}

#endif
