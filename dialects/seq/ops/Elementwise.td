// Ops from elements to elements: all operands and the result have one shape.
#ifndef EFFC_DIALECTS_SEQ_OPS_ELEMENTWISE_TD
#define EFFC_DIALECTS_SEQ_OPS_ELEMENTWISE_TD

include "dialects/seq/SeqAttributes.td"

// Ops of both classes have one builder: their result has the type of their operands.
class Seq_UnaryOp<string mnemonic, list<Trait> traits = []>
    : Seq_ValueOp<mnemonic, [AllTypesMatch<["x", "y"]>, Seq_Elementwise]
                            # traits> {
  let arguments = (ins Seq_Tensor:$x);
  let results = (outs Seq_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$x), [{
    $_state.addOperands(x);
    $_state.addTypes(x.getType());
  }]>];
}

class Seq_BinaryOp<string mnemonic, list<Trait> traits = []>
    : Seq_ValueOp<mnemonic, [AllTypesMatch<["a", "b", "y"]>, Seq_Elementwise]
                            # traits> {
  let arguments = (ins Seq_Tensor:$a, Seq_Tensor:$b);
  let results = (outs Seq_Tensor:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($y)";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b), [{
    $_state.addOperands({a, b});
    $_state.addTypes(a.getType());
  }]>];
}

def Seq_AddOp : Seq_BinaryOp<"add", [Commutative]> {  /*add1*/
  let summary = "Add element by element";
  let description = [{
    ```
    y = a + b
    ```

    Constraints:

    * (ADD1) `a`, `b` and `y` have one type: there is no implicit broadcast.

    Example:

    ```mlir
    %y = seq.add %a, %b : tensor<?x6xf32>
    ```
  }];
}

def Seq_SubOp : Seq_BinaryOp<"sub"> {  /*sub1*/
  let summary = "Subtract element by element";
  let description = [{
    ```
    y = a - b
    ```

    Not to be used on running sums of decays: see `seq.segment_sum`.

    Constraints:

    * (SUB1) `a`, `b` and `y` have one type: there is no implicit broadcast.

    Example:

    ```mlir
    %y = seq.sub %a, %b : tensor<?x6xf32>
    ```
  }];
}

def Seq_MulOp : Seq_BinaryOp<"mul", [Commutative, Seq_WellConditioned]> {  /*mul1*/
  let summary = "Multiply element by element";
  let description = [{
    ```
    y = a * b
    ```

    Constraints:

    * (MUL1) `a`, `b` and `y` have one type: there is no implicit broadcast.

    Example:

    ```mlir
    %y = seq.mul %a, %b : tensor<?x6xf32>
    ```
  }];
}

def Seq_DivOp : Seq_BinaryOp<"div"> {  /*div1*/
  let summary = "Divide element by element";
  let description = [{
    ```
    y = a / b
    ```

    A divisor of 0 gives an infinity or NaN, as in IEEE arithmetic.

    Constraints:

    * (DIV1) `a`, `b` and `y` have one type: there is no implicit broadcast.

    Example:

    ```mlir
    %y = seq.div %a, %b : tensor<?x6xf32>
    ```
  }];
}

def Seq_MaxOp : Seq_BinaryOp<"max", [Commutative, Seq_WellConditioned]> {  /*max1*/
  let summary = "Take the larger of each two elements";
  let description = [{
    ```
    y = max(a, b)
    ```

    NaN where one of them is NaN.

    Constraints:

    * (MAX1) `a`, `b` and `y` have one type: there is no implicit broadcast.

    Example:

    ```mlir
    %y = seq.max %a, %b : tensor<?x6xf32>
    ```
  }];
}

def Seq_NegOp : Seq_UnaryOp<"neg", [Seq_WellConditioned]> {  /*neg1*/
  let summary = "Negate each element";
  let description = [{
    ```
    y = -x
    ```

    Constraints:

    * (NEG1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.neg %x : tensor<?x6xf32>
    ```
  }];
}

def Seq_ExpOp : Seq_UnaryOp<"exp"> {  /*exp1*/
  let summary = "Raise e to each element";
  let description = [{
    ```
    y = e^x
    ```

    `e^-inf` is 0: so a masked entry of `seq.segment_sum` gets weight 0.

    Constraints:

    * (EXP1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.exp %x : tensor<?x6xf32>
    ```
  }];
}

def Seq_SigmoidOp : Seq_UnaryOp<"sigmoid", [Seq_WellConditioned]> {  /*sigmoid1*/
  let summary = "Apply the logistic function to each element";
  let description = [{
    ```
    y = 1 / (1 + e^-x)
    ```

    Constraints:

    * (SIGMOID1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.sigmoid %x : tensor<?x6xf32>
    ```
  }];
}

def Seq_SiluOp : Seq_UnaryOp<"silu", [Seq_WellConditioned]> {  /*silu1*/
  let summary = "Apply silu, also called swish, to each element";
  let description = [{
    ```
    y = x / (1 + e^-x)
    ```

    Constraints:

    * (SILU1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.silu %x : tensor<?x6xf32>
    ```
  }];
}

def Seq_GeluOp : Seq_UnaryOp<"gelu", [Seq_WellConditioned]> {  /*gelu1*/
  let summary = "Apply gelu, by the error function, to each element";
  let description = [{
    ```
    y = x * P(Z <= x) = x / 2 * (1 + erf(x / sqrt(2))),   Z standard normal
    ```

    Constraints:

    * (GELU1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.gelu %x : tensor<?x6xf32>
    ```

    Source: Hendrycks and Gimpel, arXiv:1606.08415.
  }];
}

def Seq_GeluTanhOp : Seq_UnaryOp<"gelu_tanh", [Seq_WellConditioned]> {  /*gelu_tanh1*/
  let summary = "Apply gelu, approximated by tanh, to each element";
  let description = [{
    ```
    y = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
    ```

    Public configurations name it `gelu_new`, `gelu_pytorch_tanh` or
    `gelu_tanh`; it differs from `seq.gelu` by up to 5e-4.

    Constraints:

    * (GELU_TANH1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.gelu_tanh %x : tensor<?x6xf32>
    ```

    Source: Hendrycks and Gimpel, arXiv:1606.08415.
  }];
}

def Seq_SoftplusOp : Seq_UnaryOp<"softplus"> {  /*softplus1*/
  let summary = "Apply softplus to each element";
  let description = [{
    ```
    y = log(1 + e^x) = max(x, 0) + log1p(e^-|x|)
    ```

    The second form does not overflow; the reference uses it everywhere.

    Constraints:

    * (SOFTPLUS1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.softplus %x : tensor<?x6xf32>
    ```
  }];
}

def Seq_LogSigmoidOp : Seq_UnaryOp<"log_sigmoid"> {  /*log_sigmoid1*/
  let summary = "Take the log of the logistic function of each element";
  let description = [{
    ```
    y = log(1 / (1 + e^-x)) = min(x, 0) - log1p(e^-|x|)
    ```

    At most 0: the log-decay of a gate. The second form loses nothing where the
    logistic function rounds to 0 or 1.

    Constraints:

    * (LOG_SIGMOID1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.log_sigmoid %x : tensor<?x6xf32>
    ```
  }];
}

def Seq_TanhOp : Seq_UnaryOp<"tanh", [Seq_WellConditioned]> {  /*tanh1*/
  let summary = "Apply the hyperbolic tangent to each element";
  let description = [{
    ```
    y = (e^x - e^-x) / (e^x + e^-x)
    ```

    Constraints:

    * (TANH1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.tanh %x : tensor<?x6xf32>
    ```
  }];
}

def Seq_ReluOp : Seq_UnaryOp<"relu", [Seq_WellConditioned]> {  /*relu1*/
  let summary = "Replace negative elements by 0";
  let description = [{
    ```
    y = max(x, 0)
    ```

    NaN stays NaN.

    Constraints:

    * (RELU1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.relu %x : tensor<?x6xf32>
    ```
  }];
}

def Seq_LogOp : Seq_UnaryOp<"log"> {  /*log1*/
  let summary = "Take the natural logarithm of each element";
  let description = [{
    ```
    y = ln x
    ```

    -inf for 0, NaN below.

    Constraints:

    * (LOG1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.log %x : tensor<?x6xf32>
    ```
  }];
}

def Seq_SqrtOp : Seq_UnaryOp<"sqrt"> {  /*sqrt1*/
  let summary = "Take the square root of each element";
  let description = [{
    ```
    y = x^(1/2)
    ```

    NaN below 0.

    Constraints:

    * (SQRT1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.sqrt %x : tensor<?x6xf32>
    ```
  }];
}

def Seq_CosOp : Seq_UnaryOp<"cos"> {  /*cos1*/
  let summary = "Take the cosine of each element";
  let description = [{
    ```
    y = cos x
    ```

    of radians. Host kernels answer NaN past 8192, where f32 tells no angles apart.

    Constraints:

    * (COS1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.cos %x : tensor<?x6xf32>
    ```
  }];
}

def Seq_SinOp : Seq_UnaryOp<"sin"> {  /*sin1*/
  let summary = "Take the sine of each element";
  let description = [{
    ```
    y = sin x
    ```

    of radians, as `seq.cos`.

    Constraints:

    * (SIN1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.sin %x : tensor<?x6xf32>
    ```
  }];
}

def Seq_AbsOp : Seq_UnaryOp<"abs", [Seq_WellConditioned]> {  /*abs1*/
  let summary = "Take the magnitude of each element";
  let description = [{
    ```
    y = |x|
    ```

    Constraints:

    * (ABS1) `x` and `y` have one type.

    Example:

    ```mlir
    %y = seq.abs %x : tensor<?x6xf32>
    ```
  }];
}

def Seq_ScaleOp : Seq_ValueOp<"scale", [AllTypesMatch<["x", "y"]>, Seq_Elementwise, Seq_WellConditioned]> {
  let summary = "Multiply each element by a constant";
  let description = [{
    ```
    y = factor * x
    ```

    Constraints:

    * (SCALE1) `x` and `y` have one type.
    * (SCALE2) `factor` is finite.

    Example:

    ```mlir
    %y = seq.scale %x by 0.125 : tensor<?x6xf32>
    ```
  }];
  let arguments = (ins Seq_Tensor:$x, F64Attr:$factor);  /*scale2*/
  let results = (outs Seq_Tensor:$y);                    /*scale1*/
  let assemblyFormat = "$x `by` $factor attr-dict `:` type($x)";
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "double":$factor), [{
    build($_builder, $_state, x.getType(), x,
          $_builder.getF64FloatAttr(factor));
  }]>];
  let hasVerifier = 1;
}

def Seq_ClampOp : Seq_ValueOp<"clamp", [AllTypesMatch<["x", "y"]>, Seq_Elementwise, Seq_WellConditioned]> {
  let summary = "Bound each element from below, from above or both";
  let description = [{
    ```
    y = min(max(x, lower), upper)
    ```

    An absent bound does not bind. NaN stays NaN.

    Constraints:

    * (CLAMP1) `x` and `y` have one type.
    * (CLAMP2) At least one of `lower` and `upper` is present, neither is NaN.
    * (CLAMP3) Where both are present, `lower` is at most `upper`.

    Example:

    ```mlir
    %y = seq.clamp %x {lower = 1.0e-3 : f64, upper = 0.1 : f64} : tensor<?x6xf32>
    ```
  }];
  let arguments = (ins
    Seq_Tensor:$x,
    OptionalAttr<F64Attr>:$lower,           /*clamp2, clamp3*/
    OptionalAttr<F64Attr>:$upper);          /*clamp2, clamp3*/
  let results = (outs Seq_Tensor:$y);       /*clamp1*/
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

#endif // EFFC_DIALECTS_SEQ_OPS_ELEMENTWISE_TD
