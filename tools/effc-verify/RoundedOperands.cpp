// What products of a GPU that round their operands may lose, and whether that tells
// a wrong kernel from a sound one.
#include "compiler/ModelChoices.h"
#include "tools/effc-verify/Expected.h"
#include "tools/effc-verify/Numbers.h"
#include "tools/effc-verify/Tolerances.h"
#include "tools/effc-verify/Verification.h"

using namespace effc;
using namespace effc::verify;

static std::string saysThatItIsNotJudged(const std::string &why) {
  return "on this device the file's products round their operands, and " + why +
         ": compiled with --products f32 it can be checked";
}

std::optional<Products> Verification::findRoundedOperands() const {
  if (runsOnHost)
    return std::nullopt;
  // A device that is no host's is a GPU, or plays one.
  Products products =
      productsOf(tile::Device::Nvptx, compileOptions.pipeline.products);
  return roundsOnGpus(products) ? std::optional(products) : std::nullopt;
}

void Verification::findRoundingLoss() {
  roundedOperands = findRoundedOperands();
  if (!roundedOperands)
    return;
  if (stored.seqBytecode.empty()) {
    notJudged = saysThatItIsNotJudged("whether the model chooses rows by their "
                                      "scores cannot be told");
    return;
  }
  if (take(choosesRows(stored))) {
    notJudged = saysThatItIsNotJudged("by rounded scores the model may choose "
                                      "other experts, rows or keys");
    return;
  }
  // Where a token's bits have to be the same, kernels hand on f32.
  bool narrowResults = !optionsKnown || !compileOptions.pipeline.bitStableOnGpu;
  operandLoss =
      all() ? all()->findRoundingLossOfGpu(*roundedOperands, narrowResults)
            : roundedLoss(*roundedOperands);
  if (!(operandLoss <= kMostOperandLoss))
    notJudged =
        saysThatItIsNotJudged("that alone loses " + scientific(operandLoss) +
                              " of the largest logit");
}
