//===- Passes.td - from scheduled kernels to PTX --------------------------===//
#ifndef EFFC_CODEGEN_NVPTX_PASSES_TD
#define EFFC_CODEGEN_NVPTX_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerThreadsPass : Pass<"nvptx-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn scheduled kernels into what one thread does, in LLVM and NVVM";
  let description = [{
    Each `tile.kernel` with a schedule becomes an `llvm.func` with `nvvm.kernel`,
    one block of threads per work item: parameters are its operands' addresses in
    global memory, then the call's rows, segments and outputs (i64), then a tensor
    map of 128 bytes for each `#tile.box_map` of its boxes. A tile in registers
    is the elements that the thread holds by its layout; what several threads hold
    alike is stored by the first. Products become `mma.sync` of bf16, an f32 being
    the sum of three, or of what they are rounded to, and `tile.nv.warp_group_dot`
    where their columns lie swizzled.
    With `overlap-launches` a kernel lets the next one begin at once, and waits for
    those before it ahead of the first op that touches memory, but for boxes, which
    are of weights, and the table of segments.

    Needs: kernels at scheduled level; others are left. Their products are by `units`
    of the module's target: another unit is an error.
    Keeps: everything that is not a scheduled kernel.
    Not done: nothing is chosen here. `exp` is `ex2.approx` with a correction,
    softplus a polynomial of it; other `math` functions without an instruction stay,
    for `expand-math`.

    Example: test/codegen/nvptx/dots.mlir
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def WriteAssemblyPass : Pass<"nvptx-write-assembly", "::mlir::ModuleOp"> {
  let summary = "Write the products of warp groups as assembly";
  let description = [{
    `tile.nv.warp_group_dot` and `tile.nv.warp_group_wait` become inline assembly,
    since NVVM has products of warp groups only with both operands in shared memory,
    and a wait that arithmetic may pass. So does the wait of `nvvm.griddepcontrol`,
    whose intrinsic says that it touches no memory, so that loads may pass it, and
    that of an mbarrier, for which MLIR writes a loop that takes lanes to agree.

    Needs: functions in the LLVM and NVVM dialects, and these ops.
    Keeps: everything else.
    Not done: fences and commits are NVVM ops already.

    Example: test/codegen/nvptx/warp-group-dots.mlir
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def EmitPtxPass : Pass<"nvptx-emit-ptx", "::mlir::ModuleOp"> {
  let summary = "Write the lowered GPU kernels as PTX";
  let description = [{
    Translates every function with `nvvm.kernel` to LLVM IR, emits it for the chip of
    the module's target (`cpu`, with `features`) and writes the PTX to `output`.

    Needs: functions wholly in the LLVM and NVVM dialects, as `nvptx-write-assembly`
    leaves them, in a module whose target names its chip.
    Keeps: the module.
    Not done: assembling; `ptxas -arch=CHIP` takes the text.

    Example: test/codegen/nvptx/decode-state-update.mlir (and computed-addresses.mlir)
  }];
  let options = [
    Option<"computedAddresses", "computed-addresses", "bool", /*default=*/"false",
           "Loops compute the addresses they read and write, instead of stepping pointers">,
    Option<"output", "output", "std::string", /*default=*/"\"-\"", "File; - is standard output">];
}

def EmitCodePass : Pass<"nvptx-emit-code", "::mlir::ModuleOp"> {
  let summary = "Compile the lowered GPU kernels to a cubin and PTX";
  let description = [{
    Replaces every function with `nvvm.kernel` by one `plan.binary` with the cubin
    that `ptxas` makes for the `cpu` of the module's target, with its version and the registers and
    spills that it reports, and one with the PTX, for the driver of a newer chip. PTX
    of an architecture's own instructions (`sm_90a`) runs nowhere else and is left
    out. Where a kernel spills, or `ptxas` serialises its products of warp groups, it
    is made again with all registers of a thread, and if that is not enough, all of
    them with loops that compute addresses instead of stepping pointers; what spills
    least is kept.

    Needs: functions wholly in the LLVM and NVVM dialects, as `nvptx-write-assembly`
    leaves them, in a module whose target names its chip and its text (`ptx`).
    Keeps: everything else.
    Not done: without `ptxas` there is PTX only, which a remark says. A product of
    warp groups that `ptxas` serialises all the same is an error.

    Example: test/codegen/nvptx/emit-code.mlir
  }];
  let dependentDialects = ["::effc::plan::PlanDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif
