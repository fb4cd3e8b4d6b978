#include "dialects/seq/StepBody.h"

#include "dialects/seq/AlikeValues.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/StepFactors.h"
#include "dialects/seq/StepStates.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace effc::seq {

// Distributing a factor over a sum repeats it for each term; a sum of sums may
// stand for more terms than there are ops.
static constexpr size_t kMostProducts = 1024, kMostTerms = 64;

namespace {
using Factor = StepFactor;

/// A product of the state before with factors, added or subtracted.
struct StateTerm {
  SmallVector<Factor> factors;
  bool isNegative;
};

class Speller {
public:
  Speller(RecurrenceOp op, Block &block,
          llvm::DenseMap<Operation *, Operation *> &originals);

  void run();

private:
  /// Whether the op's result reaches a next state and follows from a state, or
  /// has the dimensions of a matrix of states.
  bool concerns(Operation *original) const;
  /// The op in the one spelling; null where no rule concerns it.
  Value spelled(Operation *original);
  Value spelledMul(MulOp op);
  Value spelledDiv(DivOp op);
  Value spelledBroadcast(BroadcastOp op);
  Value spelledContract(ContractOp op);
  Value product(Factor a, Factor b, int64_t rank);
  /// A factor times a sum with a state in it; null where `sum` is none.
  Value distributed(const Factor &factor, const Factor &sum, bool factorFirst,
                    int64_t rank);
  /// A factor times an outer product; null where `outer` is none.
  Value moved(const Factor &factor, Value outer);
  /// A next state in which the state before occurs in several terms: as one
  /// product of it with the sum of their factors.
  void gather(unsigned index);
  /// The factors of a term that is a product of `state`; nothing where it is
  /// none.
  std::optional<SmallVector<Factor>> factorsDownTo(Value term, Value state);
  /// Factors as one, of these dimensions; ones without any.
  Value joined(ArrayRef<Factor> factors, ArrayRef<int64_t> dimensions,
               Value like);
  /// What a value is a repetition of.
  Factor factorOf(Value value);

  template <typename OpTy, typename... Args> Value make(Args &&...args) {
    auto made =
        OpTy::create(b, original->getLoc(), std::forward<Args>(args)...);
    originals[made] = original;
    if (llvm::any_of(made->getOperands(), [&](Value operand) {
          return dependent.contains(operand);
        }))
      dependent.insert(made->getResult(0));
    return made->getResult(0);
  }

  RecurrenceOp op;
  Block &block;
  llvm::DenseMap<Operation *, Operation *> &originals;
  StepStates states;
  OpBuilder b;
  IRMapping copies;
  Operation *original = nullptr;        // whose spelling is made
  llvm::DenseSet<Operation *> reaching; // a next state
  llvm::DenseSet<Value> dependent;      // copies that follow from a state
  size_t products = 0;
};
} // namespace

static SmallVector<int64_t, 3> allOf(Value value) {
  return Factor::whole(value).dimensions;
}

// Letters for the dimensions of a product, by which `seq.contract` is built.
static std::string lettersOf(const Factor &factor) {
  std::string text;
  for (int64_t dimension : factor.dimensions)
    text += char('a' + dimension);
  return text;
}

static bool isPartOf(const Factor &factor, const Factor &other) {
  return llvm::all_of(factor.dimensions,
                      [&](int64_t each) { return other.has(each); });
}

// Of a product without a sum; null where an operand has what the result lacks.
static std::optional<std::pair<Factor, Factor>> factorsOf(Value value) {
  if (!value.getDefiningOp<ContractOp>())
    return std::nullopt;
  SmallVector<Factor> factors = splitFactor(Factor::whole(value));
  if (factors.empty())
    return std::nullopt;
  return std::pair(factors[0], factors[1]);
}

Speller::Speller(RecurrenceOp op, Block &block,
                 llvm::DenseMap<Operation *, Operation *> &originals)
    : op(op), block(block), originals(originals), states(op),
      b(op.getContext()) {
  b.setInsertionPointToEnd(&block);
}

bool Speller::concerns(Operation *original) const {
  Value result = original->getResult(0);
  return reaching.contains(original) &&
         (states.dependsOnAny(result) || typeOf(result).getRank() == 3);
}

void Speller::run() {
  Block &body = op.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    Value copied = block.addArgument(argument.getType(), argument.getLoc());
    copies.map(argument, copied);
    if (states.dependsOnAny(argument))
      dependent.insert(copied);
  }
  for (Value next : body.getTerminator()->getOperands().drop_front())
    if (Operation *maker = next.getDefiningOp())
      reaching.insert(maker);
  for (Operation &inside : llvm::reverse(body.without_terminator()))
    if (reaching.contains(&inside))
      for (Value operand : inside.getOperands())
        if (Operation *maker = operand.getDefiningOp())
          reaching.insert(maker);
  for (Operation &inside : body) {
    original = &inside;
    Value rewritten;
    if (!inside.hasTrait<mlir::OpTrait::IsTerminator>() && concerns(&inside))
      rewritten = spelled(&inside);
    if (rewritten) {
      copies.map(inside.getResult(0), rewritten);
      continue;
    }
    Operation *copied = b.clone(inside, copies);
    originals[copied] = &inside;
    for (Value result : inside.getResults())
      if (states.dependsOnAny(result))
        dependent.insert(copies.lookup(result));
  }
  for (unsigned index = 0; index < states.size(); ++index)
    gather(index);
  // What a rule has taken apart is used no more.
  for (Operation &copied : llvm::make_early_inc_range(llvm::reverse(block)))
    if (!copied.hasTrait<mlir::OpTrait::IsTerminator>() && copied.use_empty()) {
      originals.erase(&copied);
      copied.erase();
    }
}

Value Speller::spelled(Operation *original) {
  if (auto mul = dyn_cast<MulOp>(original))
    return spelledMul(mul);
  if (auto div = dyn_cast<DivOp>(original))
    return spelledDiv(div);
  if (auto contract = dyn_cast<ContractOp>(original))
    return spelledContract(contract);
  if (auto repeated = dyn_cast<BroadcastOp>(original))
    return spelledBroadcast(repeated);
  auto scale = dyn_cast<ScaleOp>(original);
  if (!scale || typeOf(scale.getX()).getRank() != 3)
    return {};
  Value x = copies.lookup(scale.getX());
  Value number = make<ConstantOp>(scale.getFactor().convertToDouble(),
                                  typeOf(x).getShape().take_front());
  return product({number, {0}}, {x, allOf(x)}, 3);
}

Factor Speller::factorOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (constant && typeOf(value).getRank() == 3)
    return {make<ConstantOp>(constant.getValue().convertToDouble(),
                             typeOf(value).getShape().take_front()),
            {0}};
  if (auto repeated = value.getDefiningOp<BroadcastOp>())
    return {repeated.getX(), SmallVector<int64_t, 3>(repeated.getDimensions())};
  return {value, allOf(value)};
}

Value Speller::spelledMul(MulOp op) {
  Value lhs = copies.lookup(op.getA()), rhs = copies.lookup(op.getB());
  int64_t rank = typeOf(lhs).getRank();
  Factor a = factorOf(lhs), b = factorOf(rhs);
  bool coversAll = llvm::all_of(llvm::seq<int64_t>(rank), [&](int64_t each) {
    return a.has(each) || b.has(each);
  });
  if (!coversAll)
    b = {rhs, allOf(rhs)};
  if (a.value == lhs && b.value == rhs)
    return {};
  return product(a, b, rank);
}

// Repeated along a constant where only the shape comes from a state.
Value Speller::spelledBroadcast(BroadcastOp op) {
  Value x = copies.lookup(op.getX());
  if (dependent.contains(x))
    return {};
  Value like = make<ConstantOp>(0.0, typeOf(op.getLike()).getShape());
  return make<BroadcastOp>(x, like, SmallVector<int64_t>(op.getDimensions()));
}

// x / y as x times 1 / y.
Value Speller::spelledDiv(DivOp op) {
  Value x = copies.lookup(op.getA()), y = copies.lookup(op.getB());
  Factor by = factorOf(y);
  if (!dependent.contains(x) || dependent.contains(by.value))
    return {};
  Value one = make<ConstantOp>(1.0, typeOf(by.value).getShape());
  by.value = make<DivOp>(one, by.value);
  return product({x, allOf(x)}, by, typeOf(x).getRank());
}

Value Speller::spelledContract(ContractOp op) {
  auto factors = factorsOf(op.getOut());
  if (!factors || typeOf(op.getOut()).getRank() != 3)
    return {};
  auto copied = [&](Factor factor) -> Factor {
    return {copies.lookup(factor.value), factor.dimensions};
  };
  return product(copied(factors->first), copied(factors->second), 3);
}

Value Speller::product(Factor a, Factor b, int64_t rank) {
  if (rank == 3) {
    if (Value sum = distributed(a, b, /*factorFirst=*/true, rank))
      return sum;
    if (Value sum = distributed(b, a, /*factorFirst=*/false, rank))
      return sum;
    if (b.dimensions == allOf(b.value) && b.dimensions.size() == 3)
      if (Value outer = moved(a, b.value))
        return outer;
    if (a.dimensions == allOf(a.value) && a.dimensions.size() == 3)
      if (Value outer = moved(b, a.value))
        return outer;
  }
  std::string all = StringRef("abcdefgh").take_front(rank).str();
  return make<ContractOp>(a.value, lettersOf(a), b.value, lettersOf(b), all);
}

Value Speller::distributed(const Factor &factor, const Factor &sum,
                           bool factorFirst, int64_t rank) {
  Operation *maker = sum.value.getDefiningOp();
  if (!isa_and_nonnull<AddOp, SubOp, NegOp>(maker) ||
      sum.dimensions != allOf(sum.value) || rank != 3 ||
      !dependent.contains(sum.value) || dependent.contains(factor.value) ||
      products >= kMostProducts)
    return {};
  auto term = [&](Value of) {
    ++products;
    Factor whole = {of, sum.dimensions};
    return factorFirst ? product(factor, whole, rank)
                       : product(whole, factor, rank);
  };
  Value first = term(maker->getOperand(0));
  if (isa<NegOp>(maker))
    return make<NegOp>(first);
  Value second = term(maker->getOperand(1));
  return isa<AddOp>(maker) ? make<AddOp>(first, second)
                           : make<SubOp>(first, second);
}

// Into the value where it has the dimensions, into the key otherwise.
Value Speller::moved(const Factor &factor, Value outer) {
  auto factors = factorsOf(outer);
  if (!factors || dependent.contains(factor.value))
    return {};
  auto &[first, second] = *factors;
  auto isVector = [](const Factor &side) {
    return side.dimensions.size() == 2 && side.has(0);
  };
  if (!isVector(first) || !isVector(second))
    return {};
  Factor &value = first.has(2) ? first : second,
         &key = first.has(2) ? second : first;
  Factor &side = isPartOf(factor, value) ? value : key;
  if (!isPartOf(factor, side))
    return {};
  // Dimensions of the product that the side lacks are skipped.
  auto inSide = [&](const Factor &of) {
    std::string letters;
    for (int64_t dimension : of.dimensions)
      letters += char('a' + (dimension == 0 ? 0 : 1));
    return letters;
  };
  side.value = make<ContractOp>(factor.value, inSide(factor), side.value,
                                inSide(side), "ab");
  side.dimensions = {0, &side == &value ? 2 : 1};
  return make<ContractOp>(first.value, lettersOf(first), second.value,
                          lettersOf(second), "abc");
}

std::optional<SmallVector<Factor>> Speller::factorsDownTo(Value term,
                                                          Value state) {
  SmallVector<Factor> factors;
  while (term != state) {
    auto parts = factorsOf(term);
    if (!parts)
      return std::nullopt;
    auto &[first, second] = *parts;
    bool ofSecond = dependent.contains(second.value);
    Factor &rest = ofSecond ? second : first,
           &factor = ofSecond ? first : second;
    if (dependent.contains(factor.value) || rest.dimensions != allOf(state))
      return std::nullopt;
    factors.push_back(factor);
    term = rest.value;
  }
  return factors;
}

Value Speller::joined(ArrayRef<Factor> factors, ArrayRef<int64_t> dimensions,
                      Value like) {
  // Dimensions are those of the state; letters name them.
  Factor whole{{}, SmallVector<int64_t, 3>(dimensions)};
  for (const Factor &factor : factors)
    if (!whole.value && factor.dimensions == whole.dimensions)
      whole.value = factor.value;
  Value first = whole.value;
  if (!first) {
    SmallVector<int64_t> shape;
    for (int64_t dimension : dimensions)
      shape.push_back(typeOf(like).getDimSize(dimension));
    whole.value = make<ConstantOp>(1.0, shape);
  }
  for (const Factor &factor : factors) {
    if (first && factor.value == first) {
      first = {}; // once
      continue;
    }
    whole.value = make<ContractOp>(whole.value, lettersOf(whole), factor.value,
                                   lettersOf(factor), lettersOf(whole));
  }
  return whole.value;
}

// Takes the factors out that all terms have.
static SmallVector<Factor> takeCommon(MutableArrayRef<StateTerm> terms) {
  SmallVector<Factor> common;
  for (const Factor &factor : SmallVector<Factor>(terms.front().factors)) {
    auto isAlike = [&](const Factor &other) {
      return other.dimensions == factor.dimensions &&
             areAlike(other.value, factor.value);
    };
    if (!llvm::all_of(terms, [&](const StateTerm &term) {
          return llvm::any_of(term.factors, isAlike);
        }))
      continue;
    common.push_back(factor);
    for (StateTerm &term : terms)
      term.factors.erase(llvm::find_if(term.factors, isAlike));
  }
  return common;
}

void Speller::gather(unsigned index) {
  struct Term {
    Value value;
    bool isNegative = false;
  };
  Value state = block.getArguments().take_back(states.size())[index];
  Value next = block.getTerminator()->getOperand(1 + index);
  if (typeOf(state).getRank() != 3 || !next.getDefiningOp())
    return;
  SmallVector<Term> open = {{next}}, others;
  SmallVector<StateTerm> own;
  while (!open.empty()) {
    if (own.size() + others.size() > kMostTerms)
      return;
    auto [term, isNegative] = open.pop_back_val();
    Operation *maker = term.getDefiningOp();
    if (isa_and_nonnull<AddOp, SubOp>(maker)) {
      open.push_back({maker->getOperand(1), isNegative != isa<SubOp>(maker)});
      open.push_back({maker->getOperand(0), isNegative});
    } else if (isa_and_nonnull<NegOp>(maker)) {
      open.push_back({maker->getOperand(0), !isNegative});
    } else if (auto factors = factorsDownTo(term, state)) {
      // What is added first, so that no sum begins with a difference.
      own.insert(isNegative ? own.end() : own.begin(), {*factors, isNegative});
    } else {
      others.push_back({term, isNegative});
    }
  }
  if (own.size() < 2)
    return;
  SmallVector<Factor> common = takeCommon(own);
  Factor sum;
  for (int64_t dimension : allOf(state))
    if (dimension == 0 || llvm::any_of(own, [&](const StateTerm &term) {
          return llvm::any_of(term.factors, [&](const Factor &factor) {
            return factor.has(dimension);
          });
        }))
      sum.dimensions.push_back(dimension);
  original = originals.lookup(next.getDefiningOp());
  b.setInsertionPointAfter(next.getDefiningOp());
  auto add = [&](Value to, Value value, bool isNegative) -> Value {
    if (!to)
      return isNegative ? make<NegOp>(value) : value;
    return isNegative ? make<SubOp>(to, value) : make<AddOp>(to, value);
  };
  for (auto &[factors, isNegative] : own)
    sum.value =
        add(sum.value, joined(factors, sum.dimensions, state), isNegative);
  Value gathered = state;
  for (const Factor &factor : common)
    gathered = make<ContractOp>(factor.value, lettersOf(factor), gathered,
                                "abc", "abc");
  gathered =
      make<ContractOp>(sum.value, lettersOf(sum), gathered, "abc", "abc");
  for (auto [term, isNegative] : others)
    gathered = add(gathered, term, isNegative);
  // New ops stand right behind the old sum, before all that use it.
  next.replaceUsesWithIf(gathered, [&](OpOperand &use) {
    return gathered.getDefiningOp()->isBeforeInBlock(use.getOwner());
  });
}

StepBody::StepBody(RecurrenceOp op) { Speller(op, block, originals).run(); }

} // namespace effc::seq
