#include "runtime/src/tokenizer/unicode/NormalForm.h"

#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <algorithm>
#include <vector>

using namespace effc::rt::unicode;

namespace {

// Hangul syllables are numbered by their parts (Unicode 3.12).
constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161,
                   kTails = 0x11A7;
constexpr uint32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr uint32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

/// What the pair composes to, Hangul included; 0 for nothing.
char32_t composePair(char32_t first, char32_t second) {
  if (first - kLeads < kLeadCount && second - kVowels < kVowelCount)
    return kSyllables +
           ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
  uint32_t syllable = first - kSyllables;
  if (syllable < kSyllableCount && syllable % kTailCount == 0 &&
      second > kTails && second < kTails + kTailCount)
    return first + (second - kTails);
  return compose(first, second);
}

class Normalizer {
public:
  Normalizer(bool compatible, bool composes, std::string &out)
      : compatible(compatible), composes(composes), out(out) {}

  void add(char32_t character) {
    if (uint32_t syllable = character - kSyllables; syllable < kSyllableCount) {
      push(kLeads + syllable / (kVowelCount * kTailCount));
      push(kVowels + syllable / kTailCount % kVowelCount);
      if (uint32_t tail = syllable % kTailCount)
        push(kTails + tail);
      return;
    }
    if (lookUp(character).is(compatible ? Compatible : Canonical))
      for (char32_t part : decompose(character, compatible))
        push(part);
    else
      push(character);
  }

  /// Appends what is not final yet.
  void flush() {
    sortMarks();
    if (composes)
      composeSegment();
    for (char32_t character : segment)
      append(character, out);
    segment.clear();
  }

private:
  void push(char32_t character) {
    // A starter that never composes backwards makes all before it final.
    const Character &properties = lookUp(character);
    if (properties.combiningClass == 0 && !properties.is(Second))
      flush();
    segment.push_back(character);
  }

  /// Stably, by class.
  void sortMarks() {
    for (size_t i = 0; i < segment.size();) {
      size_t end = i;
      marks.clear();
      while (end < segment.size()) {
        uint64_t mark = lookUp(segment[end]).combiningClass;
        if (mark == 0)
          break;
        marks.emplace_back(mark << 32 | end, segment[end]);
        ++end;
      }
      std::sort(marks.begin(), marks.end());
      for (size_t k = 0; k < marks.size(); ++k)
        segment[i + k] = marks[k].second;
      i = end + 1;
    }
  }

  void composeSegment() {
    size_t starter = SIZE_MAX, out = 0;
    int lastClass = -1; // of the mark before, -1 right after the starter
    for (size_t i = 0; i < segment.size(); ++i) {
      char32_t character = segment[i];
      const Character &properties = lookUp(character);
      int mark = properties.combiningClass;
      if (starter != SIZE_MAX && lastClass < mark && properties.is(Second))
        if (char32_t composed = composePair(segment[starter], character)) {
          segment[starter] = composed;
          continue;
        }
      if (mark == 0) {
        starter = out;
        lastClass = -1;
      } else {
        lastClass = mark;
      }
      segment[out++] = character;
    }
    segment.resize(out);
  }

  bool compatible, composes;
  std::string &out;
  std::vector<char32_t> segment;                    // from a starter on
  std::vector<std::pair<uint64_t, char32_t>> marks; // class and place
};

} // namespace

std::string effc::rt::unicode::normalize(std::string_view text,
                                         NormalForm form) {
  bool composes = form == NormalForm::Nfc || form == NormalForm::Nfkc;
  bool compatible = form == NormalForm::Nfkc || form == NormalForm::Nfkd;
  // Below these bytes no character changes: U+0300 in the form NFC, U+00A0 in
  // the others.
  uint8_t least = form == NormalForm::Nfc ? 0xCC : 0xC2;
  std::string out;
  out.reserve(text.size());
  Normalizer normalizer(compatible, composes, out);
  size_t at = 0;
  while (at < text.size()) {
    size_t begin = at;
    while (at < text.size() && static_cast<uint8_t>(text[at]) < least)
      ++at;
    // Continuation bytes are below 0xC2; a lead byte is where they start.
    bool isRest = at == text.size();
    // The last plain character may compose with what follows.
    size_t plain = isRest ? at : begin;
    if (!isRest && at > begin)
      plain = begin + lastStart(text.substr(begin, at - begin));
    out.append(text, begin, plain - begin);
    at = plain;
    if (isRest)
      break;
    // From here to the next plain character behind which nothing combines.
    bool first = true;
    while (at < text.size()) {
      auto byte = static_cast<uint8_t>(text[at]);
      bool nextIsPlain =
          at + 1 >= text.size() || static_cast<uint8_t>(text[at + 1]) < 0x80;
      if (!first && byte < 0x80 && nextIsPlain)
        break;
      first = false;
      Decoded decoded = decode(text.substr(at));
      normalizer.add(decoded.character);
      at += decoded.bytes;
    }
    normalizer.flush();
  }
  return out;
}
