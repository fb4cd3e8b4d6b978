// How operands of mixers of class `linear` are drawn.
#ifndef EFFC_TEST_UNIT_CONTRACT_LINEARDRAWS_H
#define EFFC_TEST_UNIT_CONTRACT_LINEARDRAWS_H

#include "dialects/seq/SeqInterfaces.h"
#include "test/unit/contract/LinearCase.h"

namespace effc::test {

/// From -1 to 1, and from 0.1 to 1.
double normal(Random &random, Gates gates);
double positive(Random &random, Gates gates);
Draw between(double low, double high);

/// A log-decay.
double logDecay(Random &random, Gates gates);

/// The gate whose log sigmoid, over `temperature`, is a log-decay.
Draw sigmoidGate(double temperature);

/// Time steps before softplus, with no or a small bias.
double timeStep(Random &random, Gates gates);

/// Time steps that also scale what is written, before softplus. With rates of
/// decay drawn alike, log-decays from 0 to -2e5 meet in a chunk.
double writingStep(Random &random, Gates gates);

/// The logarithm of a rate of decay.
double logRate(Random &random, Gates gates);

/// Forget gates of a lower bound: from wide open to shut.
double forgetGate(Random &random, Gates gates);
double lowerBound(Random &random, Gates gates);

/// The number before a hyperbolic tangent whose square is a decay: 0 now and
/// then, and so small that its square is 0.
double beforeTanh(Random &random, Gates gates);

LinearOperand operand(std::string name, std::string letters,
                      Draw draw = normal);
/// Vectors of length 1.
LinearOperand unit(std::string name, std::string letters);
/// A sequence now and then begins among the tokens.
LinearOperand positions();

/// How an operand of a signature is drawn.
struct OperandDraw {
  std::string name;
  Draw draw = normal;
  bool unitLength = false;
};

/// The case of an op with a signature. Operands that are not named are drawn by
/// `normal`, or absent where they may be. `more` is what the signature does not
/// say.
LinearCase signedCase(std::string op,
                      llvm::ArrayRef<seq::OperandSignature> signature,
                      const std::vector<OperandDraw> &draws, LinearCase more);

template <typename Op>
LinearCase caseOf(const std::vector<OperandDraw> &draws = {},
                  LinearCase more = {}) {
  return signedCase(Op::getOperationName().split('.').second.str(),
                    Op::getSignature(), draws, std::move(more));
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_LINEARDRAWS_H
