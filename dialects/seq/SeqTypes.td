// The dialect's types.
#ifndef EFFC_DIALECTS_SEQ_SEQTYPES_TD
#define EFFC_DIALECTS_SEQ_SEQTYPES_TD

include "dialects/seq/SeqBase.td"
include "dialects/seq/SeqEnums.td"
include "mlir/IR/AttrTypeBase.td"

def Seq_SemiseparableType : TypeDef<Seq_Dialect, "Semiseparable"> {
  let mnemonic = "semiseparable";
  let summary = "A causal T x T matrix for each head, without storage";
  let description = [{
    Row `i` has, at the columns `j <= i`,

    ```
    M[h,i,j] = exp(sum over s of g[h,s], j < s <= i) * (c[h,i] . b[h,j])
    ```

    with log-decays `g` and vectors `c` and `b` of `rank` elements, and 0 to the
    right of the diagonal. With a `band` of `W` only the last `W` columns up to the
    diagonal count, `i - j < W`, and those before are 0 as well. Such a value is built from tensors, multiplied, and
    applied; its elements are never computed.

    `decay` is `none` (no `g`), `head_constant` (the same for every token: a
    Toeplitz matrix where `c` and `b` are) or `head`.

    Constraints:

    * (SEMISEPARABLE1) `heads` and `rank` are at least 1.
    * (SEMISEPARABLE2) `decay` is `none`, `head_constant` or `head`.
    * (SEMISEPARABLE3) `band` is at least 1, or 0 where there is none, which is not
      written.

    Example: `!seq.semiseparable<heads = 6, rank = 3, decay = head>`,
    `!seq.semiseparable<heads = 6, rank = 3, decay = head, band = 4>`
  }];
  let parameters = (ins "int64_t":$heads,   /*semiseparable1*/
      "int64_t":$rank,                      /*semiseparable1*/
      EnumParameter<Seq_DecayAxis>:$decay,  /*semiseparable2*/
      DefaultValuedParameter<"int64_t", "0">:$band); /*semiseparable3*/
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // EFFC_DIALECTS_SEQ_SEQTYPES_TD
