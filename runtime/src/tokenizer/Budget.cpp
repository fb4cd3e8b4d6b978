#include "runtime/src/tokenizer/Budget.h"

#include <algorithm>

using namespace effc::rt;

// Fuzz targets try bombs by the thousand; what is free of charge hides how work
// grows, so they have little of it.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
static constexpr uint64_t kShare = 64;
#else
static constexpr uint64_t kShare = 1;
#endif
static constexpr uint64_t kMi = uint64_t(1) << 20;

// 64 Mi steps take some tenths of a second. Published tokenizers load in less than
// 2 steps for each byte of their segment and keep less than that in any table; they
// encode in 20 to 35 steps for each byte of a text, which their normalizers make
// three times as long at most; and their tokens have a dozen bytes on average, 128
// in the longest row.
//
// Places in a text are counted in 32 bits, so no text has 2^31 bytes.
const Budget::Rates Budget::kLoad = {"a tokenizer of",
                                     "byte",
                                     /*steps=*/64 * kMi / kShare,
                                     /*stepsEach=*/256,
                                     /*bytes=*/4 * kMi / kShare,
                                     /*bytesEach=*/64,
                                     /*bytesAtMost=*/UINT64_MAX};
const Budget::Rates Budget::kEncoding = {"a text of",
                                         "byte",
                                         /*steps=*/64 * kMi / kShare,
                                         /*stepsEach=*/512,
                                         /*bytes=*/4 * kMi / kShare,
                                         /*bytesEach=*/32,
                                         /*bytesAtMost=*/INT32_MAX};
const Budget::Rates Budget::kDecoding = {"a row of",
                                         "token",
                                         /*steps=*/64 * kMi / kShare,
                                         /*stepsEach=*/16384,
                                         /*bytes=*/16 * kMi / kShare,
                                         /*bytesEach=*/1024,
                                         /*bytesAtMost=*/UINT64_MAX};

Budget Budget::ofLoad(uint64_t bytes) {
  Budget budget(kLoad);
  budget.grow(bytes);
  return budget;
}

Budget Budget::ofEncoding(uint64_t bytes) {
  Budget budget(kEncoding);
  budget.grow(bytes);
  budget.enter(Stage::AddedTokens);
  return budget;
}

Budget Budget::ofDecoding() {
  Budget budget(kDecoding);
  budget.enter(Stage::Decoder);
  return budget;
}

void Budget::grow(uint64_t more) {
  // Of 2^31 bytes, or of as many tokens as a process sees, no product overflows.
  units += more;
  allowed += more * rates->stepsEach;
  left += more * rates->stepsEach;
  mostBytes = std::min(mostBytes + more * rates->bytesEach, rates->bytesAtMost);
}

void Budget::exhaust(bool ofBytes) {
  if (exhausted)
    return;
  exhausted = true;
  exhaustedBytes = ofBytes;
  exhaustedBy = stage;
  left = 0;
}

Error Budget::error() const {
  static constexpr const char *kStages[] = {
      "the vocabulary", "the list of added tokens",
      "the normalizer", "the pre-tokenizer",
      "the model",      "the decoder"};
  const char *where = kStages[static_cast<size_t>(exhaustedBy)];
  const char *many = units == 1 ? "" : "s";
  if (exhaustedBytes)
    return badData(where, " makes more than ", mostBytes, " bytes of ",
                   rates->what, " ", units, " ", rates->unit, many, ": ",
                   rates->bytes, ", and ", rates->bytesEach, " for each ",
                   rates->unit, ", are expected to do");
  return badData(where, " takes more than the ", allowed, " steps that ",
                 rates->what, " ", units, " ", rates->unit, many,
                 " may: ", rates->steps, ", and ", rates->stepsEach,
                 " for each ", rates->unit);
}
