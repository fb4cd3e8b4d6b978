#include "runtime/src/grammar/TextFormats.h"

using namespace effc::rt;
using namespace effc::rt::grammar;

static Expression digit(char first, char last) {
  return oneOf({{static_cast<uint32_t>(first), static_cast<uint32_t>(last)}});
}

/// Two digits from 00 or 01 to a number below 100.
static Expression upTo(char tens, char ones, bool withZero) {
  std::vector<Expression> choices;
  choices.push_back(sequence({textOf("0"), digit(withZero ? '0' : '1', '9')}));
  if (tens > '1')
    choices.push_back(
        sequence({digit('1', static_cast<char>(tens - 1)), digit('0', '9')}));
  choices.push_back(sequence({textOf(std::string(1, tens)), digit('0', ones)}));
  return choice(std::move(choices));
}

static Expression monthOf(std::vector<std::string> months, Expression days) {
  std::vector<Expression> choices;
  for (std::string &month : months)
    choices.push_back(textOf(std::move(month)));
  return sequence({choice(std::move(choices)), textOf("-"), std::move(days)});
}

static Expression date() {
  Expression year = sequence({digit('1', '9'), repeat(digit('0', '9'), 3, 3)});
  return sequence(
      {std::move(year), textOf("-"),
       choice({monthOf({"01", "03", "05", "07", "08", "10", "12"},
                       upTo('3', '1', false)),
               monthOf({"04", "06", "09", "11"}, upTo('3', '0', false)),
               monthOf({"02"}, upTo('2', '8', false))})});
}

static Expression time() {
  Expression hour = upTo('2', '3', true), minute = upTo('5', '9', true);
  Expression fraction =
      optional(sequence({textOf("."), repeat(digit('0', '9'), 1, 6)}));
  Expression zone = choice(
      {textOf("Z"),
       sequence({oneOf({{'+', '+'}, {'-', '-'}}), hour, textOf(":"), minute})});
  return sequence({hour, textOf(":"), minute, textOf(":"), minute,
                   std::move(fraction), std::move(zone)});
}

static Expression uuid() {
  Expression hex = oneOf({{'0', '9'}, {'a', 'f'}});
  std::vector<Expression> parts;
  for (uint32_t count : {8u, 4u, 4u, 4u, 12u}) {
    if (!parts.empty())
      parts.push_back(textOf("-"));
    parts.push_back(repeat(hex, count, count));
  }
  return sequence(std::move(parts));
}

std::optional<Expression> grammar::formatNamed(std::string_view format) {
  if (format == "date")
    return date();
  if (format == "time")
    return time();
  if (format == "date-time")
    return sequence({date(), textOf("T"), time()});
  if (format == "uuid")
    return uuid();
  return std::nullopt;
}
