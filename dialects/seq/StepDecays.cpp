#include "dialects/seq/StepDecays.h"

#include "dialects/seq/Seq.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace effc::seq {

// A product of a product with itself has more factors than there are ops.
static constexpr size_t kMostDecays = 64, kMostParts = 1024;

Value complementOf(Value factor) {
  StepLine line = StepLine::of(factor);
  auto share = line.base.getDefiningOp<SigmoidOp>();
  return share && line.slope == -1 && line.offset == 1 ? share.getX() : Value();
}

// A factor that needs no other to be a decay.
static bool isDecay(Value factor, const StepBounds &bounds) {
  if (std::optional<double> number = numberOf(factor))
    return *number > 0 && *number <= 1;
  return factor.getDefiningOp<ExpOp>() || bounds.isShare(factor);
}

static std::string boundsText(Bounds bounds) {
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("[%g, %g]", bounds.low, bounds.high);
  return text;
}

namespace {
/// Splits a factor of the state into decays.
class DecayReader {
public:
  explicit DecayReader(const StepBounds &bounds) : bounds(bounds) {}

  /// Whether `part` is a product of decays, or one as a whole.
  bool read(const StepDecay &part);

  SmallVector<StepDecay> decays;
  Value obstacle; ///< what is no decay, of a part that is none
  bool isTooLong = false;

private:
  const StepBounds &bounds;
  size_t parts = 0;
};
} // namespace

bool DecayReader::read(const StepDecay &part) {
  if (++parts > kMostParts)
    isTooLong = true;
  if (isTooLong)
    return false;
  size_t before = decays.size();
  SmallVector<StepFactor> factors = splitFactor(part);
  if (!factors.empty() && llvm::all_of(factors, [&](const StepDecay &factor) {
        return read(factor);
      }))
    return true;
  decays.truncate(before);
  if (isTooLong)
    return false;
  if (isDecay(part.value, bounds)) {
    decays.push_back(part);
    return true;
  }
  if (!obstacle)
    obstacle = part.value;
  return false;
}

std::string readDecays(Value factor, ArrayRef<int64_t> dimensions,
                       const StepBounds &bounds,
                       SmallVectorImpl<StepDecay> &decays) {
  if (auto contract = factor.getDefiningOp<ContractOp>();
      contract &&
      !(dimensionsInResult(contract, 0) && dimensionsInResult(contract, 1)) &&
      !bounds.isShare(factor))
    return "scales the state by a sum of products";
  DecayReader reader(bounds);
  bool areDecays = reader.read({factor, SmallVector<int64_t, 3>(dimensions)});
  if (reader.isTooLong || reader.decays.size() + decays.size() > kMostDecays)
    return "scales the state by more than " + std::to_string(kMostDecays) +
           " decays";
  if (!areDecays) {
    std::string why =
        "scales the state by what is neither an exponential nor a constant in "
        "(0, 1], nor bound to lie in [0, 1]";
    Bounds found = bounds.of(reader.obstacle);
    if (std::isfinite(found.low) || std::isfinite(found.high))
      why += ", but only in " + boundsText(found);
    return why;
  }
  for (const StepDecay &decay : reader.decays)
    if (!llvm::is_sorted(decay.dimensions, std::less_equal<>()))
      return "scales the state by a decay of its dimensions in another order";
  llvm::append_range(decays, reader.decays);
  return "";
}

} // namespace effc::seq
