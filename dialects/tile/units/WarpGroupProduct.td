//===- WarpGroupProduct.td - products of warp groups (wgmma) --------------===//
//
// Included by TileOps.td. The unit, and what NVVM has no op for: between the
// lowering to threads and the assembly text, or the simulator's call, that each
// becomes.
#ifndef EFFC_DIALECTS_TILE_UNITS_WARPGROUPPRODUCT_TD
#define EFFC_DIALECTS_TILE_UNITS_WARPGROUPPRODUCT_TD

def Tile_WgmmaAttr : Tile_Attr<"Wgmma", "wgmma",
                               [DeclareAttrInterfaceMethods<Tile_ProductUnit>]> {
  let summary = "The unit of products that four warps form (wgmma)";
  let description = [{
    64 rows, 16 for each warp, by up to 256 columns, 16 deep. A is in registers, read
    from shared memory or from the product before, so that f32 are split on the way. B is
    read where it lies: bf16 or f16 in swizzled rows of 128 bytes, which boxes can
    fill. It runs beside the threads (PTX ISA, wgmma.mma_async m64nNk16).

    Example: `#tile.wgmma`
  }];
  let assemblyFormat = "";
}

def Tile_WarpGroupFenceOp : Tile_Op<"nv.warp_group_fence", [AttrSizedOperandSegments,
    AttrSizedResultSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Orders what a thread wrote to registers before products read them";
  let description = [{
    What threads wrote to registers of A or of the accumulator is there for the products
    of the warp group behind this (PTX ISA, wgmma.fence). That the registers pass through
    keeps whatever writes them before it.

    Constraints:

    * (WGFENCE1) There are as many results as operands, of A and of the accumulator.

    Example:

    ```mlir
    %x:4, %y:2 = tile.nv.warp_group_fence (%a0, %a1, %a2, %a3), (%c0, %c1)
        : (i32, i32, i32, i32), (f32, f32)
    ```
  }];
  let arguments = (ins Variadic<I32>:$a, Variadic<F32>:$acc);
  let results = (outs Variadic<I32>:$fenced_a, Variadic<F32>:$fenced_acc);
  let assemblyFormat = [{
    `(` $a `)` `,` `(` $acc `)` attr-dict `:` `(` type($fenced_a) `)` `,` `(` type($fenced_acc) `)`
  }];
  let hasVerifier = 1;
}

def Tile_WarpGroupDotOp : Tile_Op<"nv.warp_group_dot", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts a product of the 128 threads of a warp group";
  let description = [{
    `D = A B + D`, or `D = A B` without `acc`, of 64 x 16 by 16 x N of bf16 or f16 (PTX ISA, wgmma.mma_async m64nNk16):
    `a` are this thread's four registers of A, as in mma.sync m16n8k16 with 16 rows
    for each warp; `b` describes B in shared memory, columns of 16 elements in depth,
    or with `across` rows of columns, 16 of them in depth;
    `acc` are this thread's N / 2 elements of D, as in `#tile.mma`. The results are
    under way until `tile.nv.warp_group_wait` gives them: nothing else may read them
    but another product.

    Constraints:

    * (WGDOT1) There are four registers of A, and as many results as accumulators,
      unless there are none of these, a multiple of 4 up to 128.
    * (WGDOT2) The elements of A and B are bf16 or f16.

    Example:

    ```mlir
    %y:4 = tile.nv.warp_group_dot bf16 (%a0, %a1, %a2, %a3), %b into (%c0, %c1, %c2, %c3)
        : f32, f32, f32, f32
    %z:4 = tile.nv.warp_group_dot f16 (%a0, %a1, %a2, %a3), %b across : f32, f32, f32, f32
    ```
  }];
  let arguments = (ins TypeAttr:$element, Variadic<I32>:$a, I64:$b, Variadic<F32>:$acc,
    UnitAttr:$across);
  let results = (outs Variadic<F32>:$sums);
  let assemblyFormat = [{
    $element `(` $a `)` `,` $b (`across` $across^)? (`into` `(` $acc^ `)`)? attr-dict `:` type($sums)
  }];
  let hasVerifier = 1;
}

def Tile_WarpGroupWaitOp : Tile_Op<"nv.warp_group_wait", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until the products of a warp group are done";
  let description = [{
    Waits for all committed groups of products of this warp group (PTX ISA,
    wgmma.wait_group 0) and gives the sums that were under way. That they pass through
    keeps arithmetic on them behind the wait.

    Constraints:

    * (WGWAIT1) There are as many results as operands.

    Example: `%z:4 = tile.nv.warp_group_wait %y#0, %y#1, %y#2, %y#3 : f32, f32, f32, f32`
  }];
  let arguments = (ins Variadic<F32>:$pending);
  let results = (outs Variadic<F32>:$sums);
  let assemblyFormat = "$pending attr-dict `:` type($sums)";
  let hasVerifier = 1;
}

#endif
