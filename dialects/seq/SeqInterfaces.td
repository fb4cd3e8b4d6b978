// What passes and the reference know of an op: its states, its structure, its
// meaning.
#ifndef EFFC_DIALECTS_SEQ_SEQINTERFACES_TD
#define EFFC_DIALECTS_SEQ_SEQINTERFACES_TD

include "mlir/IR/OpBase.td"

def Seq_StatefulOpInterface : OpInterface<"StatefulOpInterface"> {
  let cppNamespace = "::effc::seq";
  let description = [{
    An op that carries state from one call to the next: each state is an
    operand, and its next value a result of the same type.

    Every operand plays one role: it varies with the token, it is a parameter
    of the model, or it is a state. A pass that asks for the roles can handle
    any such op without knowing its name.

    Constraints:

    * (STATEFUL1) A state's next value has the type of the state, and its
      logical shape and element type are those of its descriptor.
    * (STATEFUL2) Operands of the role `state` are exactly those that the
      descriptors name.
    * (STATEFUL3) Token operands and token results agree on `T`.
  }];
  let methods = [
    InterfaceMethod<"One descriptor per state, in operand order.",
      "::llvm::SmallVector<::effc::seq::StateDescriptor>", "getStates">,
    InterfaceMethod<"The role of operand `index`.",
      "::effc::seq::OperandRole", "getOperandRole", (ins "unsigned":$index)>
  ];
  let extraSharedClassDeclaration = [{
    /// The operands of one role, in operand order.
    ::llvm::SmallVector<::mlir::Value>
    getOperandsOf(::effc::seq::OperandRole role) {
      return ::effc::seq::detail::operandsOf($_op.getOperation(), role);
    }
    /// The results that are not states, in result order.
    ::llvm::SmallVector<::mlir::OpResult> getTokenResults() {
      return ::effc::seq::detail::tokenResults($_op.getOperation());
    }
  }];
  // After the op's own verifier, whose messages say more.
  let verifyWithRegions = 1;   /*stateful1, stateful2, stateful3*/
  let verify = "return ::effc::seq::detail::verifyStatefulOp($_op);";
}

def Seq_MixerOpInterface
    : OpInterface<"MixerOpInterface", [Seq_StatefulOpInterface]> {
  let cppNamespace = "::effc::seq";
  let description = [{
    All that passes know of a mixer beyond its states: class and structure
    record, a *token map* from the op's operands to the canonical quantities of
    its class, and a *read-out* from what the class computes to the op's result.
    A mixer never ships a form of its own: forms are derived from these.
  }];
  let methods = [
    StaticInterfaceMethod<[{
        Names, dimension letters and roles of the operands that the op may have,
        in operand order. Empty where the definition does not say so: of other
        classes than `linear`, and of steps that are written out.
      }],
      "::llvm::ArrayRef<::effc::seq::OperandSignature>", "getSignature", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
        The operands that are there with their names in the op's definition, in
        operand order. Empty where the definition names none.
      }],
      "::llvm::SmallVector<std::pair<::llvm::StringRef, ::mlir::Value>>",
      "getNamedOperands", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return {};">,
    InterfaceMethod<"Class and structure record.",
      "::effc::seq::StructureAttr", "getStructure">,
    InterfaceMethod<[{
        Builds the canonical quantities of the tokens in `tokens` (the operands
        of the role `token`, in operand order; any `T`, static or dynamic) with
        `parameters` (the operands of the role `parameter`, in operand order).
        Emits only elementwise ops, `seq.broadcast`, `seq.contract` and
        `seq.at_start` of a token operand, so that the same region can become
        kernel code. For class `linear` only.
      }],
      "::effc::seq::CanonicalQuantities", "buildTokenMap",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$tokens, "::mlir::ValueRange":$parameters), "",
      [{ llvm_unreachable("asked for the token map of another class"); }]>,
    InterfaceMethod<[{
        Builds the op's token result from what the recurrence has read and from
        the quantities of the same tokens; by default the reading itself. Emits
        what a token map may.
        For class `linear` only.
      }],
      "::mlir::Value", "buildReadOut",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "const ::effc::seq::LinearReading &":$reading,
           "const ::effc::seq::CanonicalQuantities &":$quantities), "",
      [{ return reading.read; }]>,
    InterfaceMethod<"What is scored and retrieved. For class `retrieval` only.",
      "::effc::seq::RetrievalOperands", "getRetrievalOperands", (ins), "",
      [{ llvm_unreachable("asked for the operands of another class"); }]>,
    InterfaceMethod<[{
        Of a mixer of class `opaque`: the op that keeps it from being linear, and
        what that op does. Null for the others.
      }],
      "::effc::seq::Obstacle", "getObstacle", (ins), /*methodBody=*/"",
      /*defaultImplementation=*/"return {};">,
    InterfaceMethod<[{
        Names what the op computes on, given its operands of the role `token` and
        of the role `parameter`, each in operand order. The first token result is
        the mixed tokens [T, H, V]. For class `window` only.
      }],
      "::effc::seq::WindowTokens", "getWindowTokens",
      (ins "::mlir::ValueRange":$tokens, "::mlir::ValueRange":$parameters), "",
      [{ llvm_unreachable("asked for the window tokens of another class"); }]>,
    InterfaceMethod<"The chosen form, or null before one is chosen.",
      "::effc::seq::FormAttr", "getFormAttr">,
    InterfaceMethod<"Records the chosen form.",
      "void", "setFormAttr", (ins "::effc::seq::FormAttr":$form)>
  ];
}

def Seq_RowNormOpInterface : OpInterface<"RowNormOpInterface"> {
  let cppNamespace = "::effc::seq";
  let description = [{
    A norm of the channels of each row `x` [T, D] by its root mean square, in groups
    of channels, times a `weight` [D]. Where there is a `gate` [T, D], what is normed is
    `x * silu(gate)`.
  }];
  let methods = [
    InterfaceMethod<"The rows.", "::mlir::Value", "getX">,
    InterfaceMethod<"The gate; null: none.", "::mlir::Value", "getGate", (ins),
      /*methodBody=*/"", /*defaultImplementation=*/"return {};">,
    InterfaceMethod<"A scale for each channel.", "::mlir::Value", "getWeight">,
    InterfaceMethod<"What is added to the mean square.", "::llvm::APFloat", "getEps">,
    InterfaceMethod<"How many groups the channels are normed in.", "uint64_t",
      "getGroups", (ins), /*methodBody=*/"", /*defaultImplementation=*/"return 1;">
  ];
}

def Seq_ReferenceOpInterface : OpInterface<"ReferenceOpInterface"> {
  let cppNamespace = "::effc::seq";
  let description = [{
    The meaning of an op, as slow and readable code: reads the values of its
    operands from a frame and sets those of its results. Both methods call one
    template; double is the oracle, float shows what f32 arithmetic loses.
  }];
  let methods = [
    InterfaceMethod<"Evaluates the op in double precision.",
      "::llvm::Error", "evaluateInDouble",
      (ins "::effc::seq::reference::Frame<double> &":$frame)>,
    InterfaceMethod<"Evaluates the op in single precision.",
      "::llvm::Error", "evaluateInFloat",
      (ins "::effc::seq::reference::Frame<float> &":$frame)>
  ];
}

#endif // EFFC_DIALECTS_SEQ_SEQINTERFACES_TD
