#include "runtime/src/chat/jinja/Filters.h"
#include "runtime/src/chat/jinja/Operators.h"
#include "runtime/src/chat/jinja/Renderer.h"
#include "runtime/src/chat/jinja/Tests.h"

using namespace effc::rt;
using namespace effc::rt::jinja;

Value Renderer::evaluate(const Expression &expression, Scope &scope) {
  Machine::Frame frame(machine);
  if (!machine.step())
    return {};
  Value value = evaluateOne(expression, scope);
  return machine.failed() ? Value() : value;
}

Value Renderer::evaluateOne(const Expression &expression, Scope &scope) {
  auto part = [&](size_t index) {
    return evaluate(*expression.parts[index], scope);
  };
  switch (expression.form) {
  case Expression::Constant:
    return expression.value;
  case Expression::Name:
    return evaluateName(expression, scope);
  case Expression::Tuple:
  case Expression::List:
    return evaluateList(expression, scope);
  case Expression::Dictionary:
    return evaluateMapping(expression, scope);
  case Expression::Attribute: {
    Value object = part(0);
    machine.line = expression.line;
    return attribute(machine, object, expression.name);
  }
  case Expression::Item:
    return evaluateItem(expression, scope);
  case Expression::Slice:
    return machine.unsupported("expected a slice of a text or a list");
  case Expression::Call:
    return evaluateCall(expression, scope, nullptr);
  case Expression::Filter:
    return evaluateFilters(expression, {}, scope);
  case Expression::Test:
    return evaluateTest(expression, scope);
  case Expression::Not:
    return !isTrue(part(0));
  case Expression::Negative:
    return negative(machine, part(0));
  case Expression::Positive: {
    Value value = part(0);
    if (!value.isNumber())
      return machine.refuse("expected a number after '+', but found ",
                            value.description());
    return value.is(Kind::Boolean) ? Value(value.whole()) : value;
  }
  case Expression::And: {
    Value left = part(0);
    return isTrue(left) ? part(1) : left;
  }
  case Expression::Or: {
    Value left = part(0);
    return isTrue(left) ? left : part(1);
  }
  case Expression::Conditional:
    if (isTrue(part(0)))
      return part(1);
    return expression.parts[2]
               ? part(2)
               : Value::undefined("the value of an 'if' without 'else'");
  case Expression::Concatenate:
    return evaluateConcatenation(expression, scope);
  case Expression::Compare:
    return evaluateComparison(expression, scope);
  case Expression::Binary: {
    Value left = part(0), right = part(1);
    machine.line = expression.line;
    if (machine.failed())
      return {};
    return calculate(machine, expression.operators[0], left, right);
  }
  }
  return {};
}

Value Renderer::evaluateName(const Expression &expression, Scope &scope) {
  if (const Value *found = scope.find(expression.name))
    return *found;
  if (!isFunction(expression.name))
    return Value::undefined("'" + expression.name + "'");
  auto function = std::make_shared<Callable>();
  function->name = expression.name;
  return std::shared_ptr<const Callable>(std::move(function));
}

Value Renderer::evaluateList(const Expression &expression, Scope &scope) {
  std::vector<Value> items;
  for (const ExpressionPtr &part : expression.parts)
    items.push_back(evaluate(*part, scope));
  return machine.sequence(expression.form == Expression::List ? Form::List
                                                              : Form::Tuple,
                          std::move(items));
}

Value Renderer::evaluateMapping(const Expression &expression, Scope &scope) {
  auto mapping = std::make_shared<Mapping>();
  for (size_t i = 0; i < expression.parts.size(); i += 2) {
    Value key = evaluate(*expression.parts[i], scope);
    Value value = evaluate(*expression.parts[i + 1], scope);
    if (machine.failed())
      return {};
    if (!key.isText() && !key.is(Kind::Integer))
      return machine.unsupported("expected texts and whole numbers as the keys "
                                 "of a mapping, but found ",
                                 key.description());
    mapping->set(std::move(key), std::move(value));
  }
  return machine.mapping(std::move(mapping));
}

Value Renderer::evaluateItem(const Expression &expression, Scope &scope) {
  Value object = evaluate(*expression.parts[0], scope);
  const Expression &subscript = *expression.parts[1];
  if (subscript.form != Expression::Slice) {
    Value key = evaluate(subscript, scope);
    machine.line = expression.line;
    return machine.failed() ? Value() : item(machine, object, key);
  }
  Value bounds[3];
  for (size_t i = 0; i < 3; ++i)
    bounds[i] = subscript.parts[i] ? evaluate(*subscript.parts[i], scope)
                                   : Value(None());
  machine.line = expression.line;
  if (machine.failed())
    return {};
  return slice(machine, object, bounds[0], bounds[1], bounds[2]);
}

Value Renderer::evaluateComparison(const Expression &expression, Scope &scope) {
  Value left = evaluate(*expression.parts[0], scope);
  for (size_t i = 0; i < expression.operators.size(); ++i) {
    Value right = evaluate(*expression.parts[i + 1], scope);
    machine.line = expression.line;
    if (machine.failed() ||
        !compare(machine, expression.operators[i], left, right))
      return false;
    left = std::move(right);
  }
  return true;
}

Value Renderer::evaluateConcatenation(const Expression &expression,
                                      Scope &scope) {
  Text text;
  for (const ExpressionPtr &part : expression.parts) {
    Value value = evaluate(*part, scope);
    if (machine.failed())
      return {};
    text.append(toText(machine, value));
    if (text.size() > kMostTextBytes)
      break;
  }
  return machine.text(std::move(text));
}

/// `input` stands for what the innermost filter is applied to in a block of text.
Value Renderer::evaluateFilters(const Expression &expression,
                                const Value &input, Scope &scope) {
  const ExpressionPtr &inner = expression.parts[0];
  Value value = input;
  if (inner && inner->form == Expression::Filter)
    value = evaluateFilters(*inner, input, scope);
  else if (inner)
    value = evaluate(*inner, scope);
  Arguments arguments = evaluateArguments(expression.call, scope);
  machine.line = expression.line;
  if (machine.failed())
    return {};
  return applyFilter(machine, expression.name, value, arguments);
}

bool Renderer::evaluateTest(const Expression &expression, Scope &scope) {
  Value value = evaluate(*expression.parts[0], scope);
  Arguments arguments = evaluateArguments(expression.call, scope);
  machine.line = expression.line;
  return !machine.failed() &&
         applyTest(machine, expression.name, value, arguments);
}
