// Truth, equality, order, arithmetic.

#include "runtime/src/chat/jinja/Operators.h"

#include <algorithm>
#include <cmath>

using namespace effc::rt;
using namespace effc::rt::jinja;

bool jinja::isTrue(const Value &value) {
  switch (value.kind()) {
  case Kind::Undefined:
  case Kind::None:
    return false;
  case Kind::Boolean:
  case Kind::Integer:
    return value.whole() != 0;
  case Kind::Float:
    return value.number() != 0;
  case Kind::Text:
    return !value.text().empty();
  case Kind::Sequence:
    return value.sequence().form == Form::Generator ||
           !value.sequence().items.empty();
  case Kind::Mapping:
    return value.mapping().size() > 0;
  case Kind::Namespace:
  case Kind::Callable:
  case Kind::Loop:
    return true;
  }
  return false;
}

static bool areEqualNumbers(const Value &left, const Value &right) {
  if (left.isWhole() && right.isWhole())
    return left.whole() == right.whole();
  return left.number() == right.number();
}

bool jinja::areEqual(Machine &machine, const Value &left, const Value &right) {
  if (!machine.step())
    return false;
  if (left.isNumber() && right.isNumber())
    return areEqualNumbers(left, right);
  if (left.kind() != right.kind())
    return false;
  switch (left.kind()) {
  case Kind::Text:
    return left.text().bytes() == right.text().bytes() &&
           machine.reads(left.text().size());
  case Kind::Sequence: {
    const Sequence &ones = left.sequence(), &others = right.sequence();
    if (&ones == &others)
      return true;
    // Views and generators are compared by what they are, not by what they give.
    if (ones.form != others.form || ones.form == Form::View ||
        ones.form == Form::Generator ||
        ones.items.size() != others.items.size())
      return false;
    for (size_t i = 0; i < ones.items.size(); ++i)
      if (!areEqual(machine, ones.items[i], others.items[i]))
        return false;
    return true;
  }
  case Kind::Mapping: {
    const Mapping &ones = left.mapping(), &others = right.mapping();
    if (ones.size() != others.size())
      return false;
    for (const Mapping::Entry &entry : ones.entries()) {
      const Value *other = others.find(entry.key);
      if (!other || !areEqual(machine, entry.value, *other))
        return false;
    }
    return true;
  }
  case Kind::Namespace:
    return &left.space() == &right.space();
  case Kind::Callable:
    return &left.callable() == &right.callable();
  case Kind::Loop:
    return left.loop() == right.loop();
  default:
    return true; // undefined and undefined, none and none
  }
}

bool jinja::contains(Machine &machine, const Value &container,
                     const Value &item) {
  switch (container.kind()) {
  case Kind::Undefined:
    return false;
  case Kind::Text:
    if (!item.isText()) {
      machine.refuse("expected a text before 'in' a text, but found ",
                     item.description());
      return false;
    }
    machine.reads(container.text().size());
    return container.text().bytes().find(item.text().bytes()) !=
           std::string::npos;
  case Kind::Mapping:
    if (item.is(Kind::Mapping) ||
        (item.is(Kind::Sequence) && item.sequence().form == Form::List))
      machine.refuse("expected a key before 'in' a mapping, but found ",
                     item.description());
    return container.mapping().find(item) != nullptr;
  case Kind::Sequence: {
    std::vector<Value> items = iterate(machine, container);
    return std::any_of(items.begin(), items.end(), [&](const Value &one) {
      return areEqual(machine, one, item);
    });
  }
  default:
    machine.refuse(
        "expected a text, a list or a mapping after 'in', but found ",
        container.description());
    return false;
  }
}

/// -1, 0 or 1; 2 where a number is none.
static int orderOf(Machine &machine, const Value &left, const Value &right) {
  if (left.isWhole() && right.isWhole())
    return left.whole() < right.whole() ? -1 : left.whole() > right.whole();
  if (left.isNumber() && right.isNumber()) {
    double one = left.number(), other = right.number();
    return one < other ? -1 : one > other ? 1 : one == other ? 0 : 2;
  }
  if (left.isText() && right.isText()) {
    machine.reads(std::min(left.text().size(), right.text().size()));
    // The order of bytes of UTF-8 is that of code points.
    int order = left.text().bytes().compare(right.text().bytes());
    return order < 0 ? -1 : order > 0;
  }
  machine.refuse("expected two numbers or two texts to compare, but found ",
                 left.description(), " and ", right.description());
  return 2;
}

bool jinja::compare(Machine &machine, Operator op, const Value &left,
                    const Value &right) {
  switch (op) {
  case Operator::Equal:
    return areEqual(machine, left, right);
  case Operator::NotEqual:
    return !areEqual(machine, left, right);
  case Operator::In:
    return contains(machine, right, left);
  case Operator::NotIn:
    return !contains(machine, right, left);
  default:
    break;
  }
  int order = orderOf(machine, left, right);
  if (order == 2)
    return false;
  switch (op) {
  case Operator::Less:
    return order < 0;
  case Operator::LessEqual:
    return order <= 0;
  case Operator::Greater:
    return order > 0;
  default:
    return order >= 0;
  }
}

/// Python's whole numbers have no end; here they have 64 bits.
static Value overflow(Machine &machine) {
  return machine.unsupported(
      "expected whole numbers of 64 bits, but a result is "
      "beyond");
}

static Value power(Machine &machine, const Value &left, const Value &right) {
  if (!left.isWhole() || !right.isWhole() || right.whole() < 0)
    return std::pow(left.number(), right.number());
  int64_t result = 1, base = left.whole(), exponent = right.whole();
  if (base >= -1 && base <= 1)
    return base == -1 && exponent % 2 == 0 ? int64_t(1)
           : exponent == 0                 ? int64_t(1)
                                           : base;
  for (; exponent > 0; --exponent)
    if (__builtin_mul_overflow(result, base, &result))
      return overflow(machine);
  return result;
}

static Value calculateWhole(Machine &machine, Operator op, int64_t left,
                            int64_t right) {
  int64_t result = 0;
  switch (op) {
  case Operator::Add:
    if (__builtin_add_overflow(left, right, &result))
      return overflow(machine);
    return result;
  case Operator::Subtract:
    if (__builtin_sub_overflow(left, right, &result))
      return overflow(machine);
    return result;
  case Operator::Multiply:
    if (__builtin_mul_overflow(left, right, &result))
      return overflow(machine);
    return result;
  default:
    break;
  }
  // Division rounds down in Python, and a remainder has the sign of the divisor.
  if (right == -1 && left == INT64_MIN)
    return op == Operator::Remainder ? Value(int64_t(0)) : overflow(machine);
  int64_t quotient = left / right, remainder = left % right;
  bool isDown = remainder != 0 && (remainder < 0) != (right < 0);
  return op == Operator::FloorDivide ? quotient - (isDown ? 1 : 0)
                                     : remainder + (isDown ? right : 0);
}

static Value calculateNumbers(Machine &machine, Operator op, const Value &left,
                              const Value &right) {
  if (op == Operator::Power)
    return power(machine, left, right);
  bool divides = op == Operator::Divide || op == Operator::FloorDivide ||
                 op == Operator::Remainder;
  if (divides && right.number() == 0)
    return machine.refuse("expected a divisor other than 0, but found 0");
  if (left.isWhole() && right.isWhole() && op != Operator::Divide)
    return calculateWhole(machine, op, left.whole(), right.whole());
  double one = left.number(), other = right.number();
  double remainder = divides ? std::fmod(one, other) : 0;
  if (remainder != 0 && (remainder < 0) != (other < 0))
    remainder += other;
  switch (op) {
  case Operator::Add:
    return one + other;
  case Operator::Subtract:
    return one - other;
  case Operator::Multiply:
    return one * other;
  case Operator::Divide:
    return one / other;
  case Operator::Remainder:
    return remainder == 0 ? std::copysign(0.0, other) : remainder;
  default:
    return std::floor((one - remainder) / other + 0.5);
  }
}

/// A text or list `count` times.
static Value repeat(Machine &machine, const Value &left, int64_t count) {
  size_t times = count < 0 ? 0 : static_cast<size_t>(count);
  if (left.isText()) {
    const Text &text = left.text();
    if (!text.empty() && times > kMostTextBytes / text.size()) {
      machine.makes(kMostTextBytes + 1);
      return {};
    }
    Text repeated;
    for (size_t i = 0; i < times && !text.empty(); ++i)
      repeated.append(text);
    repeated.isSafe = text.isSafe;
    return machine.text(std::move(repeated));
  }
  const Sequence &from = left.sequence();
  std::vector<Value> items;
  for (size_t i = 0; i < times && !from.items.empty(); ++i) {
    if (!machine.step(from.items.size()))
      return {};
    items.insert(items.end(), from.items.begin(), from.items.end());
  }
  return machine.sequence(from.form, std::move(items));
}

static void appendEscaped(Text &to, const Text &from) {
  if (from.isSafe)
    return to.append(from);
  for (size_t at = 0; at < from.size(); ++at) {
    char byte = from.bytes()[at];
    const char *escaped = byte == '&'    ? "&amp;"
                          : byte == '<'  ? "&lt;"
                          : byte == '>'  ? "&gt;"
                          : byte == '\'' ? "&#39;"
                          : byte == '"'  ? "&#34;"
                                         : nullptr;
    if (escaped)
      to.appendFor(escaped, from, at);
    else
      to.append(from, at, at + 1);
  }
}

static Value addTexts(Machine &machine, const Text &left, const Text &right) {
  if (!machine.makes(left.size() + right.size()))
    return {};
  Text sum;
  sum.isSafe = left.isSafe || right.isSafe;
  if (sum.isSafe) {
    appendEscaped(sum, left);
    appendEscaped(sum, right);
  } else {
    sum.append(left);
    sum.append(right);
  }
  return TextRef(std::make_shared<Text>(std::move(sum)));
}

static bool isListOrTuple(const Value &value) {
  return value.is(Kind::Sequence) && (value.sequence().form == Form::List ||
                                      value.sequence().form == Form::Tuple);
}

static const char *spelling(Operator op) {
  static constexpr const char *kSpellings[] = {"+",  "-", "*", "/",
                                               "//", "%", "**"};
  return kSpellings[static_cast<size_t>(op)];
}

Value jinja::calculate(Machine &machine, Operator op, const Value &left,
                       const Value &right) {
  if (left.isNumber() && right.isNumber())
    return calculateNumbers(machine, op, left, right);
  if (op == Operator::Add && left.isText() && right.isText())
    return addTexts(machine, left.text(), right.text());
  if (op == Operator::Add && isListOrTuple(left) && isListOrTuple(right) &&
      left.sequence().form == right.sequence().form) {
    std::vector<Value> items = left.sequence().items;
    const std::vector<Value> &more = right.sequence().items;
    items.insert(items.end(), more.begin(), more.end());
    return machine.sequence(left.sequence().form, std::move(items));
  }
  if (op == Operator::Multiply) {
    if ((left.isText() || isListOrTuple(left)) && right.isWhole())
      return repeat(machine, left, right.whole());
    if ((right.isText() || isListOrTuple(right)) && left.isWhole())
      return repeat(machine, right, left.whole());
  }
  if (op == Operator::Remainder && left.isText())
    return machine.unsupported("expected '%' between numbers, but found a text "
                               "to fill in, which is not understood");
  return machine.refuse("expected values that '", spelling(op),
                        "' takes, but found ", left.description(), " and ",
                        right.description());
}

Value jinja::negative(Machine &machine, const Value &value) {
  if (value.is(Kind::Float))
    return -value.number();
  if (!value.isWhole())
    return machine.refuse("expected a number after '-', but found ",
                          value.description());
  if (value.whole() == INT64_MIN)
    return overflow(machine);
  return -value.whole();
}
