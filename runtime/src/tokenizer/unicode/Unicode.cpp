#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <vector>

using namespace effc::rt::unicode;

namespace {

struct Mapping {
  uint32_t character;
  uint16_t offset;
  uint8_t length;
};

struct Composition {
  uint32_t first, second, composed;
};

// The tables name categories and graphemes by number.
struct Record {
  uint16_t flags;
  uint8_t category, combiningClass, grapheme, script;
};

namespace data {
#include "runtime/src/tokenizer/unicode/UnicodeData.inc"
} // namespace data

constexpr uint32_t kCharacters = 0x110000;
constexpr uint32_t kPage = 256;

/// The runs of the table, unrolled into pages that are shared where they are
/// the same all over.
class Pages {
public:
  Pages() {
    for (const Record &record : data::kRecords)
      records.push_back({record.flags, static_cast<Category>(record.category),
                         record.combiningClass,
                         static_cast<Grapheme>(record.grapheme),
                         record.script});
    size_t run = 0;
    constexpr size_t runs = std::size(data::kRuns);
    auto startOf = [](size_t i) {
      return i < runs ? data::kRuns[i] >> 11 : kCharacters;
    };
    for (uint32_t page = 0; page < kCharacters / kPage; ++page) {
      uint32_t begin = page * kPage;
      while (startOf(run + 1) <= begin)
        ++run;
      bool isUniform = startOf(run + 1) >= begin + kPage;
      uint16_t first = data::kRuns[run] & 0x7FF;
      if (isUniform) {
        if (uniform.size() <= first)
          uniform.resize(first + 1, kNone);
        if (uniform[first] == kNone) {
          uniform[first] = static_cast<uint32_t>(entries.size());
          entries.insert(entries.end(), kPage, first);
        }
        starts[page] = uniform[first];
        continue;
      }
      starts[page] = static_cast<uint32_t>(entries.size());
      size_t at = run;
      for (uint32_t i = begin; i < begin + kPage; ++i) {
        while (startOf(at + 1) <= i)
          ++at;
        entries.push_back(data::kRuns[at] & 0x7FF);
      }
    }
  }

  const Character &at(char32_t character) const {
    return records[entries[starts[character / kPage] + character % kPage]];
  }

private:
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<Character> records;
  std::array<uint32_t, kCharacters / kPage> starts;
  std::vector<uint16_t> entries;
  std::vector<uint32_t> uniform;
};

const char *const kCategoryNames[] = {
    "Cc", "Cf", "Cn", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu",
    "Mc", "Me", "Mn", "Nd", "Nl", "No", "Pc", "Pd", "Pe", "Pf",
    "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs"};

const char *const kScriptNames[] = {
    "Arabic",   "Armenian", "Bengali",   "Bopomofo",  "Cyrillic", "Devanagari",
    "Ethiopic", "Georgian", "Greek",     "Gujarati",  "Gurmukhi", "Han",
    "Hangul",   "Hebrew",   "Hiragana",  "Kannada",   "Katakana", "Khmer",
    "Lao",      "Latin",    "Malayalam", "Mongolian", "Myanmar",  "Oriya",
    "Sinhala",  "Tamil",    "Telugu",    "Thaana",    "Thai",     "Tibetan"};

template <size_t Count, size_t Size>
std::u32string_view find(const Mapping (&mappings)[Count],
                         const char32_t (&pool)[Size], char32_t character) {
  const Mapping *at =
      std::lower_bound(std::begin(mappings), std::end(mappings), character,
                       [](const Mapping &mapping, char32_t wanted) {
                         return mapping.character < wanted;
                       });
  if (at == std::end(mappings) || at->character != character)
    return {};
  return {pool + at->offset, at->length};
}

} // namespace

const Character &effc::rt::unicode::lookUp(char32_t character) {
  static const Pages pages;
  return pages.at(character);
}

uint32_t effc::rt::unicode::findCategories(std::string_view name) {
  uint32_t found = 0;
  for (size_t i = 0; i < std::size(kCategoryNames); ++i)
    if (!name.empty() && std::string_view(kCategoryNames[i]).starts_with(name))
      found |= uint32_t(1) << i;
  return found;
}

uint8_t effc::rt::unicode::findScript(std::string_view name) {
  for (size_t i = 0; i < std::size(kScriptNames); ++i)
    if (name == kScriptNames[i])
      return static_cast<uint8_t>(i + 1);
  return 0;
}

std::u32string_view effc::rt::unicode::decompose(char32_t character,
                                                 bool compatible) {
  if (compatible)
    if (auto found = find(data::kCompatible, data::kCompatiblePool, character);
        !found.empty())
      return found;
  return find(data::kCanonical, data::kCanonicalPool, character);
}

char32_t effc::rt::unicode::compose(char32_t first, char32_t second) {
  const Composition *at = std::lower_bound(
      std::begin(data::kCompositions), std::end(data::kCompositions),
      std::pair(first, second),
      [](const Composition &pair, std::pair<char32_t, char32_t> wanted) {
        return std::pair<char32_t, char32_t>(pair.first, pair.second) < wanted;
      });
  return at != std::end(data::kCompositions) && at->first == first &&
                 at->second == second
             ? at->composed
             : 0;
}

std::u32string_view effc::rt::unicode::toLower(char32_t character) {
  return find(data::kLowercase, data::kLowercasePool, character);
}

void effc::rt::unicode::append(char32_t character, std::string &text) {
  auto tail = [&](int shift) {
    text += static_cast<char>(0x80 | (character >> shift & 0x3F));
  };
  if (character < 0x80) {
    text += static_cast<char>(character);
  } else if (character < 0x800) {
    text += static_cast<char>(0xC0 | character >> 6);
    tail(0);
  } else if (character < 0x10000) {
    text += static_cast<char>(0xE0 | character >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | character >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}
