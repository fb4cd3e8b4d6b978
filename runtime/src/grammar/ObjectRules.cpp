#include "runtime/src/grammar/ObjectRules.h"

#include "runtime/src/tokenizer/Utf8.h"

#include <algorithm>

using namespace effc::rt;
using namespace effc::rt::grammar;

namespace {
/// Names that are none of others: written without escapes, so that a name has one
/// spelling.
class OtherNames {
public:
  OtherNames(const ObjectShape &shape, Rules &rules, const std::string &place)
      : rules(rules), place(place) {
    for (const ObjectShape::Member &member : shape.members)
      if (isPlain(member.name))
        names.push_back(member.name);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }

  Expression make() {
    return sequence({textOf("\""), after(0, names.size(), 0), textOf("\"")});
  }

private:
  static CharacterSet plain() {
    CharacterSet special = {{0, 0x1F}, {'"', '"'}, {'\\', '\\'}, {0x7F, 0x7F}};
    return special.complement();
  }
  /// Others cannot be written without escapes.
  static bool isPlain(const std::string &name) {
    return std::all_of(name.begin(), name.end(), [](char c) {
      auto byte = static_cast<uint8_t>(c);
      return byte >= 0x20 && byte != 0x7F && c != '"' && c != '\\';
    });
  }

  /// What follows the first `at` bytes of the names from `begin` to `end`, which
  /// share them, so that none of the names comes of it.
  Expression after(size_t begin, size_t end, size_t at) {
    std::vector<Expression> choices;
    bool isName = begin < end && names[begin].size() == at;
    begin += isName;
    CharacterSet taken;
    while (begin < end) {
      std::string_view rest = std::string_view(names[begin]).substr(at);
      size_t size = nextCharacter(rest).bytes;
      std::string character(rest.substr(0, size));
      size_t stop = begin;
      while (stop < end && names[stop].compare(at, size, character) == 0)
        ++stop;
      uint32_t rule = rules.add(place + "/", {});
      Expression body = after(begin, stop, at + size);
      rules.all[rule].body = std::move(body);
      choices.push_back(sequence({textOf(character), call(rule)}));
      uint32_t code = codeOf(character);
      taken.add(code, code);
      begin = stop;
    }
    choices.push_back(sequence({oneOf(plain().common(taken.complement())),
                                repeat(oneOf(plain()), 0)}));
    if (!isName)
      choices.push_back(textOf(""));
    return choice(std::move(choices));
  }

  static uint32_t codeOf(const std::string &character) {
    uint32_t code = static_cast<uint8_t>(character[0]);
    if (character.size() > 1)
      code &= 0x7Fu >> character.size();
    for (size_t i = 1; i < character.size(); ++i)
      code = code << 6 | (static_cast<uint8_t>(character[i]) & 0x3F);
    return code;
  }

  Rules &rules;
  const std::string &place;
  std::vector<std::string> names;
};
} // namespace

Expression grammar::objectOf(const ObjectShape &shape, JsonRules &json,
                             Rules &rules, const std::string &place) {
  std::optional<Expression> other;
  if (shape.more) {
    Expression name = shape.members.empty()
                          ? json.text()
                          : OtherNames(shape, rules, place).make();
    other = call(
        rules.add(place, sequence({json.key(std::move(name)), *shape.more})));
  }
  // What follows the members before, with one of them there or none, from the end.
  Expression behind = textOf(""), begin = textOf("");
  if (other) {
    behind = repeat(sequence({json.comma(), *other}), 0);
    begin = optional(sequence({*other, behind}));
  }
  for (size_t i = shape.members.size(); i-- > 0;) {
    const ObjectShape::Member &member = shape.members[i];
    Expression rest = call(rules.add(place, std::move(behind)));
    Expression own =
        call(rules.add(place, sequence({json.key(textOf(quoted(member.name))),
                                        member.value})));
    Expression there = sequence({json.comma(), own, rest});
    begin = member.isRequired
                ? sequence({own, rest})
                : choice({sequence({own, rest}),
                          call(rules.add(place, std::move(begin)))});
    behind = member.isRequired ? there : choice({there, rest});
  }
  return json.braces(std::move(begin));
}

Expression grammar::arrayOf(std::vector<Expression> first, Expression each,
                            uint32_t least, uint32_t most, JsonRules &json,
                            Rules &rules, const std::string &place) {
  if (most == 0)
    return json.brackets(textOf(""));
  auto count = static_cast<uint32_t>(first.size());
  auto beyond = [&](uint32_t bound, uint32_t taken) {
    return bound == kNoLimit ? kNoLimit : bound - std::min(bound, taken);
  };
  if (count == 0) {
    Expression more = repeat(sequence({json.comma(), each}), beyond(least, 1),
                             beyond(most, 1));
    Expression items = sequence({each, std::move(more)});
    return json.brackets(least == 0 ? optional(std::move(items))
                                    : std::move(items));
  }
  // What follows the items before, from the end.
  Expression rest = textOf("");
  if (most > count)
    rest = repeat(sequence({json.comma(), each}), beyond(least, count),
                  beyond(most, count));
  for (uint32_t i = std::min(count, most); i-- > 0;) {
    Expression own = sequence({first[i], std::move(rest)});
    if (i > 0)
      own = sequence({json.comma(), std::move(own)});
    if (i >= least)
      own = optional(std::move(own));
    rest = call(rules.add(place, std::move(own)));
  }
  return json.brackets(std::move(rest));
}
