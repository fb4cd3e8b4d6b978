// Kernels: groups of ops that are to be computed as one.
#ifndef EFFC_DIALECTS_SEQ_OPS_KERNEL_TD
#define EFFC_DIALECTS_SEQ_OPS_KERNEL_TD

include "dialects/seq/SeqAttributes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Seq_KernelOp
    : Seq_Op<"kernel", [
        IsolatedFromAbove, RecursiveMemoryEffects, SingleBlock, Seq_BetweenKernels,
        DeclareOpInterfaceMethods<Seq_ReferenceOpInterface>]> {
  let summary = "Group ops that become one kernel";
  let description = [{
    Encloses the ops of one future kernel: prologue, root and epilogue. Its
    meaning is that of its body, with each operand bound to a block argument
    and each operand of the final `seq.yield` to a result. The region sees no
    value from outside, so what a kernel reads and writes is its signature.

    Fusion is decided where this op is created, and nowhere after. So is what the
    kernel is one of: `root` is the number of an op of the body, from 0, whose builder
    makes the kernel. What comes before it is its prologue, what comes behind its
    epilogue. Without it the kernel has elementwise ops alone.

    `narrow` lists the numbers of results that lie in memory as `narrow_to`, bf16, f16
    or digits, rounded to the nearest where they are written. It says how a result is handed
    on, not what it is: the meaning stays that of the body, of f32. `seq-narrow-results`
    lists what is read as the nearest of that type anyway, and where bits may differ what
    tolerates rounding. A kernel without ops whose argument is a matrix of blocks hands it
    on unpacked (`seq-unpack-weights`).

    Constraints:

    * (KERNEL1) The block arguments have the types of the operands, in order.
    * (KERNEL2) The `seq.yield` has operands of the results' types, in order.
    * (KERNEL3) `name` is not empty.
    * (KERNEL4) The body holds at most 512 ops.
    * (KERNEL5) `narrow`, where present, lists results of f32 or of blocks in ascending
      order, at least one.
    * (KERNEL6) `narrow` and `narrow_to` are there together, and `narrow_to` is bf16,
      f16 or `!storage.digits`.
    * (KERNEL7) `root`, where present, is the number of an op before the `seq.yield`
      that is neither elementwise nor a view.

    Example:

    ```mlir
    %r = seq.kernel "layers.0.residual" (%a = %x : tensor<?x6xf32>,
                                         %b = %y : tensor<?x6xf32>)
        -> (tensor<?x6xf32>) {
      %s = seq.add %a, %b : tensor<?x6xf32>
      seq.yield %s : tensor<?x6xf32>
    }
    %p = seq.kernel "layers.0.out_proj" (%a = %r : tensor<?x6xf32>, %w = %m : tensor<6x6xf32>)
        -> (tensor<?x6xf32>) attributes {root = 0 : i64} {
      %s = seq.linear %a, %w : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
      %t = seq.silu %s : tensor<?x6xf32>
      seq.yield %t : tensor<?x6xf32>
    }
    %h = seq.kernel "layers.0.gate" (%a = %r : tensor<?x6xf32>) -> (tensor<?x6xf32>)
        attributes {narrow = array<i64: 0>, narrow_to = bf16} {
      %s = seq.silu %a : tensor<?x6xf32>
      seq.yield %s : tensor<?x6xf32>
    }
    ```
  }];
  let arguments = (ins
    StrAttr:$name,                                     /*kernel3*/
    Variadic<AnyType>:$inputs,
    OptionalAttr<I64Attr>:$root,                       /*kernel7*/
    OptionalAttr<DenseI64ArrayAttr>:$narrow,           /*kernel5*/
    OptionalAttr<TypeAttr>:$narrow_to);                /*kernel6*/
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);        /*kernel1, kernel2, kernel4*/
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The op whose builder makes the kernel; null: it has elementwise ops alone.
    ::mlir::Operation *getRootOp();
    /// What the elements of result `number` are in memory.
    ::mlir::Type getStoredType(unsigned number);
  }];
}

def Seq_YieldOp
    : Seq_Op<"yield", [Pure, ReturnLike, Terminator,
                       ParentOneOf<["KernelOp", "RecurrenceOp", "ScanOp"]> /*yield1*/]> {
  let summary = "Return values from a region";
  let description = [{
    Ends the body of a `seq.kernel`, a `seq.recurrence` or a `seq.scan`; what the
    operands mean is the parent's to say.

    Constraints:

    * (YIELD1) The parent is a `seq.kernel`, a `seq.recurrence` or a `seq.scan`.

    Example:

    ```mlir
    seq.yield %y, %next : tensor<4x6x5xf32>, tensor<6x3x5xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

#endif // EFFC_DIALECTS_SEQ_OPS_KERNEL_TD
