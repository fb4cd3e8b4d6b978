//===- WarpProduct.td - products of single warps (mma.sync) ---------------===//
#ifndef EFFC_DIALECTS_TILE_UNITS_WARPPRODUCT_TD
#define EFFC_DIALECTS_TILE_UNITS_WARPPRODUCT_TD

include "dialects/tile/TileBase.td"

def Tile_MmaSyncAttr : Tile_Attr<"MmaSync", "mma_sync",
                                 [DeclareAttrInterfaceMethods<Tile_ProductUnit>]> {
  let summary = "The unit of products that a single warp forms (mma.sync)";
  let description = [{
    Products of 16 x 16 by 16 x 8. A is in shared memory or in the registers of the
    product before, B in shared memory, in rows padded against bank conflicts. It
    multiplies bf16, f16 and tf32, and f32 as sums of three bf16. Its results are there
    behind it (PTX ISA, mma.sync m16n8k16 and m16n8k8).

    Example: `#tile.mma_sync`
  }];
  let assemblyFormat = "";
}

#endif
