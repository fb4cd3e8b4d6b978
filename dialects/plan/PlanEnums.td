//===- PlanEnums.td - the enumerations of the plan dialect ----------------===//
#ifndef EFFC_DIALECTS_PLAN_PLANENUMS_TD
#define EFFC_DIALECTS_PLAN_PLANENUMS_TD

include "mlir/IR/EnumAttr.td"

class Plan_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::effc::plan";
}

def Plan_EntryKind : Plan_Enum<"EntryKind", "what an entry's rows are", [
    I32EnumAttrCase<"Prefill", 0, "prefill">, I32EnumAttrCase<"Decode", 1, "decode">]>;

def Plan_Table : Plan_Enum<"Table", "an input that every packed call brings", [
    I32EnumAttrCase<"Tokens", 0, "tokens">,
    I32EnumAttrCase<"RowSlots", 1, "row_slots">,
    I32EnumAttrCase<"RowPositions", 2, "row_positions">,
    I32EnumAttrCase<"Segments", 3, "segments">,
    I32EnumAttrCase<"OutputRows", 4, "output_rows">,
    I32EnumAttrCase<"Draws", 5, "draws">]>;

def Plan_CallResult : Plan_Enum<"CallResult", "what a call gives", [
    I32EnumAttrCase<"Logits", 1, "logits">, I32EnumAttrCase<"Choices", 2, "choices">]>;

#endif
