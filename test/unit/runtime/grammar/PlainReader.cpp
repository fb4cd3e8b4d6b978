#include "test/unit/runtime/grammar/PlainReader.h"

#include <algorithm>
#include <set>

using namespace effc::rt::grammar;
using namespace effc::test;

using Kind = Expression::Kind;
using Places = std::set<size_t>;

namespace {
class Plain {
public:
  Plain(const Rules &rules, std::string_view text) : rules(rules), text(text) {}

  /// Where the expression can end that begins at `at`. Notes where the text was at
  /// its end while more was to come.
  Places read(const Expression &expression, size_t at) {
    switch (expression.kind) {
    case Kind::Text:
      for (char c : expression.text) {
        if (at == text.size()) {
          isCut = true;
          return {};
        }
        if (text[at++] != c)
          return {};
      }
      return {at};
    case Kind::Characters:
      return readCharacter(expression.characters, at);
    case Kind::Call:
      return read(rules.all[expression.rule].body, at);
    case Kind::Choice: {
      Places all;
      for (const Expression &part : expression.parts)
        all.merge(read(part, at));
      return all;
    }
    case Kind::Sequence: {
      Places now = {at};
      for (const Expression &part : expression.parts)
        now = readFrom(part, now);
      return now;
    }
    case Kind::Repeat: {
      Places now = {at}, all;
      if (expression.least == 0)
        all = now;
      for (uint32_t i = 1; i <= expression.most && !now.empty(); ++i) {
        Places next = readFrom(expression.parts[0], now);
        if (i >= expression.least) {
          size_t before = all.size();
          all.insert(next.begin(), next.end());
          if (all.size() == before) // nothing new
            break;
        }
        now = next;
      }
      return all;
    }
    }
    return {};
  }

  bool isCut = false;

private:
  Places readFrom(const Expression &part, const Places &from) {
    Places all;
    for (size_t at : from)
      all.merge(read(part, at));
    return all;
  }

  /// Writes each character of the set that could be meant.
  Places readCharacter(const CharacterSet &set, size_t at) {
    if (at == text.size()) {
      isCut = true;
      return {};
    }
    auto lead = static_cast<unsigned char>(text[at]);
    size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    std::string_view given = text.substr(at, size);
    if (given.size() == size) {
      uint32_t code = size == 1 ? lead : lead & (0x7Fu >> size);
      for (size_t i = 1; i < size; ++i)
        code = code << 6 | (static_cast<unsigned char>(given[i]) & 0x3F);
      std::string written;
      if (code <= kMostCodePoint)
        appendCharacter(written, code);
      return written == given && set.has(code) ? Places{at + size} : Places{};
    }
    // The text ends within the character: of those that its bytes could begin, the
    // first that is written so.
    uint32_t first = lead & (0x7Fu >> size);
    for (size_t i = 1; i < given.size(); ++i)
      first = first << 6 | (static_cast<unsigned char>(given[i]) & 0x3F);
    auto bits = static_cast<unsigned>(6 * (size - given.size()));
    uint32_t last = ((first + 1) << bits) - 1;
    first <<= bits;
    for (const CodeRange &range : set.ranges())
      for (uint32_t code = std::max(first, range.first);
           code <= std::min({last, range.last, kMostCodePoint}); ++code) {
        std::string written;
        appendCharacter(written, code);
        if (written.starts_with(given)) {
          isCut = true;
          return {};
        }
      }
    return {};
  }

  const Rules &rules;
  std::string_view text;
};
} // namespace

PlainFit effc::test::plainFit(const Rules &rules, std::string_view text) {
  Plain plain(rules, text);
  Places ends = plain.read(call(rules.root), 0);
  return {ends.count(text.size()) > 0, plain.isCut};
}
