// What the definitions of mixers of class `linear` share: a signature, from
// which operands, results, syntax, verifier, roles, states, the table of values
// and the first constraints follow.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_LINEARMIXER_TD
#define EFFC_DIALECTS_SEQ_MIXERS_LINEARMIXER_TD

include "dialects/seq/SeqAttributes.td"

//===----------------------------------------------------------------------===//
// The values of a signature
//===----------------------------------------------------------------------===//

// An operand: `letters` are those of its dimensions, "T,H,K", and `meaning` is
// a phrase for the table of values.
class Seq_MixerOperand<string operandName, string operandLetters,
                       string operandMeaning, string operandRole> {
  string name = operandName;
  string letters = operandLetters;
  string meaning = operandMeaning;
  string role = operandRole; // of ::effc::seq::OperandRole
  TypeConstraint type = Seq_StaticTensor;
  string element = "f32";
  bit isOptional = 0;
  // How it is written; where empty, in the list of its role.
  string syntax = "";
  // Of a state: its ::effc::seq::StateKind, the number that it starts with,
  // whether no storage of states may round it, and what its next value is.
  string kind = "Matrix";
  string start = "0.0";
  bit keepsF32 = 0;
  string after = "";
}

class Seq_Token<string name, string letters, string meaning>
    : Seq_MixerOperand<name, letters, meaning, "Token"> {
  let type = Seq_Tensor;
}
class Seq_OptionalToken<string name, string letters, string meaning>
    : Seq_MixerOperand<name, letters, meaning, "Token"> {
  let type = Optional<Seq_Tensor>;
  let isOptional = 1;
  let syntax = "(`" # name # "` `(` $" # name # "^ `)`)?";
}
// Where tokens lie in their sequence.
class Seq_TokenPositions<string name, string meaning>
    : Seq_MixerOperand<name, "T", meaning, "Token"> {
  let type = Seq_Indices;
  let element = "i32";
  let syntax = "`" # name # "` `(` $" # name # " `)`";
}

class Seq_Parameter<string name, string letters, string meaning>
    : Seq_MixerOperand<name, letters, meaning, "Parameter">;
class Seq_OptionalParameter<string name, string keyword, string letters,
                            string meaning>
    : Seq_MixerOperand<name, letters, meaning, "Parameter"> {
  let type = Optional<Seq_StaticTensor>;
  let isOptional = 1;
  let syntax = "(`" # keyword # "` `(` $" # name # "^ `)`)?";
}

// A state is an operand `name` and a result `next_name`.
class Seq_State<string name, string letters,
                string before = "state before the tokens",
                string afterTokens = "the same after the tokens">
    : Seq_MixerOperand<name, letters, before, "State"> {
  let after = afterTokens;
}
// A running sum or product, whose every rounding would stay in all that follows.
class Seq_RunningState<string name, string letters, string first,
                       string before, string afterTokens>
    : Seq_State<name, letters, before, afterTokens> {
  let start = first;
  let keepsF32 = 1;
}
class Seq_SumState<string name, string letters, string before>
    : Seq_State<name, letters, before> {
  let kind = "Sum";
}
class Seq_MaximumState<string name, string letters, string first = "0.0">
    : Seq_State<name, letters, "running maximum before the tokens"> {
  let kind = "Scalar";
  let start = first;
}

//===----------------------------------------------------------------------===//
// What descriptions say of it
//===----------------------------------------------------------------------===//

// `text`, then `filler` up to `width` characters.
class Seq_Filled<string text, int width, string filler = " "> {
  string result = !foldl(text, !range(!size(text), width), line, i, line # filler);
}

class Seq_TableRow<string valueName, string valueLetters, string valueElement,
                   string valueMeaning> {
  string name = "`" # valueName # "`";
  string shape = "`" # valueLetters # "`";
  string element = valueElement;
  string meaning = valueMeaning;
}

// A Markdown table, indented as descriptions are.
class Seq_ValueTable<list<Seq_TableRow> rows> {
  int names = !foldl(5, rows, w, row, !if(!gt(!size(row.name), w), !size(row.name), w));
  int shapes = !foldl(5, rows, w, row, !if(!gt(!size(row.shape), w), !size(row.shape), w));
  int meanings = !foldl(7, rows, w, row, !if(!gt(!size(row.meaning), w), !size(row.meaning), w));
  list<string> lines = !listconcat(
    ["| " # Seq_Filled<"value", names>.result # " | " # Seq_Filled<"shape", shapes>.result
       # " | element | " # Seq_Filled<"meaning", meanings>.result # " |",
     "|-" # Seq_Filled<"", names, "-">.result # "-|-" # Seq_Filled<"", shapes, "-">.result
       # "-|---------|-" # Seq_Filled<"", meanings, "-">.result # "-|"],
    !foreach(row, rows,
      "| " # Seq_Filled<row.name, names>.result # " | " # Seq_Filled<row.shape, shapes>.result
        # " | " # row.element # "     | " # Seq_Filled<row.meaning, meanings>.result # " |"));
  string result = !interleave(lines, "\n    ");
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

// A mixer of class `linear`. Its signature lists tokens, then parameters, then
// states. Its results are the mixed tokens `y`, which are `T,H,V`, then the next
// states. `attributes` are those besides the form.
//
// `text` is the description. `$values` stands there for the table of values, and
// `$constraints` for one constraint for each operand, one for `y`, and one for
// groups where a letter is `G`. Their numbers begin at 1. What the mixer adds to
// them is written behind, with the numbers that follow.
//
// A mixer with `hasReadOut` makes more of what the query reads. One with
// `hasRules` defines `verifyRules`, which sees values of the right shapes.
class Seq_LinearMixerOp<string mnemonic, list<Seq_MixerOperand> signature,
                        bit hasReadOut = 0, bit hasRules = 0, list<Trait> traits = []>
    : Seq_ValueOp<mnemonic, [
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>,
        DeclareOpInterfaceMethods<Seq_MixerOpInterface,
            ["getSignature", "getNamedOperands", "getStructure", "buildTokenMap"]
            # !if(hasReadOut, ["buildReadOut"], []<string>)>]
        # !if(!foldl(0, signature, any, v, !or(any, v.isOptional)),
              [AttrSizedOperandSegments], []<Trait>)
        # traits> {
  string label = !toupper(mnemonic); // of constraints
  string text = "";
  dag attributes = (ins);

  defvar states = !filter(v, signature, !eq(v.role, "State"));
  defvar ordered = !filter(v, signature, !eq(v.role, "Token"))
    # !filter(v, signature, !eq(v.role, "Parameter")) # states;
  assert !eq(!interleave(!foreach(v, signature, v.name), ","),
             !interleave(!foreach(v, ordered, v.name), ",")),
         "a signature lists tokens, then parameters, then states";
  let arguments = !con(!dag(ins, !foreach(v, signature, v.type), !foreach(v, signature, v.name)),
                       attributes, (ins OptionalAttr<Seq_FormAttr>:$form));
  let results = !con((outs Seq_Tensor:$y),
                     !dag(outs, !foreach(v, states, Seq_StaticTensor),
                          !foreach(v, states, "next_" # v.name)));

  // The one builder that callers have: the types of the results, then each operand, null
  // for one that is not there, then the attributes. Those that MLIR would add took a
  // tenth of the time in which the dialect compiles.
  defvar numbers = !range(!size(attributes));
  defvar operandNames = !foreach(v, signature, v.name);
  defvar attributeNames = !foreach(i, numbers, !getdagname(attributes, i));
  defvar isNumber = !foreach(i, numbers, !not(!getdagarg<Attr>(attributes, i).isOptional));
  defvar sized = !foldl(0, signature, any, v, !or(any, v.isOptional));
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<
      !con((ins "::mlir::Type":$y),
           !dag(ins, !foreach(v, states, "::mlir::Type"), !foreach(v, states, "next_" # v.name)),
           !dag(ins, !foreach(v, signature, "::mlir::Value"), operandNames),
           !dag(ins, !foreach(i, numbers, !if(isNumber[i], "::llvm::APFloat",
                        !getdagarg<Attr>(attributes, i).storageType)), attributeNames),
           (ins "::effc::seq::FormAttr":$form)),
      "$_state.addTypes({" # !interleave(["y"] # !foreach(v, states, "next_" # v.name), ", ")
        # "});\nfor (::mlir::Value operand : {" # !interleave(operandNames, ", ")
        # "})\n  if (operand)\n    $_state.addOperands(operand);\n"
        # "auto &properties = $_state.getOrAddProperties<Properties>();\n"
        # !if(sized, "properties.operandSegmentSizes = {" # !interleave(
              !foreach(v, signature, !if(v.isOptional, v.name # " ? 1 : 0", "1")), ", ") # "};\n", "")
        # !interleave(!foreach(i, numbers, "properties." # attributeNames[i] # " = "
              # !if(isNumber[i], "$_builder.getFloatAttr($_builder.getF64Type(), "
                                   # attributeNames[i] # ")", attributeNames[i]) # ";\n"), "")
        # "properties.form = form;\n">];

  defvar tokens = !filter(v, signature, !and(!eq(v.role, "Token"), !empty(v.syntax)));
  defvar parameters = !filter(v, signature, !and(!eq(v.role, "Parameter"), !empty(v.syntax)));
  defvar keyworded = !filter(v, signature, !not(!empty(v.syntax)));
  let assemblyFormat = "\n    " # !interleave(
    [!interleave([!interleave(!foreach(v, tokens, "$" # v.name), " `,` ")]
                 # !foreach(v, keyworded, v.syntax), " ")]
    # !if(!empty(parameters), []<string>,
          ["`parameters` `(` " # !interleave(!foreach(v, parameters, "$" # v.name), " `,` ")
             # " `)`"])
    # ["`state` `(` " # !interleave(!foreach(v, states, "$" # v.name), " `,` ")
         # " `)` attr-dict `:` functional-type(operands, results)"], "\n    ") # "\n  ";

  defvar rows = !foreach(v, signature, Seq_TableRow<v.name, v.letters, v.element, v.meaning>)
    # [Seq_TableRow<"y", "T,H,V", "f32", "mixed tokens">]
    # !foreach(v, states, Seq_TableRow<"next_" # v.name, v.letters, v.element, v.after>);
  defvar isGrouped = !foldl(0, signature, any, v, !or(any, !ne(!find(v.letters, "G"), -1)));
  defvar shapes = !foreach(v, signature,
      "`" # v.name # "`" # !if(v.isOptional, ", where present,", "") # " is `" # v.letters # "`"
        # !if(!eq(v.role, "State"), ", and `next_" # v.name # "` has its type", "") # ".")
    # ["`y` is `T,H,V`."] # !if(isGrouped, ["`G` divides `H`."], []<string>);
  defvar constraints = !foreach(i, !range(!size(shapes)),
      "* (" # label # !add(i, 1) # ") " # shapes[i]);
  let description = !subst("$values", Seq_ValueTable<rows>.result,
      !subst("$constraints", !interleave(constraints, "\n    "), text));

  let hasVerifier = 1;
  let extraClassDeclaration = !if(hasRules, "::llvm::LogicalResult verifyRules();\n", "");
  let extraClassDefinition = [{
    ::llvm::ArrayRef<::effc::seq::OperandSignature> $cppClass::getSignature() {
      static constexpr ::effc::seq::OperandSignature signature[] = {
        }] # !interleave(!foreach(v, signature,
               "{\"" # v.name # "\", \"" # !subst(",", "", v.letters)
                 # "\", ::effc::seq::OperandRole::" # v.role
                 # ", " # !if(v.isOptional, "true", "false")
                 # ", ::effc::seq::StateKind::" # v.kind # ", " # v.start
                 # ", " # !if(v.keepsF32, "true", "false") # "}"), ",\n        ")
        # [{};
      return signature;
    }
    ::llvm::SmallVector<std::pair<::llvm::StringRef, ::mlir::Value>> $cppClass::getNamedOperands() {
      return ::effc::seq::nameOperands(getSignature(), ::effc::seq::signatureOperands(*this));
    }
    ::effc::seq::OperandRole $cppClass::getOperandRole(unsigned index) {
      return ::effc::seq::roleOf(index, getSignature(), ::effc::seq::signatureOperands(*this));
    }
    ::llvm::SmallVector<::effc::seq::StateDescriptor> $cppClass::getStates() {
      return ::effc::seq::describeStates(*this, getSignature());
    }
    ::llvm::LogicalResult $cppClass::verify() {
      if (failed(::effc::seq::verifyShapes(*this, getSignature(),
                                           ::effc::seq::signatureOperands(*this))))
        return ::mlir::failure();
      return }] # !if(hasRules, "verifyRules()", "::mlir::success()") # [{;
    }
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_LINEARMIXER_TD
