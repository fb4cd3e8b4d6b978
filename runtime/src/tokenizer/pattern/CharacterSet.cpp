#include "runtime/src/tokenizer/pattern/CharacterSet.h"

#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>

using namespace effc::rt;

static constexpr char32_t kLongS = 0x17F, kKelvin = 0x212A;

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
        withoutFlags.push_back(flag);
      else
        flags |= flag;
      return true;
    }
  if (name.starts_with("sc:")) {
    uint8_t script = unicode::findScript(name.substr(3));
    scripts.emplace_back(script, negated);
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
  for (char32_t character = 0; character < 128; ++character)
    if (has(character))
      ascii[character >> 6] |= uint64_t(1) << (character & 63);
}

bool CharacterSet::hasBeforeNegation(char32_t character) const {
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
  for (auto [first, last] : ranges)
    if (character >= first && character <= last)
      return true;
  return false;
}

bool CharacterSet::has(char32_t character) const {
  return hasBeforeNegation(character) != isNegated;
}

std::optional<char32_t> CharacterSet::getOnly() const {
  bool isOne = !isNegated && categories == 0 && flags == 0 &&
               withoutFlags.empty() && scripts.empty() && ranges.size() == 1 &&
               ranges[0].first == ranges[0].second;
  return isOne ? std::optional(ranges[0].first) : std::nullopt;
}
