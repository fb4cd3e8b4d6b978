#include "runtime/src/serving/Drafts.h"

#include <algorithm>

using namespace effc::rt;

/// Tokens that have to be alike, and more that are looked at for the best place.
static constexpr size_t kLeast = 3, kMost = 12;
/// So many earlier places are compared.
static constexpr int kPlaces = 32;

static uint64_t hashOf(const int32_t *tokens) {
  uint64_t hash = 0;
  for (size_t i = 0; i < kLeast; ++i)
    hash = (hash ^ static_cast<uint32_t>(tokens[i])) * 0x9e3779b97f4a7c15;
  return hash;
}

void Drafts::add(int32_t token) {
  text.push_back(token);
  before.push_back(kNone);
  if (text.size() < kLeast)
    return;
  auto end = static_cast<uint32_t>(text.size());
  uint32_t &place =
      last.try_emplace(hashOf(&text[end - kLeast]), kNone).first->second;
  before[end - 1] = place;
  place = end;
}

/// How many tokens before `end` are those at the end of the text.
uint64_t Drafts::likeness(uint32_t end) const {
  size_t alike = 0;
  while (alike < kMost && alike < end &&
         text[end - 1 - alike] == text[text.size() - 1 - alike])
    ++alike;
  return alike;
}

std::vector<int32_t> Drafts::next(uint64_t room) {
  if (text.size() < kLeast + 1)
    return {};
  uint32_t best = kNone;
  uint64_t bestAlike = kLeast - 1;
  uint32_t place = before.back();
  for (int i = 0; i < kPlaces && place != kNone; ++i) {
    if (uint64_t alike = likeness(place); alike > bestAlike)
      best = place, bestAlike = alike;
    place = before[place - 1];
  }
  if (best == kNone)
    return {};
  if (length.pauses())
    return {};
  uint64_t count = std::min({length.now(), room, text.size() - best});
  auto from = text.begin() + best;
  return {from, from + static_cast<ptrdiff_t>(count)};
}
