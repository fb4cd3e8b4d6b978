// A mixer written in IR.
#ifndef EFFC_DIALECTS_SEQ_OPS_RECURRENCE_TD
#define EFFC_DIALECTS_SEQ_OPS_RECURRENCE_TD

include "dialects/seq/SeqAttributes.td"

def Seq_RecurrenceOp
    : Seq_Op<"recurrence", [
        AttrSizedOperandSegments, IsolatedFromAbove, RecursiveMemoryEffects,
        SingleBlock,
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>,
        DeclareOpInterfaceMethods<Seq_MixerOpInterface,
                                  ["getStructure", "buildTokenMap",
                                   "buildReadOut", "getObstacle"]>,
        DeclareOpInterfaceMethods<Seq_ReferenceOpInterface>]> {
  let summary = "Mix tokens by a step that is written out as a region";
  let description = [{
    The body is one token, and sees nothing of the function around it, so that
    names may be used again: it gets the token's row of each token operand, the
    parameters, and the states left by the token before, and yields the token's
    row of the result, then the next states:

    ```
    s = states
    for t in 0 .. T-1:
      y[t], s = body(tokens[t], parameters, s)
    next_states = s
    ```

    What the step is, is read from the body. With one state `S` of shape `H,K,V`
    the class is `linear`, and every other form is derived (but blocks of a
    correction whose decays are of value channels), if

    * the next state is a sum of the decayed state and of products of a key and a
      value, `(h,k), (h,v) -> (h,k,v)`, added or subtracted;
    * the decayed state is `S` times up to 64 decays, each of some of its
      dimensions: `seq.exp` of anything, constants in (0, 1], and whatever is bound
      to lie in [0, 1], whatever the tokens are. Bounds follow from the ops: gates,
      floors under them, clamps, squares of a hyperbolic tangent, weighted means of
      two decays, one minus a decay;
    * a value may contain what one probe reads, `(h,k), (h,k,v) -> (h,v)`, of
      the decayed or the old state, added, subtracted, negated, or times or over a
      number per head;
    * of several products either no value contains what a probe reads, or each
      does, where the probe of the next one reads the sum of those before it and
      of the decayed state (`n` corrections of DeltaProduct);
    * the result contains the state once, as what one query reads of it,
      `(h,k), (h,k,v) -> (h,v)`, before or after the write.

    How that is spelled does not matter: a product with a repeated tensor is a
    `seq.contract` without a sum, what is scaled after a sum or an outer product is
    scaled before, and the terms in which `S` occurs are joined
    (`dialects/seq/StepBody.h`).

    Behind it there may be a sum of keys `z` of shape `H,K`: it decays as `S`
    does, by factors of `H` or of `H,K`, what is added to it follows from tokens
    and parameters, and the result contains it once, as `(h,k), (h,k) -> (h)`,
    before or after the write as `S`. Of other states, `seq-split-steps` takes off
    those that stand alone: a state that is a token operand as it stands is a
    `seq.token_shift`, and one that follows from no other state and is read once
    is a recurrence of its own.

    A kernel that cannot say the rest of a linear body in tiles, as a result that
    divides each head by its own length, takes the body as it stands, and a
    remark names the op.

    Every value that is written varies with the token. Otherwise the class is
    `opaque`, and a remark names the op that keeps the step from being linear:
    the body runs as it stands, one token after another. Its kernel takes a head
    at a time, or all heads at once where they meet, and at most two dimensions
    of a value then.

    Without a state tokens do not meet: each row of `y` is made of the token's own
    rows and of parameters, and rows are computed in any order. So may be written
    what ops outside of a body cannot compute, since it follows from parameters
    alone.

    | value         | shape   | element | meaning                           |
    |---------------|---------|---------|-----------------------------------|
    | `tokens`      | `T,...` | f32     | one row for each token            |
    | `parameters`  | any     | f32     | parameters of the model           |
    | `states`      | any     | f32     | states before the tokens          |
    | `y`           | `T,...` | f32     | mixed tokens                      |
    | `next_states` | as `states` | f32 | states after the tokens           |

    Constraints:

    * (RECURRENCE1) There is at least one token operand.
    * (RECURRENCE2) The block arguments are the token operands without `T`, the
      parameters, then the states.
    * (RECURRENCE3) The `seq.yield` has `y` without `T`, then the states' types.
    * (RECURRENCE4) Token operands and `y` agree on `T`; next states have the
      types of the states.
    * (RECURRENCE5) The body holds elementwise ops, `seq.broadcast`,
      `seq.constant` and `seq.contract`.
    * (RECURRENCE6) The body holds at most 512 ops: one kernel computes it.

    Example:

    ```mlir
    %y, %last = seq.recurrence
        tokens(%q = %query : tensor<?x6x3xf32>, %k = %key : tensor<?x6x3xf32>,
               %v = %value : tensor<?x6x5xf32>, %g = %gate : tensor<?x6xf32>)
        parameters() states(%s = %s0 : tensor<6x3x5xf32>)
        -> (tensor<?x6x5xf32>), (tensor<6x3x5xf32>) {
      %decay = seq.sigmoid %g : tensor<6xf32>
      %kept = seq.contract %decay, %s {indexing_maps = [
          affine_map<(h, k, v) -> (h)>, affine_map<(h, k, v) -> (h, k, v)>,
          affine_map<(h, k, v) -> (h, k, v)>]}
          : (tensor<6xf32>, tensor<6x3x5xf32>) -> tensor<6x3x5xf32>
      %written = seq.contract %k, %v {indexing_maps = [
          affine_map<(h, k, v) -> (h, k)>, affine_map<(h, k, v) -> (h, v)>,
          affine_map<(h, k, v) -> (h, k, v)>]}
          : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x3x5xf32>
      %next = seq.add %kept, %written : tensor<6x3x5xf32>
      %read = seq.contract %q, %next {indexing_maps = [
          affine_map<(h, k, v) -> (h, k)>, affine_map<(h, k, v) -> (h, k, v)>,
          affine_map<(h, k, v) -> (h, v)>]}
          : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x5xf32>
      seq.yield %read, %next : tensor<6x5xf32>, tensor<6x3x5xf32>
    }
    ```
  }];
  let arguments = (ins
    Variadic<Seq_Tensor>:$tokens,                     /*recurrence1, recurrence4*/
    Variadic<Seq_StaticTensor>:$parameters,
    Variadic<Seq_StaticTensor>:$initial_states,
    OptionalAttr<Seq_FormAttr>:$form);
  let results = (outs
    Seq_Tensor:$y,                                    /*recurrence4*/
    Variadic<Seq_StaticTensor>:$next_states);         /*recurrence4*/
  let regions = (region SizedRegion<1>:$body);        /*recurrence2, recurrence3, recurrence5, recurrence6*/
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_RECURRENCE_TD
