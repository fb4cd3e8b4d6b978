#include "runtime/src/grammar/Rules.h"

#include <algorithm>

using namespace effc::rt;
using namespace effc::rt::grammar;

CharacterSet::CharacterSet() = default;
CharacterSet::CharacterSet(std::initializer_list<CodeRange> given)
    : all(given) {}
CharacterSet::CharacterSet(const CharacterSet &) = default;
CharacterSet::CharacterSet(CharacterSet &&) noexcept = default;
CharacterSet &CharacterSet::operator=(const CharacterSet &) = default;
CharacterSet &CharacterSet::operator=(CharacterSet &&) noexcept = default;
CharacterSet::~CharacterSet() = default;

Expression::Expression() = default;
Expression::Expression(const Expression &) = default;
Expression::Expression(Expression &&) noexcept = default;
Expression &Expression::operator=(const Expression &) = default;
Expression &Expression::operator=(Expression &&) noexcept = default;
Expression::~Expression() = default;

uint32_t Rules::add(std::string name, Expression body, std::string place) {
  all.push_back({std::move(name), std::move(body), std::move(place)});
  return static_cast<uint32_t>(all.size() - 1);
}

static constexpr CodeRange kSurrogates = {0xD800, 0xDFFF};

/// In order and apart, surrogates included.
static std::vector<CodeRange> merged(std::vector<CodeRange> ranges) {
  std::sort(
      ranges.begin(), ranges.end(),
      [](const CodeRange &a, const CodeRange &b) { return a.first < b.first; });
  std::vector<CodeRange> out;
  for (const CodeRange &range : ranges) {
    if (range.first > range.last)
      continue;
    if (!out.empty() && range.first <= out.back().last + 1)
      out.back().last = std::max(out.back().last, range.last);
    else
      out.push_back(range);
  }
  return out;
}

static std::vector<CodeRange> inverted(const std::vector<CodeRange> &ranges) {
  std::vector<CodeRange> out;
  uint32_t next = 0;
  for (const CodeRange &range : ranges) {
    if (range.first > next)
      out.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kMostCodePoint)
    out.push_back({next, kMostCodePoint});
  return out;
}

std::vector<CodeRange> CharacterSet::ranges() const {
  std::vector<CodeRange> without = inverted(merged(all));
  without.push_back(kSurrogates);
  return inverted(merged(std::move(without)));
}

CharacterSet CharacterSet::complement() const {
  CharacterSet set;
  set.all = inverted(ranges());
  return set;
}

CharacterSet CharacterSet::common(const CharacterSet &other) const {
  CharacterSet outside = complement();
  outside.add(other.complement());
  return outside.complement();
}

bool CharacterSet::has(uint32_t code) const {
  for (const CodeRange &range : ranges())
    if (code >= range.first && code <= range.last)
      return true;
  return false;
}

Expression grammar::textOf(std::string text) {
  Expression made;
  made.kind = Expression::Kind::Text;
  made.text = std::move(text);
  return made;
}

Expression grammar::oneOf(CharacterSet characters) {
  Expression made;
  made.kind = Expression::Kind::Characters;
  made.characters = std::move(characters);
  return made;
}

Expression grammar::call(uint32_t rule) {
  Expression made;
  made.kind = Expression::Kind::Call;
  made.rule = rule;
  return made;
}

static Expression withParts(Expression::Kind kind,
                            std::vector<Expression> parts) {
  if (parts.size() == 1)
    return std::move(parts[0]);
  Expression made;
  made.kind = kind;
  made.parts = std::move(parts);
  return made;
}

Expression grammar::sequence(std::vector<Expression> parts) {
  return withParts(Expression::Kind::Sequence, std::move(parts));
}

Expression grammar::choice(std::vector<Expression> parts) {
  return withParts(Expression::Kind::Choice, std::move(parts));
}

Expression grammar::sequence(std::initializer_list<Expression> parts) {
  return sequence(std::vector<Expression>(parts));
}

Expression grammar::choice(std::initializer_list<Expression> parts) {
  return choice(std::vector<Expression>(parts));
}

Expression grammar::repeat(Expression part, uint32_t least, uint32_t most) {
  Expression made;
  made.kind = Expression::Kind::Repeat;
  made.least = least;
  made.most = most;
  made.parts.push_back(std::move(part));
  return made;
}

Expression grammar::optional(Expression part) {
  return repeat(std::move(part), 0, 1);
}

void grammar::appendCharacter(std::string &text, uint32_t code) {
  auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  }
}
