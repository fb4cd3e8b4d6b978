// The dialect, the base class of its ops and the tensors it speaks of.
#ifndef EFFC_DIALECTS_SEQ_SEQBASE_TD
#define EFFC_DIALECTS_SEQ_SEQBASE_TD

include "dialects/seq/SeqInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

def Seq_Dialect : Dialect {
  let name = "seq";
  let cppNamespace = "::effc::seq";
  let summary = "What a sequence model computes, on one sequence";
  let dependentDialects = ["::effc::storage::StorageDialect"]; // of weights
  let description = [{
    `seq` is the language of **one** sequence. Values are tensors whose leading
    dimension is `T`, the tokens; a mixer takes its state as an operand and
    returns the next one; weights are named references, never constants.

    Tensors are ranked, without an encoding, and have positive dimensions:

    * (TENSOR1) Token values and what is computed from them are f32. `T` comes
      first, dynamic (`?`) in a model and static where an entry point or a test
      has fixed it; every other dimension is static.
    * (TENSOR2) States and parameters are f32 and static, without `T`.
    * (TENSOR3) Matrices of weights are static, one or a block of them. Their numbers
      are f32 by meaning; the element type is how they are stored: f32, bf16, f16 or
      `!storage.block`, whose blocks divide a row.
    * (TENSOR4) Token ids, positions and numbers of rows are `i32`; where a token has
      one, of one dimension, where it chooses several, with `T` in front.

    Attributes on other dialects' ops:

    | attribute          | on                     | meaning                        |
    |--------------------|------------------------|--------------------------------|
    | `seq.model`        | `builtin.module`       | what the model is (`#seq.model`) |
    | `seq.state_layout` | `builtin.module`       | states of one slot (`#seq.state_layout`) |
    | `seq.entry`        | a function             | entry point it is (`#seq.entry`) |
    | `seq.state_name`   | a function's argument  | name of the state it carries   |

    Constraints on them:

    * (SEQ1) `seq.model` and `seq.state_layout` hold the attribute of their name
      and stand on a `builtin.module`.
    * (SEQ2) `seq.entry` holds an `#seq.entry` and stands on a function.
    * (SEQ3) `seq.state_name` is a non-empty string on a function's argument of
      static tensor type, and no two arguments of a function share it.
    * (SEQ4) A function with states returns, as its last results, the next
      value of each state in the order of the arguments, with their types.
    * (SEQ5) No other attribute begins with `seq.`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;   /*seq1, seq2, seq5*/
  let hasRegionArgAttrVerify = 1;   /*seq3, seq4, seq5*/
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
    void registerOperations();
  }];
}

// What stands between an op's braces is an attribute of the op, or of a dialect.
def Seq_KnownAttributes : NativeOpTrait<"KnownAttributes"> {
  let cppNamespace = "::effc::seq::OpTrait";
}

// What passes group ops by.
class Seq_KindTrait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::effc::seq::OpTrait";
}
// Each element is computed from the elements at the same place.
def Seq_Elementwise : Seq_KindTrait<"Elementwise">;
// Rounding the numbers that vary by token to 16 bits is usual in public models.
def Seq_WellConditioned : Seq_KindTrait<"WellConditioned">;
// Memory is only renamed: the first operand is what is read.
def Seq_View : Seq_KindTrait<"View">;
// A product of rows, the first operand, with a matrix of weights, the second.
def Seq_Dense : Seq_KindTrait<"Dense">;
// Such a product of whole rows: each output sums up a row, none a part of one.
def Seq_WholeRows : Seq_KindTrait<"WholeRows">;
// Nothing follows in the kernel: what it gives is nowhere a tile of its kernel.
def Seq_EndsKernel : Seq_KindTrait<"EndsKernel">;
// No kernel encloses it: a weight, or a kernel itself.
def Seq_BetweenKernels : Seq_KindTrait<"BetweenKernels">;

class Seq_Op<string mnemonic, list<Trait> traits = []>
    : Op<Seq_Dialect, mnemonic, [Seq_KnownAttributes] # traits>;

// An op that computes values: without side effects, and with a meaning that the
// reference evaluator runs.
class Seq_ValueOp<string mnemonic, list<Trait> traits = []>
    : Seq_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<Seq_ReferenceOpInterface>]
                       # traits>;

// The value of a token tensor, a state, a parameter in use or an intermediate.
def Seq_Tensor
    : Type<CPred<"::effc::seq::isValueTensor($_self)">,
           "f32 tensor with positive dimensions of which only the first may be "
           "dynamic", "::mlir::RankedTensorType">;     /*tensor1*/

// What varies with the token: values, or token ids, row numbers, positions and what
// tokens choose.
def Seq_TokenTensor
    : Type<CPred<"::effc::seq::isValueTensor($_self) || "
                 "::effc::seq::isChoiceTensor($_self)">,
           "f32 or i32 tensor with positive dimensions of which only the first may "
           "be dynamic", "::mlir::RankedTensorType">;

// Values with every dimension static: states and parameters.
def Seq_StaticTensor
    : Type<CPred<"::effc::seq::isStaticTensor($_self)">,
           "f32 tensor with positive static dimensions",
           "::mlir::RankedTensorType">;                /*tensor2*/

// A matrix of weights as it is stored.
def Seq_Matrix
    : Type<CPred<"::effc::seq::isWeightMatrix($_self)">,
           "2-D static f32, bf16, f16 or whole-block tensor",
           "::mlir::RankedTensorType">;                /*tensor3*/

// What only takes a part of something: numbers of tokens, or weights.
def Seq_Sliceable
    : Type<CPred<"::effc::seq::isValueTensor($_self) || "
                 "::effc::seq::isChoiceTensor($_self) || "
                 "::effc::seq::isWeightMatrix($_self)">,
           "f32 or i32 tensor with positive dimensions of which only the first may "
           "be dynamic, or matrix of weights",
           "::mlir::RankedTensorType">;

// A matrix of weights, or one for each block of channels.
def Seq_Matrices
    : Type<CPred<"::effc::seq::isWeightMatrix($_self) || "
                 "::effc::seq::isWeightBlocks($_self)">,
           "2-D or 3-D static f32, bf16, f16 or whole-block tensor",
           "::mlir::RankedTensorType">;                /*tensor3*/

// Anything `seq.weight` may name.
def Seq_Weight
    : Type<CPred<"::effc::seq::isWeightTensor($_self)">,
           "static f32 tensor or 2-D or 3-D static bf16, f16 or whole-block tensor",
           "::mlir::RankedTensorType">;

// Token ids, row numbers or positions.
def Seq_Indices
    : Type<CPred<"::effc::seq::isIndexTensor($_self)">,
           "1-D i32 tensor", "::mlir::RankedTensorType">;  /*tensor4*/

// The numbers that each token chooses.
def Seq_Choices
    : Type<CPred<"::effc::seq::isChoiceTensor($_self)">,
           "i32 tensor with positive dimensions of which only the first may be "
           "dynamic", "::mlir::RankedTensorType">;     /*tensor4*/

#endif // EFFC_DIALECTS_SEQ_SEQBASE_TD
