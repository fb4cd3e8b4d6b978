#include "dialects/seq/ShapeFormula.h"

#include "dialects/seq/Seq.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace effc::seq {

std::string printExtent(int64_t extent) {
  return ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
}

std::string printExtents(ArrayRef<int64_t> extents) {
  return llvm::join(llvm::map_range(extents, printExtent), ", ");
}

namespace {
/// A shape that is not what a formula says.
struct Disagreement {
  const llvm::StringMap<int64_t> &extents; // of the letters that are known
  Value value;
  ArrayRef<StringRef> letters;
  ArrayRef<int64_t> found;

  /// What probably led to it, after the value's name; empty where nothing is
  /// likely.
  std::string cause() const;

private:
  bool agree(ArrayRef<StringRef> letters, ArrayRef<int64_t> shape) const;
  std::string exchange() const;
  std::string lessDimensions() const;
  std::string moreDimensions() const;
  std::string otherLetter() const;
  std::string declaration() const;
};
} // namespace

bool Disagreement::agree(ArrayRef<StringRef> letters,
                         ArrayRef<int64_t> shape) const {
  llvm::StringMap<int64_t> bound = extents;
  return shape.size() == letters.size() &&
         llvm::all_of(llvm::zip(letters, shape), [&](auto pair) {
           auto [letter, extent] = pair;
           return bound.try_emplace(letter, extent).first->second == extent;
         });
}

std::string Disagreement::cause() const {
  if (found.size() + 1 == letters.size())
    return lessDimensions();
  if (found.size() == letters.size() + 1)
    return moreDimensions();
  if (found.size() != letters.size())
    return "";
  for (std::string text : {exchange(), otherLetter(), declaration()})
    if (!text.empty())
      return text;
  return "";
}

// Two dimensions, or all of them in another order.
std::string Disagreement::exchange() const {
  size_t rank = found.size();
  for (size_t i = 0; i < rank; ++i)
    for (size_t j = i + 1; j < rank; ++j) {
      SmallVector<int64_t> turned(found);
      std::swap(turned[i], turned[j]);
      if (!agree(letters, turned))
        continue;
      std::string text = "looks transposed: its " + letters[i].str() + " and " +
                         letters[j].str() + " are exchanged";
      // How a checkpoint holds it is said where the weight is declared.
      if (value.getDefiningOp<ParameterOp>() && i + 2 == rank && j + 1 == rank)
        text += "; a weight that is stored so is declared 'transposed'";
      return text;
    }
  SmallVector<int64_t> expected;
  for (StringRef letter : letters)
    if (auto known = extents.find(letter); known != extents.end())
      expected.push_back(known->second);
  bool isTurned = expected.size() == rank &&
                  std::is_permutation(found.begin(), found.end(),
                                      expected.begin(), expected.end());
  return isTurned ? "looks transposed: its dimensions are those expected in "
                    "another order"
                  : "";
}

std::string Disagreement::lessDimensions() const {
  bool countsRows = letters.front() == "T" || letters.front() == "R";
  auto rows = extents.find(letters.front());
  bool hasRows = !found.empty() &&
                 (ShapedType::isDynamic(found.front()) ||
                  (rows != extents.end() && rows->second == found.front()));
  if (countsRows && !hasRows && agree(letters.drop_front(), found))
    return "lacks the leading " + letters.front().str() + " of tokens";
  for (size_t i = countsRows; i + 1 < letters.size(); ++i) {
    // One of the two may be known; the other follows.
    auto first = extents.find(letters[i]),
         second = extents.find(letters[i + 1]);
    int64_t part = first != extents.end()    ? first->second
                   : second != extents.end() ? second->second
                                             : 1;
    if (part < 1 || found[i] % part != 0)
      continue;
    SmallVector<int64_t> split(found);
    split[i] = part;
    split.insert(split.begin() + i + 1, found[i] / part);
    if (first == extents.end())
      std::swap(split[i], split[i + 1]);
    if (agree(letters, split))
      return "has " + letters[i].str() + " and " + letters[i + 1].str() +
             " as one dimension: a 'seq.reshape' splits it";
  }
  return "";
}

std::string Disagreement::moreDimensions() const {
  if (found.front() == 1 && agree(letters, found.drop_front()))
    return "has a dimension of sequences in front: a value is of one sequence";
  for (size_t i = letters.front() == "T" || letters.front() == "R";
       i + 1 < found.size(); ++i) {
    SmallVector<int64_t> merged(found);
    merged[i] *= merged[i + 1];
    merged.erase(merged.begin() + i + 1);
    if (agree(letters, merged))
      return "has two dimensions for " + letters[i].str() +
             ": a 'seq.reshape' makes them one";
  }
  return "";
}

// One dimension that has the extent of another letter, and of no other.
std::string Disagreement::otherLetter() const {
  std::optional<size_t> wrong;
  for (auto [axis, letter] : llvm::enumerate(letters)) {
    auto known = extents.find(letter);
    if (known == extents.end() || known->second == found[axis])
      continue;
    if (wrong)
      return "";
    wrong = axis;
  }
  if (!wrong || found[*wrong] <= 1)
    return "";
  std::string other;
  for (const auto &entry : extents)
    if (entry.second == found[*wrong]) {
      if (!other.empty())
        return "";
      other = entry.first().str();
    }
  return other.empty() ? ""
                       : "has the extent of " + other + " where that of " +
                             letters[*wrong].str() + " belongs";
}

// What a value is the use of, which may have been meant for another op.
std::string Disagreement::declaration() const {
  if (auto parameter = value.getDefiningOp<ParameterOp>())
    return "is the weight '" + parameter.getWeight().str() +
           "', perhaps that of another layer";
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : FunctionOpInterface();
  auto name = function ? function.getArgAttrOfType<StringAttr>(
                             argument.getArgNumber(), kStateNameAttr)
                       : StringAttr();
  return name ? "is the state '" + name.str() +
                    "', perhaps that of another layer"
              : "";
}

LogicalResult ShapeFormula::check(StringRef name, Value value,
                                  ArrayRef<StringRef> letters) {
  ArrayRef<int64_t> found = cast<RankedTensorType>(value.getType()).getShape();
  bool agrees = found.size() == letters.size();
  // A letter may occur twice in one formula.
  llvm::StringMap<int64_t> bound = extents;
  for (auto [letter, extent] : llvm::zip(letters, found))
    agrees &= bound.try_emplace(letter, extent).first->second == extent;
  if (agrees) {
    extents = std::move(bound);
    return success();
  }

  // An unknown letter stands for itself among the expected extents.
  SmallVector<std::string> expected;
  bool knowsAny = false;
  for (StringRef letter : letters) {
    auto known = extents.find(letter);
    knowsAny |= known != extents.end();
    expected.push_back(known == extents.end() ? letter.str()
                                              : printExtent(known->second));
  }
  InFlightDiagnostic diagnostic = op->emitOpError()
                                  << "expects '" << name << "' of shape "
                                  << llvm::join(letters, ",");
  if (knowsAny)
    diagnostic << " = " << llvm::join(expected, ", ");
  diagnostic << ", but got "
             << (found.empty() ? "a scalar" : printExtents(found));
  std::string cause = Disagreement{extents, value, letters, found}.cause();
  if (!cause.empty())
    diagnostic.attachNote() << "'" << name << "' " << cause;
  return diagnostic;
}

} // namespace effc::seq
