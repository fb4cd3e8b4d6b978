#include "runtime/src/tokenizer/pattern/CharacterSet.h"

#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>

using namespace effc::rt;

static constexpr char32_t kLongS = 0x17F, kKelvin = 0x212A;

template <typename Element>
static void addOnce(std::vector<Element> &to, Element what) {
  if (std::find(to.begin(), to.end(), what) == to.end())
    to.push_back(what);
}

void CharacterSet::addRange(char32_t first, char32_t last) {
  ranges.emplace_back(first, last);
}

bool CharacterSet::addProperty(std::string_view name, bool negated) {
  constexpr uint32_t kAllCategories = (uint32_t(1) << 30) - 1;
  constexpr std::pair<std::string_view, unicode::Flag> kFlags[] = {
      {"White_Space", unicode::White},
      {"x:numeric", unicode::Numeric},
      {"x:punctuation", unicode::Punctuation},
      {"x:word", unicode::Word}};
  for (auto [flagName, flag] : kFlags)
    if (name == flagName) {
      if (negated)
        addOnce(withoutFlags, uint16_t(flag));
      else
        flags |= flag;
      return true;
    }
  if (name.starts_with("sc:")) {
    uint8_t script = unicode::findScript(name.substr(3));
    addOnce(scripts, std::pair(script, negated));
    return script != 0;
  }
  uint32_t found = unicode::findCategories(name);
  categories |= negated ? kAllCategories & ~found : found;
  return found != 0;
}

void CharacterSet::addOtherCase() {
  for (char32_t lower = 'a'; lower <= 'z'; ++lower) {
    char32_t upper = lower - 'a' + 'A';
    char32_t third = lower == 's' ? kLongS : lower == 'k' ? kKelvin : lower;
    bool isIn = hasBeforeNegation(lower) || hasBeforeNegation(upper) ||
                hasBeforeNegation(third);
    if (isIn)
      for (char32_t each : {lower, upper, third})
        addRange(each, each);
  }
}

void CharacterSet::seal() {
  std::sort(ranges.begin(), ranges.end());
  std::vector<std::pair<char32_t, char32_t>> merged;
  for (auto range : ranges)
    if (!merged.empty() && range.first <= merged.back().second + 1)
      merged.back().second = std::max(merged.back().second, range.second);
    else
      merged.push_back(range);
  ranges = std::move(merged);
  ascii = {};
  auto addAscii = [&](char32_t character) {
    ascii[character >> 6] |= uint64_t(1) << (character & 63);
  };
  for (auto [first, last] : ranges)
    for (char32_t character = first; character <= last && character < 128;
         ++character)
      addAscii(character);
  bool hasProperties =
      categories || flags || !withoutFlags.empty() || !scripts.empty();
  for (char32_t character = 0; hasProperties && character < 128; ++character)
    if (hasProperty(character))
      addAscii(character);
  if (isNegated)
    ascii = {~ascii[0], ~ascii[1]};
}

bool CharacterSet::hasProperty(char32_t character) const {
  const unicode::Character &properties = unicode::lookUp(character);
  if (categories >> static_cast<uint8_t>(properties.category) & 1 ||
      flags & properties.flags)
    return true;
  for (uint16_t flag : withoutFlags)
    if (!(properties.flags & flag))
      return true;
  for (auto [script, negated] : scripts)
    if ((properties.script == script) != negated)
      return true;
  return false;
}

/// Of a set that is not sealed yet.
bool CharacterSet::hasBeforeNegation(char32_t character) const {
  for (auto [first, last] : ranges)
    if (character >= first && character <= last)
      return true;
  return hasProperty(character);
}

bool CharacterSet::has(char32_t character) const {
  auto after = std::upper_bound(
      ranges.begin(), ranges.end(), character,
      [](char32_t wanted, const auto &range) { return wanted < range.first; });
  bool isInRange =
      after != ranges.begin() && character <= std::prev(after)->second;
  return (isInRange || hasProperty(character)) != isNegated;
}

std::optional<char32_t> CharacterSet::getOnly() const {
  bool isOne = !isNegated && categories == 0 && flags == 0 &&
               withoutFlags.empty() && scripts.empty() && ranges.size() == 1 &&
               ranges[0].first == ranges[0].second;
  return isOne ? std::optional(ranges[0].first) : std::nullopt;
}
