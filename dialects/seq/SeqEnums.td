// The closed sets that the dialect's attributes and interfaces are made of.
#ifndef EFFC_DIALECTS_SEQ_SEQENUMS_TD
#define EFFC_DIALECTS_SEQ_SEQENUMS_TD

include "mlir/IR/EnumAttr.td"

class Seq_Enum<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::effc::seq";
}

// States.

def Seq_StateKind
    : Seq_Enum<"StateKind", "what a state holds", [
        I32EnumCase<"Matrix", 0, "matrix">,   // [H, K, V], the sum of key-value products
        I32EnumCase<"Tail", 1, "tail">,       // the last inputs of a convolution, oldest first
        I32EnumCase<"Shift", 2, "shift">,     // the last token of a token shift
        I32EnumCase<"Window", 3, "window">,   // the last keys or values, position p in row p mod W
        I32EnumCase<"Growing", 4, "growing">, // every key or value so far, position p in row p; the first ones where it is fixed
        I32EnumCase<"Sum", 5, "sum">,         // a running sum over tokens
        I32EnumCase<"Scalar", 6, "scalar">]>; // a count, a maximum, a position

def Seq_StateGrowth
    : Seq_Enum<"StateGrowth", "how a state's size follows the position", [
        I32EnumCase<"Fixed", 0, "fixed">,
        I32EnumCase<"Window", 1, "window">,
        I32EnumCase<"MaxContext", 2, "max_context">]>;

// Structure of a mixer.

def Seq_MixerClass
    : Seq_Enum<"MixerClass", "which derivation a mixer answers to", [
        I32EnumCase<"Linear", 0, "linear">,
        I32EnumCase<"Window", 1, "window">,
        I32EnumCase<"Retrieval", 2, "retrieval">,
        I32EnumCase<"Opaque", 3, "opaque">]>;

def Seq_DecayAxis
    : Seq_Enum<"DecayAxis", "what one decay of a linear state covers", [
        I32EnumCase<"None", 0, "none">,
        I32EnumCase<"HeadConstant", 1, "head_constant">,
        I32EnumCase<"Head", 2, "head">,
        I32EnumCase<"Key", 3, "key">,
        I32EnumCase<"Value", 4, "value">,
        I32EnumCase<"KeyAndValue", 5, "key_and_value">,
        I32EnumCase<"Element", 6, "element">]>;

def Seq_DecayField
    : Seq_Enum<"DecayField", "the numbers a decay is made of", [
        I32EnumCase<"Real", 0, "real">,
        I32EnumCase<"Complex", 1, "complex">]>;

def Seq_InputGate
    : Seq_Enum<"InputGate", "what is scaled before it is written", [
        I32EnumCase<"None", 0, "none">,
        I32EnumCase<"Key", 1, "key">,
        I32EnumCase<"Value", 2, "value">,
        I32EnumCase<"KeyAndValue", 3, "key_and_value">]>;

def Seq_LowRankPair
    : Seq_Enum<"LowRankPair", "which state a rank-one correction reads", [
        I32EnumCase<"None", 0, "none">,
        I32EnumCase<"DecayedState", 1, "decayed_state">,
        I32EnumCase<"UndecayedState", 2, "undecayed_state">]>;

def Seq_ReadOrder
    : Seq_Enum<"ReadOrder", "when the query reads the state", [
        I32EnumCase<"AfterWrite", 0, "after_write">,
        I32EnumCase<"BeforeWrite", 1, "before_write">]>;

def Seq_Normaliser
    : Seq_Enum<"Normaliser", "what the read-out is divided by", [
        I32EnumCase<"None", 0, "none">,
        I32EnumCase<"KeySum", 1, "key_sum">]>;

def Seq_Stabiliser
    : Seq_Enum<"Stabiliser", "what keeps unbounded gates finite", [
        I32EnumCase<"None", 0, "none">,
        I32EnumCase<"MaxPlus", 1, "max_plus">]>;

// Structure of a retrieval.

def Seq_RetrievalContent
    : Seq_Enum<"RetrievalContent", "what a retrieved row number stands for", [
        I32EnumCase<"Row", 0, "row">,         // a row that is summed
        I32EnumCase<"Neuron", 1, "neuron">,   // an expert of one hidden unit
        I32EnumCase<"Network", 2, "network">]>; // an expert of F gated hidden units

def Seq_RetrievalWeighting
    : Seq_Enum<"RetrievalWeighting", "how the scores of chosen rows become weights", [
        I32EnumCase<"Softmax", 0, "softmax">,        // over the rows that a head chose
        I32EnumCase<"SoftmaxAll", 1, "softmax_all">, // over all rows, chosen or not
        I32EnumCase<"Sigmoid", 2, "sigmoid">,
        I32EnumCase<"Relu", 3, "relu">,
        I32EnumCase<"Score", 4, "score">,            // the score itself
        I32EnumCase<"Share", 5, "share">]>;          // its share of the chosen ones' sum

def Seq_Nonlinearity
    : Seq_Enum<"Nonlinearity", "a function applied to each element", [
        I32EnumCase<"Identity", 0, "identity">,
        I32EnumCase<"Silu", 1, "silu">,
        I32EnumCase<"Gelu", 2, "gelu">,          // by the error function
        I32EnumCase<"GeluTanh", 3, "gelu_tanh">, // its approximation by tanh
        I32EnumCase<"Relu", 4, "relu">,
        I32EnumCase<"SquaredRelu", 5, "squared_relu">,
        I32EnumCase<"Sigmoid", 6, "sigmoid">]>;

def Seq_KeyLayout
    : Seq_Enum<"KeyLayout", "how queries and product keys are stored", [
        I32EnumCase<"HeadHalf", 0, "head_half">,   // query (h, half, c), keys [h, half, n, c]
        I32EnumCase<"HalfHead", 1, "half_head">]>; // query (half, h, c), keys [h, n, half, c]

def Seq_KeyScore
    : Seq_Enum<"KeyScore", "what a number per key does to its scores", [
        I32EnumCase<"None", 0, "none">,
        I32EnumCase<"Bias", 1, "bias">,            // added
        I32EnumCase<"Scale", 2, "scale">,          // multiplied
        I32EnumCase<"Threshold", 3, "threshold">]>; // hides the key where below 1

def Seq_BlockScore
    : Seq_Enum<"BlockScore", "what a block of keys is chosen by", [
        I32EnumCase<"Mean", 0, "mean">,    // the product of query and mean key
        I32EnumCase<"Share", 1, "share">]>; // its share of a softmax over blocks

def Seq_RotaryPairs
    : Seq_Enum<"RotaryPairs", "which channels turn together", [
        I32EnumCase<"Half", 0, "half">,
        I32EnumCase<"Interleaved", 1, "interleaved">]>;

def Seq_RotaryScaling
    : Seq_Enum<"RotaryScaling", "how frequencies are stretched for long contexts", [
        I32EnumCase<"Default", 0, "default">,
        I32EnumCase<"Linear", 1, "linear">,
        I32EnumCase<"Dynamic", 2, "dynamic">,
        I32EnumCase<"Llama3", 3, "llama3">,
        I32EnumCase<"Yarn", 4, "yarn">,
        I32EnumCase<"Longrope", 5, "longrope">,
        I32EnumCase<"DynamicSteps", 6, "dynamic_steps">,
        I32EnumCase<"LongropeSteps", 7, "longrope_steps">]>;

def Seq_DecayRule
    : Seq_Enum<"DecayRule", "how a head's constant decay follows from its number", [
        I32EnumCase<"Retention", 0, "retention">,
        I32EnumCase<"Alibi", 1, "alibi">,
        I32EnumCase<"Powers", 2, "powers">,
        I32EnumCase<"Lengths", 3, "lengths">,
        I32EnumCase<"Linear", 4, "linear">]>;

def Seq_DerivationRule
    : Seq_Enum<"DerivationRule", "how a weight follows from a tensor's numbers", [
        I32EnumCase<"NegatedExponential", 0, "negated_exponential">,
        I32EnumCase<"LowerBound", 1, "lower_bound">,
        I32EnumCase<"Repeated", 2, "repeated">]>;

def Seq_FenwickNumber
    : Seq_Enum<"FenwickNumber", "what a position says of a level", [
        I32EnumCase<"Written", 0, "written">,
        I32EnumCase<"Read", 1, "read">,
        I32EnumCase<"Forgotten", 2, "forgotten">]>;

def Seq_ReduceKind
    : Seq_Enum<"ReduceKind", "how elements along an axis are combined", [
        I32EnumCase<"Sum", 0, "sum">,
        I32EnumCase<"Max", 1, "max">]>;

// Norms.

def Seq_NormMeasure
    : Seq_Enum<"NormMeasure", "what a norm divides by", [
        I32EnumCase<"MeanSquare", 0, "mean_square">, // sqrt(mean of squares + eps)
        I32EnumCase<"SumSquare", 1, "sum_square">,   // sqrt(sum of squares + eps)
        I32EnumCase<"MaxLength", 2, "max_length">]>; // max(sqrt(sum of squares), eps)

// Choices.

def Seq_FormKind
    : Seq_Enum<"FormKind", "how a mixer is computed over its tokens", [
        I32EnumCase<"Step", 0, "step">,
        I32EnumCase<"Quadratic", 1, "quadratic">,
        I32EnumCase<"Chunkwise", 2, "chunkwise">,
        I32EnumCase<"Scan", 3, "scan">]>;

def Seq_EntryKind
    : Seq_Enum<"EntryKind", "which calls an entry point serves", [
        I32EnumCase<"Prefill", 0, "prefill">,
        I32EnumCase<"Decode", 1, "decode">]>;

def Seq_Activation
    : Seq_Enum<"Activation", "the function applied to a convolution's output", [
        I32EnumCase<"None", 0, "none">,
        I32EnumCase<"Silu", 1, "silu">]>;

#endif // EFFC_DIALECTS_SEQ_SEQENUMS_TD
