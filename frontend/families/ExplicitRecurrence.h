// A recurrence of the explicit layout, as a configuration describes it.
#ifndef EFFC_FRONTEND_FAMILIES_EXPLICITRECURRENCE_H
#define EFFC_FRONTEND_FAMILIES_EXPLICITRECURRENCE_H

#include "frontend/families/ExplicitPart.h"
#include "frontend/families/ExplicitSteps.h"

#include <map>

namespace effc::frontend {

/// A recurrence of the dialect. Its operands are those of the op's signature, or
/// of a step that is written out.
struct Recurrence {
  llvm::StringLiteral name, op;
  llvm::ArrayRef<seq::OperandSignature> (*getSignature)();
  /// Numbers: "name=1" or "name?"; `scale` is K^-1/2 where it is not said. '+'
  /// before a name: not 0.
  llvm::StringRef numbers = "";
  /// The operands that learn of positions: "q" itself, or "turned_q=q", another
  /// use of q.
  llvm::StringRef positioned = "";
  /// The parameter that a rule may give.
  llvm::StringRef ruled = "";
  /// Where no op is it.
  WriteStep write = nullptr;
};

/// An operand, as a configuration speaks of it.
struct Symbol {
  llvm::StringRef name, letters; ///< the letters behind T
  bool isOptional = false;
  bool learnsPositions = false;
  /// Another use of the operand of this name.
  bool isSecondUse = false;
  bool isPositions = false;
  bool mayFollowRule = false;

  /// A configuration says where it comes from.
  bool isRead() const { return !isSecondUse && !isPositions; }
};

/// Where an operand comes from: the token, or the wider token of 'inner',
/// before or after its convolution; or a tensor, the same for every token.
enum class From { Token, Inner, Convolved, Tensor };

/// A product with one matrix, or with two.
struct Projection {
  From from = From::Token;
  int64_t rank = 0;
  bool bias = false;
  FeatureChoice feature;
};

struct RecurrentOperand {
  explicit RecurrentOperand(Symbol symbol) : symbol(symbol) {}

  Symbol symbol;
  bool present = true;
  Projection projection;
  bool projects = true;
  /// A matrix for each head's channels.
  bool blocks = false;
  int64_t taps = 0;
  bool tapsBias = false;
  /// A number in place of everything.
  std::optional<double> value;
  /// Of length 1 in each head.
  std::optional<NormConfig> unit;
  seq::NormMeasure measure = seq::NormMeasure::SumSquare;
  /// What it is multiplied with.
  std::optional<Projection> gate;
};

struct RecurrentParameter {
  Symbol symbol;
  std::optional<double> value;
  std::optional<seq::DecayRule> rule;
};

struct InnerToken {
  int64_t width = 0;
  bool bias = false;
  int64_t taps = 0;
  bool tapsBias = false;
  FeatureChoice feature;
};

struct RecurrentOutput {
  std::optional<Projection> gate;
  bool gateFirst = false;
  NormChoice norm{/*present=*/false, /*hasWeight=*/true, {}};
  int64_t groups = 1;
  FeatureChoice feature;
  bool projects = true, bias = false;
  /// The product's first half times the sigmoid of its second.
  bool glu = false;
  /// What is added to the recurrence, times a weight per channel.
  std::optional<From> feed;
};

/// A recurrence of a configuration.
struct RecurrentMixer {
  const Recurrence *kind = nullptr;
  std::map<char, int64_t> dims;
  std::vector<RecurrentOperand> operands;
  std::vector<RecurrentParameter> parameters;
  std::vector<std::pair<std::string, double>> numbers;
  InnerToken inner;
  PositionChoice positions;
  RecurrentOutput output;

  llvm::SmallVector<int64_t> shapeOf(llvm::StringRef letters) const {
    llvm::SmallVector<int64_t> shape;
    for (char letter : letters)
      shape.push_back(letter == '1' ? 1 : dims.at(letter));
    return shape;
  }
};

/// The operands of one role.
llvm::SmallVector<Symbol> symbolsOf(const Recurrence &kind,
                                    seq::OperandRole role);

/// How many numbers there are of a shape.
int64_t countOf(llvm::ArrayRef<int64_t> shape);

/// Everything from a normalised token to what the residual takes; `at` is the
/// part's.
mlir::Value emitRecurrence(ModelBuilder &model, const RecurrentMixer &mixer,
                           const std::string &at, mlir::Value x);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_FAMILIES_EXPLICITRECURRENCE_H
