// Tokens chunk by chunk, with states between the chunks.
#ifndef EFFC_DIALECTS_SEQ_OPS_SCAN_TD
#define EFFC_DIALECTS_SEQ_OPS_SCAN_TD

include "dialects/seq/SeqAttributes.td"

def Seq_ScanOp
    : Seq_Op<"scan", [
        AttrSizedOperandSegments, RecursiveMemoryEffects, SingleBlock,
        AttrSizedResultSegments,
        DeclareOpInterfaceMethods<Seq_ReferenceOpInterface>]> {
  let summary = "Run a body over the chunks of the tokens, carrying states";
  let description = [{
    Cuts the `T` tokens into chunks of `chunk` and runs the body once per chunk,
    in order. The body sees the chunk's rows of each token operand and the
    states left by the chunk before, and yields rows of each token result, then
    the next states:

    ```
    s = states
    for c in 0 .. T / chunk - 1:
      rows = [c * chunk, (c + 1) * chunk)
      outputs[rows], s = body(tokens[rows], s)
    next_states = s
    ```

    A token operand may hold positions. The body may use values from outside, such as parameters. `chunk 1` is the
    recurrence itself.

    Constraints:

    * (SCAN1) `chunk` is at least 1.
    * (SCAN2) Token operands share one `T`, which is a multiple of `chunk`; a
      dynamic `T` is one at run time.
    * (SCAN3) The block arguments are the token operands with `chunk` rows, then
      the states.
    * (SCAN4) The `seq.yield` has the token results with `chunk` rows, then the
      states' types; token results have the `T` of the operands.
    * (SCAN5) Each next state has the type of its state.
    * (SCAN6) There is at least one token operand.

    Example:

    ```mlir
    %y, %last = seq.scan chunk 4 tokens(%a = %x : tensor<12x6xf32>)
        states(%s = %s0 : tensor<6xf32>)
        -> (tensor<12x6xf32>), (tensor<6xf32>) {
      %rows = seq.broadcast %s along %a {dimensions = array<i64: 1>}
          : tensor<6xf32>, tensor<4x6xf32>
      %sum = seq.add %a, %rows : tensor<4x6xf32>
      %next = seq.neg %s : tensor<6xf32>
      seq.yield %sum, %next : tensor<4x6xf32>, tensor<6xf32>
    }
    ```
  }];
  let arguments = (ins
    I64Attr:$chunk,                                   /*scan1*/
    Variadic<Seq_TokenTensor>:$tokens,                /*scan2, scan6*/
    Variadic<Seq_StaticTensor>:$states);
  let results = (outs
    Variadic<Seq_Tensor>:$outputs,                    /*scan4*/
    Variadic<Seq_StaticTensor>:$next_states);         /*scan5*/
  let regions = (region SizedRegion<1>:$body);        /*scan3*/
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_SCAN_TD
