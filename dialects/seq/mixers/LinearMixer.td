// What the definitions of mixers of class `linear` share.
#ifndef EFFC_DIALECTS_SEQ_MIXERS_LINEARMIXER_TD
#define EFFC_DIALECTS_SEQ_MIXERS_LINEARMIXER_TD

include "dialects/seq/SeqAttributes.td"

// A mixer of class `linear` whose operands are `tokens` token operands, then
// `parameters` parameters, then its states; its results are the mixed tokens,
// then the next states. One with `hasReadOut` makes more of what the query reads.
class Seq_LinearMixerOp<string mnemonic, int tokens, int parameters,
                        bit hasReadOut = 0, list<Trait> traits = []>
    : Seq_ValueOp<mnemonic, [
        DeclareOpInterfaceMethods<Seq_StatefulOpInterface>,
        DeclareOpInterfaceMethods<Seq_MixerOpInterface,
            ["getStructure", "buildTokenMap"]
            # !if(hasReadOut, ["buildReadOut"], []<string>)>] # traits> {
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::effc::seq::OperandRole $cppClass::getOperandRole(unsigned index) {
      return ::effc::seq::detail::roleOf(index, }] # tokens # ", " # parameters # [{);
    }
  }];
}

#endif // EFFC_DIALECTS_SEQ_MIXERS_LINEARMIXER_TD
