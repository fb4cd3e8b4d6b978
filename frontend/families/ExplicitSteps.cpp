#include "frontend/families/ExplicitSteps.h"

using namespace effc;
using namespace effc::frontend;
using mlir::Value;

/// Of an operand that has to be there; a state is a matrix that starts at 0.
static constexpr seq::OperandSignature operand(llvm::StringLiteral name,
                                               llvm::StringLiteral letters,
                                               seq::OperandRole role) {
  constexpr bool kIsOptional = false;
  return {name, letters, role, kIsOptional, seq::StateKind::Matrix, 0.0};
}

/// In the order of the signature's tokens, parameters and states, and of its numbers.
namespace momentum {
enum Token { kQ, kK, kV, kBeta, kA, kM, kE };
enum Parameter { kALog, kDtBias, kMLog, kMBias, kFactorLog, kDLog };
enum State { kState, kMomentum };
enum Number { kScale, kEps, kTau, kMostLoss };
} // namespace momentum

static constexpr seq::OperandSignature kMomentumOperands[] = {
    operand("q", "THK", seq::OperandRole::Token),
    operand("k", "THK", seq::OperandRole::Token),
    operand("v", "THV", seq::OperandRole::Token),
    operand("beta", "TH", seq::OperandRole::Token),
    operand("a", "TH", seq::OperandRole::Token),
    operand("m", "TH", seq::OperandRole::Token),
    operand("e", "TH", seq::OperandRole::Token),
    operand("a_log", "H", seq::OperandRole::Parameter),
    operand("dt_bias", "H", seq::OperandRole::Parameter),
    operand("m_log", "H", seq::OperandRole::Parameter),
    operand("m_bias", "H", seq::OperandRole::Parameter),
    operand("factor_log", "H", seq::OperandRole::Parameter),
    operand("d_log", "H", seq::OperandRole::Parameter),
    operand("state", "HKV", seq::OperandRole::State),
    operand("momentum", "HKV", seq::OperandRole::State)};

llvm::ArrayRef<seq::OperandSignature> effc::frontend::getMomentumSignature() {
  return kMomentumOperands;
}

// Huang et al., arXiv:2605.05838, as the layer of flash-linear-attention 0.6
// computes it, whose second state is -M. Of each head, with k and q - e^d_log k
// made of length 1, and `softplus` of a sum with its bias:
//
//   eta  = 1 + tanh(e / tau)                f = eta e^factor_log
//   keep = exp(-e^a_log softplus(a)) / (1 + f^2)
//   mu   = exp(-min(e^m_log softplus(m), most_loss))
//   M    = mu M + eta k (x) (v - k @ (keep S))
//   S    = keep S + beta f^2 / (1 + f^2) M
//   y    = scale q @ S
Value effc::frontend::writeMomentumStep(WrittenStep &step,
                                        llvm::ArrayRef<double> numbers) {
  using namespace momentum;
  double scale = numbers[kScale], epsilon = numbers[kEps], tau = numbers[kTau],
         mostLoss = numbers[kMostLoss];
  Value v = step.token(kV), beta = step.token(kBeta);
  auto number = [&](double x) { return step.constant(x, beta); };
  auto add = [&](Value x, Value y) { return step.make<seq::AddOp>(x, y); };
  auto mul = [&](Value x, Value y) { return step.make<seq::MulOp>(x, y); };
  auto div = [&](Value x, Value y) { return step.make<seq::DivOp>(x, y); };
  auto times = [&](Value x, Value matrix) {
    return step.contract(x, "h", matrix, "hkv", "hkv");
  };
  auto unit = [&](Value x) {
    Value square = step.contract(x, "hk", x, "hk", "h");
    Value length = step.make<seq::SqrtOp>(add(square, number(epsilon)));
    return step.contract(div(number(1), length), "h", x, "hk", "hk");
  };
  Value corrected = step.contract(step.make<seq::ExpOp>(step.parameter(kDLog)),
                                  "h", step.token(kK), "hk", "hk");
  Value q = unit(step.make<seq::SubOp>(step.token(kQ), corrected));
  Value k = unit(step.token(kK));

  Value eta = add(number(1),
                  step.make<seq::TanhOp>(mul(step.token(kE), number(1 / tau))));
  Value factor = mul(eta, step.make<seq::ExpOp>(step.parameter(kFactorLog)));
  Value square = mul(factor, factor), whole = add(number(1), square);
  Value decay = step.decay(step.token(kA), step.parameter(kALog),
                           step.parameter(kDtBias));
  Value keep = div(decay, whole);
  Value rate = mul(beta, div(square, whole));
  Value loss = mul(
      step.make<seq::ExpOp>(step.parameter(kMLog)),
      step.make<seq::SoftplusOp>(add(step.token(kM), step.parameter(kMBias))));
  Value mu = step.make<seq::ExpOp>(
      step.make<seq::MaxOp>(step.make<seq::NegOp>(loss), number(-mostLoss)));

  Value kept = times(keep, step.state(kState));
  Value error =
      step.make<seq::SubOp>(v, step.contract(k, "hk", kept, "hkv", "hv"));
  Value pushed = step.contract(step.contract(eta, "h", k, "hk", "hk"), "hk",
                               error, "hv", "hkv");
  Value momentum = add(times(mu, step.state(kMomentum)), pushed);
  Value next = add(kept, times(rate, momentum));
  Value read = step.contract(q, "hk", next, "hkv", "hv");
  return step.finish(step.contract(number(scale), "h", read, "hv", "hv"),
                     {next, momentum});
}
