// The scores of product keys.
#ifndef EFFC_DIALECTS_SEQ_OPS_KEYSCORES_TD
#define EFFC_DIALECTS_SEQ_OPS_KEYSCORES_TD

include "dialects/seq/SeqAttributes.td"

def Seq_KeyScoresOp : Seq_ValueOp<"key_scores", [Seq_Dense]> {
  let summary = "Score the product keys of each head by the halves of its query";
  let description = [{
    A head has a query of two halves of `K` channels, and `S` keys for each half:

    ```
    scores[t, half, h, n] = sum_c query_half[t, h, c] * key_half[h, n, c]
    ```

    Two layouts are in use; `key_layout` says which, of query and keys alike:

    | layout      | query, `T,Q` with `Q = 2 H K` | keys                                  |
    |-------------|-------------------------------|---------------------------------------|
    | `head_half` | (h, half, c)                  | `2 H S,K`: one key a row, (h, half, n) |
    | `half_head` | (half, h, c)                  | `H S,2 K`: both halves in row (h, n)   |

    Both are how public code stores them: `[H, 2, S, K]` and `[H, S, 2, K]`, with
    leading and trailing dimensions merged.

    | value    | shape     | element      | meaning                       |
    |----------|-----------|--------------|-------------------------------|
    | `query`  | `T,Q`     | f32          | queries of all heads          |
    | `keys`   | see above | f32/bf16/f16 | keys                          |
    | `scores` | `T,2,H,S` | f32          | scores, half before head      |

    Constraints:

    * (KEY_SCORES1) `scores` is `T,2,H,S`.
    * (KEY_SCORES2) `query` is `T,Q`, and `2 H` divides `Q`.
    * (KEY_SCORES3) `keys` is `2 H S,K` or `H S,2 K`, as its layout says, with
      `K = Q / (2 H)`.

    Example:

    ```mlir
    %scores = seq.key_scores %q, %keys {layout = #seq.key_layout<half_head>}
        : (tensor<?x30xf32>, tensor<21x10xbf16>) -> tensor<?x2x3x7xf32>
    ```

    Source: Lample et al., arXiv:1907.05242 (`head_half`); He, arXiv:2407.04153,
    and Shi et al., Wonderful Matrices (`half_head`).
  }];
  let arguments = (ins
    Seq_Tensor:$query,                      /*key_scores2*/
    Seq_Matrix:$keys,                       /*key_scores3*/
    Seq_KeyLayoutAttr:$layout);
  let results = (outs Seq_Tensor:$scores);  /*key_scores1*/
  let assemblyFormat = [{
    $query `,` $keys attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Where a half of a head begins: its first channel in a query, and in
    /// `keys` the row of its first key and that key's first channel.
    struct Part {
      int64_t queryChannel, keyRow, keyChannel;
    };
    Part getPart(int64_t half, int64_t head);
    int64_t getHeads() { return getScores().getType().getDimSize(2); }
    int64_t getKeysPerHalf() { return getScores().getType().getDimSize(3); }
    /// Channels of half a query.
    int64_t getChannels() {
      return getQuery().getType().getDimSize(1) / (2 * getHeads());
    }
  }];
}

#endif // EFFC_DIALECTS_SEQ_OPS_KEYSCORES_TD
