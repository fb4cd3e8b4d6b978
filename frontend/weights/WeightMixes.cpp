// Facts of llama.cpp's src/llama-quant.cpp (llama-cpp-python 0.3.36), whose names of
// tensors are roles here. What it does for one size of one model alone (70 billion
// parameters) and for kinds that effc does not have is left out.
#include "frontend/weights/WeightMixes.h"

#include "llvm/ADT/STLExtras.h"

using namespace effc::frontend;
using llvm::StringLiteral;
using llvm::StringRef;

static constexpr RoleStorage kEight[] = {
    {MatrixRole::Values, RoleChoice::All, "q8_0"},
    {MatrixRole::Keys, RoleChoice::All, "q8_0"},
};
static constexpr RoleStorage kEightAndOut[] = {
    {MatrixRole::Values, RoleChoice::All, "q8_0"},
    {MatrixRole::Keys, RoleChoice::All, "q8_0"},
    {MatrixRole::AttentionOut, RoleChoice::All, "q5_k"},
};

static constexpr RoleStorage kThreeMedium[] = {
    {MatrixRole::Values, RoleChoice::FirstTwo, "q5_k"},
    {MatrixRole::Values, RoleChoice::All, "q4_k"},
    {MatrixRole::Down, RoleChoice::FirstSixteenth, "q5_k"},
    {MatrixRole::Down, RoleChoice::All, "q4_k"},
    {MatrixRole::AttentionOut, RoleChoice::All, "q4_k"},
};
static constexpr RoleStorage kThreeLarge[] = {
    {MatrixRole::Values, RoleChoice::All, "q5_k"},
    {MatrixRole::Down, RoleChoice::All, "q5_k"},
    {MatrixRole::AttentionOut, RoleChoice::All, "q5_k"},
};
static constexpr RoleStorage kFourSmall[] = {
    {MatrixRole::Values, RoleChoice::FirstFour, "q5_k"},
    {MatrixRole::Down, RoleChoice::FirstEighth, "q5_k"},
};
static constexpr RoleStorage kMedium[] = {
    {MatrixRole::Values, RoleChoice::Deep, "q6_k"},
    {MatrixRole::Down, RoleChoice::Deep, "q6_k"},
};

static constexpr RoleStorage kImportantFour[] = {
    {MatrixRole::Down, RoleChoice::FirstEighth, "q4_1"},
};
static constexpr RoleStorage kImportantFive[] = {
    {MatrixRole::Down, RoleChoice::FirstEighth, "q5_1"},
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

bool effc::frontend::isChosen(RoleChoice choice, int64_t index, int64_t count) {
  switch (choice) {
  case RoleChoice::All:
    return true;
  case RoleChoice::FirstTwo:
    return index < 2;
  case RoleChoice::FirstFour:
    return index < 4;
  case RoleChoice::FirstSixteenth:
    return index < count / 16;
  case RoleChoice::FirstEighth:
    return index < count / 8;
  case RoleChoice::Deep:
    return index < count / 8 || index >= 7 * count / 8 ||
           (index - count / 8) % 3 == 2;
  }
  llvm_unreachable("every choice is listed");
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

StringRef effc::frontend::whyWide(MatrixRole role) {
  switch (role) {
  case MatrixRole::Router:
    return "what it rounds would send tokens to other experts";
  case MatrixRole::SharedGate:
    return "it is a vector";
  case MatrixRole::Positions:
    return "positions are added to all that follows";
  case MatrixRole::LowRank:
    return "it is half of a product of low rank";
  case MatrixRole::Other:
  case MatrixRole::Values:
  case MatrixRole::Keys:
  case MatrixRole::AttentionOut:
  case MatrixRole::Down:
    return "";
  }
  llvm_unreachable("every role is listed");
}
