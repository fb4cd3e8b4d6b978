// Facts of llama.cpp's src/llama-quant.cpp (llama-cpp-python 0.3.36), under the names
// that effc gives to weights. What it does for one size of one model alone (70 billion
// parameters) and for kinds that effc does not have is left out.
#include "frontend/weights/WeightMixes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace effc::frontend;
using llvm::StringLiteral;
using llvm::StringRef;

static constexpr PartStorage kEight[] = {
    {ModelPart::Values, PartChoice::All, "q8_0"},
    {ModelPart::Keys, PartChoice::All, "q8_0"},
};
static constexpr PartStorage kEightAndOut[] = {
    {ModelPart::Values, PartChoice::All, "q8_0"},
    {ModelPart::Keys, PartChoice::All, "q8_0"},
    {ModelPart::AttentionOut, PartChoice::All, "q5_k"},
};

static constexpr PartStorage kThreeMedium[] = {
    {ModelPart::Values, PartChoice::FirstTwo, "q5_k"},
    {ModelPart::Values, PartChoice::All, "q4_k"},
    {ModelPart::Down, PartChoice::FirstSixteenth, "q5_k"},
    {ModelPart::Down, PartChoice::All, "q4_k"},
    {ModelPart::AttentionOut, PartChoice::All, "q4_k"},
};
static constexpr PartStorage kThreeLarge[] = {
    {ModelPart::Values, PartChoice::All, "q5_k"},
    {ModelPart::Down, PartChoice::All, "q5_k"},
    {ModelPart::AttentionOut, PartChoice::All, "q5_k"},
};
static constexpr PartStorage kFourSmall[] = {
    {ModelPart::Values, PartChoice::FirstFour, "q5_k"},
    {ModelPart::Down, PartChoice::FirstEighth, "q5_k"},
};
static constexpr PartStorage kMedium[] = {
    {ModelPart::Values, PartChoice::Deep, "q6_k"},
    {ModelPart::Down, PartChoice::Deep, "q6_k"},
};

static constexpr PartStorage kImportantFour[] = {
    {ModelPart::Down, PartChoice::FirstEighth, "q4_1"},
};
static constexpr PartStorage kImportantFive[] = {
    {ModelPart::Down, PartChoice::FirstEighth, "q5_1"},
};

static constexpr WeightMix kMixes[] = {
    {"q2_k", "q2_k", "q6_k", kEightAndOut, {}},
    {"q3_k", "q3_k", "q6_k", kEightAndOut, {}},
    {"q3_k_s", "q3_k", "q6_k", kEightAndOut, {}},
    {"q3_k_m", "q3_k", "q6_k", kEightAndOut, kThreeMedium},
    {"q3_k_l", "q3_k", "q6_k", kEight, kThreeLarge},
    {"iq4_nl", "iq4_nl", "q6_k", kEightAndOut, {}},
    {"iq4_xs", "iq4_xs", "q6_k", kEightAndOut, {}},
    {"mxfp4", "mxfp4", "q6_k", kEight, {}},
    {"q4_0", "q4_0", "q6_k", kEight, {}, kImportantFour},
    {"q4_1", "q4_1", "q6_k", kEight, {}},
    {"q4_k", "q4_k", "q6_k", kEightAndOut, {}},
    {"q4_k_s", "q4_k", "q6_k", kEightAndOut, kFourSmall},
    {"q4_k_m", "q4_k", "q6_k", kEightAndOut, kMedium},
    {"q5_0", "q5_0", "q6_k", kEight, {}, kImportantFive},
    {"q5_1", "q5_1", "q6_k", kEight, {}},
    {"q5_k", "q5_k", "q6_k", kEight, {}},
    {"q5_k_s", "q5_k", "q6_k", kEight, {}},
    {"q5_k_m", "q5_k", "q6_k", kEight, kMedium},
    {"q6_k", "q6_k", "q6_k", kEight, {}},
    {"q8_0", "q8_0", "q8_0", {}, {}},
};

const WeightMix *effc::frontend::findMix(StringRef name) {
  const WeightMix *mix = llvm::find_if(
      kMixes, [&](const WeightMix &mix) { return mix.name == name; });
  return mix == std::end(kMixes) ? nullptr : mix;
}

llvm::ArrayRef<WeightMix> effc::frontend::weightMixes() { return kMixes; }

bool effc::frontend::isChosen(PartChoice choice, int64_t index, int64_t count) {
  switch (choice) {
  case PartChoice::All:
    return true;
  case PartChoice::FirstTwo:
    return index < 2;
  case PartChoice::FirstFour:
    return index < 4;
  case PartChoice::FirstSixteenth:
    return index < count / 16;
  case PartChoice::FirstEighth:
    return index < count / 8;
  case PartChoice::Deep:
    return index < count / 8 || index >= 7 * count / 8 ||
           (index - count / 8) % 3 == 2;
  }
  llvm_unreachable("every choice is listed");
}

namespace {
struct PartName {
  StringLiteral ending;
  ModelPart part;
};
} // namespace

// The first is queries, keys and values in one tensor.
static constexpr PartName kPartNames[] = {
    {".attention.in", ModelPart::Values},
    {".attention.value", ModelPart::Values},
    {".attention.key", ModelPart::Keys},
    {".attention.out", ModelPart::AttentionOut},
    {".mlp.down", ModelPart::Down},
    {".experts.down", ModelPart::Down},
    {".experts.shared.down", ModelPart::Down},
};

std::optional<ModelPart> effc::frontend::findPart(StringRef weight) {
  for (const PartName &name : kPartNames)
    if (weight.ends_with(name.ending))
      return name.part;
  return std::nullopt;
}

StringRef effc::frontend::findSmaller(StringRef storage) {
  // Blocks of 32 for those of 256, with the bits that are next.
  constexpr std::pair<StringLiteral, StringLiteral> kSmaller[] = {
      {"q2_k", "q4_0"}, {"q3_k", "q4_0"}, {"q4_k", "q5_0"},
      {"q5_k", "q5_1"}, {"q6_k", "q8_0"}, {"iq4_xs", "iq4_nl"}};
  for (const auto &[from, to] : kSmaller)
    if (from == storage)
      return to;
  return "";
}

namespace {
struct WideName {
  StringLiteral family, ending, reason; // no family: any
};
} // namespace

static constexpr WideName kWide[] = {
    {"", ".router", "what it rounds would send tokens to other experts"},
    {"", ".shared_gate", "it is a vector"},
    {"", "positions", "positions are added to all that follows"},
    {"rwkv", "_share", "it is a vector for each of a few products"},
};

StringRef effc::frontend::whyWide(StringRef family, StringRef weight,
                                  bool isLowRank) {
  for (const WideName &wide : kWide)
    if (weight.ends_with(wide.ending) && family.starts_with(wide.family))
      return wide.reason;
  if (isLowRank && family.starts_with("rwkv"))
    return "it is half of a product of low rank";
  return "";
}
