// Expressions, by jinja2's precedence: conditional, or, and, not, comparisons,
// + and -, ~, products, powers, signs, then calls, filters and tests.

#include "runtime/src/chat/jinja/Filters.h"
#include "runtime/src/chat/jinja/Parser.h"
#include "runtime/src/chat/jinja/Tests.h"

#include <algorithm>

using namespace effc::rt;
using namespace effc::rt::jinja;

ExpressionPtr Parser::make(Expression::Form form, unsigned line) {
  auto node = std::make_unique<Expression>();
  node->form = form;
  node->line = line;
  return node;
}

void Parser::adopt(Expression &parent, ExpressionPtr part) {
  if (part) {
    parent.height = std::max(parent.height, part->height + 1);
    if (parent.height > kMostHeight)
      refuseAt(parent.line, EFFC_UNSUPPORTED,
               "expected an expression of at most " +
                   std::to_string(kMostHeight) + " levels, but found more");
  }
  parent.parts.push_back(std::move(part));
}

ExpressionPtr Parser::parseExpression() {
  if (!enter())
    return make(Expression::Constant, current().line);
  size_t known = unknown.size();
  ExpressionPtr node = parseOr();
  while (skipName("if")) {
    ExpressionPtr whole = make(Expression::Conditional, current().line);
    adopt(*whole, parseOr());
    adopt(*whole, std::move(node));
    adopt(*whole, skipName("else") ? parseExpression() : nullptr);
    node = std::move(whole);
    unknown.resize(known); // all of its parts are looked up late
  }
  --level;
  return node;
}

ExpressionPtr Parser::parseOr() {
  ExpressionPtr left = parseAnd();
  while (skipName("or")) {
    ExpressionPtr node = make(Expression::Or, current().line);
    adopt(*node, std::move(left));
    adopt(*node, parseAnd());
    left = std::move(node);
  }
  return left;
}

ExpressionPtr Parser::parseAnd() {
  ExpressionPtr left = parseNot();
  while (skipName("and")) {
    ExpressionPtr node = make(Expression::And, current().line);
    adopt(*node, std::move(left));
    adopt(*node, parseNot());
    left = std::move(node);
  }
  return left;
}

ExpressionPtr Parser::parseNot() {
  unsigned count = 0, line = current().line;
  while (skipName("not"))
    ++count;
  ExpressionPtr node = parseCompare();
  for (; count > 0 && !error; --count) {
    ExpressionPtr outer = make(Expression::Not, line);
    adopt(*outer, std::move(node));
    node = std::move(outer);
  }
  return node;
}

static std::optional<Operator> operatorOf(const Token &token) {
  static constexpr std::pair<std::string_view, Operator> kTable[] = {
      {"+", Operator::Add},           {"-", Operator::Subtract},
      {"*", Operator::Multiply},      {"/", Operator::Divide},
      {"//", Operator::FloorDivide},  {"%", Operator::Remainder},
      {"**", Operator::Power},        {"==", Operator::Equal},
      {"!=", Operator::NotEqual},     {"<", Operator::Less},
      {"<=", Operator::LessEqual},    {">", Operator::Greater},
      {">=", Operator::GreaterEqual},
  };
  for (const auto &[spelled, found] : kTable)
    if (token.isOperator(spelled))
      return found;
  return std::nullopt;
}

static bool isBetween(std::optional<Operator> found, Operator first,
                      Operator last) {
  return found && *found >= first && *found <= last;
}

ExpressionPtr Parser::parseCompare() {
  ExpressionPtr left = parseSum();
  ExpressionPtr node;
  while (true) {
    std::optional<Operator> found = operatorOf(current());
    if (isBetween(found, Operator::Equal, Operator::GreaterEqual)) {
      take();
    } else if (skipName("in")) {
      found = Operator::In;
    } else if (current().isName("not") && ahead().isName("in")) {
      take();
      take();
      found = Operator::NotIn;
    } else {
      break;
    }
    if (!node) {
      node = make(Expression::Compare, current().line);
      adopt(*node, std::move(left));
    }
    node->operators.push_back(*found);
    adopt(*node, parseSum());
  }
  return node ? std::move(node) : std::move(left);
}

ExpressionPtr Parser::parseSum() {
  ExpressionPtr left = parseConcatenation();
  while (isBetween(operatorOf(current()), Operator::Add, Operator::Subtract)) {
    ExpressionPtr node = make(Expression::Binary, current().line);
    node->operators.push_back(*operatorOf(take()));
    adopt(*node, std::move(left));
    adopt(*node, parseConcatenation());
    left = std::move(node);
  }
  return left;
}

ExpressionPtr Parser::parseConcatenation() {
  ExpressionPtr left = parseProduct();
  if (!current().isOperator("~"))
    return left;
  ExpressionPtr node = make(Expression::Concatenate, current().line);
  adopt(*node, std::move(left));
  while (skipOperator("~"))
    adopt(*node, parseProduct());
  return node;
}

ExpressionPtr Parser::parseProduct() {
  ExpressionPtr left = parsePower();
  while (isBetween(operatorOf(current()), Operator::Multiply,
                   Operator::Remainder)) {
    ExpressionPtr node = make(Expression::Binary, current().line);
    node->operators.push_back(*operatorOf(take()));
    adopt(*node, std::move(left));
    adopt(*node, parsePower());
    left = std::move(node);
  }
  return left;
}

ExpressionPtr Parser::parsePower() {
  ExpressionPtr left = parseUnary(true);
  while (current().isOperator("**")) {
    ExpressionPtr node = make(Expression::Binary, current().line);
    node->operators.push_back(*operatorOf(take()));
    adopt(*node, std::move(left));
    adopt(*node, parseUnary(true));
    left = std::move(node);
  }
  return left;
}

ExpressionPtr Parser::parseUnary(bool withFilters) {
  ExpressionPtr node;
  unsigned line = current().line;
  if (current().isOperator("-") || current().isOperator("+")) {
    node = make(
        take().text == "-" ? Expression::Negative : Expression::Positive, line);
    if (!enter())
      return node;
    adopt(*node, parseUnary(false));
    --level;
  } else {
    node = parsePrimary();
  }
  node = parsePostfix(std::move(node));
  if (withFilters)
    node = parseFilters(std::move(node));
  return node;
}

ExpressionPtr Parser::parsePrimary() {
  Token token = current();
  ExpressionPtr node = make(Expression::Constant, token.line);
  switch (token.form) {
  case Token::Name:
    take();
    if (token.text == "true" || token.text == "True") {
      node->value = true;
    } else if (token.text == "false" || token.text == "False") {
      node->value = false;
    } else if (token.text == "none" || token.text == "None") {
      node->value = None();
    } else {
      node->form = Expression::Name;
      node->name = token.text;
      for (Macro *macro : macros) {
        macro->takesMore |= token.text == "varargs";
        macro->takesMoreNamed |= token.text == "kwargs";
        macro->takesCaller |= token.text == "caller";
      }
    }
    return node;
  case Token::String: {
    std::string text;
    while (current().form == Token::String)
      text += take().text;
    node->value = Value::own(std::move(text));
    return node;
  }
  case Token::Integer:
    take();
    node->value = token.whole;
    return node;
  case Token::Float:
    take();
    node->value = token.number;
    return node;
  default:
    break;
  }
  if (skipOperator("(")) {
    node = parseTuple(true, true);
    expectOperator(")");
  } else if (skipOperator("[")) {
    node->form = Expression::List;
    while (!error && !current().isOperator("]")) {
      if (!node->parts.empty()) {
        expectOperator(",");
        if (current().isOperator("]"))
          break;
      }
      adopt(*node, parseExpression());
    }
    expectOperator("]");
  } else if (current().isOperator("{")) {
    node = parseDictionary();
  } else {
    refuse("a value");
  }
  return node;
}

ExpressionPtr Parser::parseDictionary() {
  ExpressionPtr node = make(Expression::Dictionary, take().line);
  while (!error && !current().isOperator("}")) {
    if (!node->parts.empty()) {
      expectOperator(",");
      if (current().isOperator("}"))
        break;
    }
    adopt(*node, parseExpression());
    expectOperator(":");
    adopt(*node, parseExpression());
  }
  expectOperator("}");
  return node;
}

bool Parser::atTupleEnd() const {
  return current().form == Token::VariableEnd ||
         current().form == Token::BlockEnd || current().isOperator(")") ||
         current().isName("recursive");
}

ExpressionPtr Parser::parseTuple(bool withConditions, bool mayBeEmpty) {
  unsigned line = current().line;
  ExpressionPtr tuple = make(Expression::Tuple, line);
  bool isTuple = false;
  while (!error) {
    if (!tuple->parts.empty())
      expectOperator(",");
    if (atTupleEnd())
      break;
    ExpressionPtr part = withConditions ? parseExpression() : parseOr();
    if (!isTuple && !current().isOperator(","))
      return part;
    adopt(*tuple, std::move(part));
    isTuple = true;
    if (!current().isOperator(","))
      break;
  }
  if (!isTuple && !mayBeEmpty)
    refuse("an expression");
  return tuple;
}

ExpressionPtr Parser::parsePostfix(ExpressionPtr node) {
  while (!error) {
    if (current().isOperator(".") || current().isOperator("["))
      node = parseSubscript(std::move(node));
    else if (current().isOperator("("))
      node = parseCallOf(std::move(node));
    else
      break;
  }
  return node;
}

ExpressionPtr Parser::parseFilters(ExpressionPtr node) {
  while (!error) {
    if (skipOperator("|"))
      node = parseFilter(std::move(node));
    else if (skipName("is"))
      node = parseTest(std::move(node));
    else if (current().isOperator("("))
      node = parseCallOf(std::move(node));
    else
      break;
  }
  return node;
}

/// jinja2 refuses an unknown filter or test when it reads the template, but in
/// the branches of a condition when it comes there.
void Parser::checkName(const char *what, const std::string &name, bool known) {
  if (!known && !late)
    unknown.push_back({current().line, std::string("expected a ") + what +
                                           " that is understood, but found '" +
                                           name + "'"});
}

ExpressionPtr Parser::parseFilter(ExpressionPtr node) {
  ExpressionPtr filter = make(Expression::Filter, current().line);
  filter->name = expectAnyName("the name of a filter");
  checkName("filter", filter->name, isFilter(filter->name));
  adopt(*filter, std::move(node));
  if (current().isOperator("("))
    parseCall(*filter);
  return filter;
}

ExpressionPtr Parser::parseTest(ExpressionPtr node) {
  ExpressionPtr test = make(Expression::Test, current().line);
  bool negated = skipName("not");
  test->name = expectAnyName("the name of a test");
  checkName("test", test->name, isTest(test->name));
  adopt(*test, std::move(node));
  const Token &next = current();
  if (next.isOperator("(")) {
    parseCall(*test);
  } else if (next.isOperator("[") || next.isOperator("{") ||
             next.form == Token::String || next.form == Token::Integer ||
             next.form == Token::Float ||
             (next.form == Token::Name && next.text != "else" &&
              next.text != "or" && next.text != "and")) {
    if (next.isName("is"))
      refuse("an operator between tests");
    ExpressionPtr argument = parsePostfix(parsePrimary());
    test->height = std::max(test->height, argument->height + 1);
    test->call.positional.push_back(std::move(argument));
  }
  if (!negated)
    return test;
  ExpressionPtr outer = make(Expression::Not, test->line);
  adopt(*outer, std::move(test));
  return outer;
}

ExpressionPtr Parser::parseSubscript(ExpressionPtr node) {
  unsigned line = current().line;
  ExpressionPtr item = make(Expression::Item, line);
  if (skipOperator(".")) {
    if (current().form == Token::Integer) {
      ExpressionPtr index = make(Expression::Constant, line);
      index->value = take().whole;
      adopt(*item, std::move(node));
      adopt(*item, std::move(index));
      return item;
    }
    item->form = Expression::Attribute;
    item->name = expectAnyName("a name or a number after '.'");
    adopt(*item, std::move(node));
    return item;
  }
  expectOperator("[");
  adopt(*item, std::move(node));
  adopt(*item, parseSubscribed());
  if (current().isOperator(","))
    refuse("']', since several subscripts are not understood");
  expectOperator("]");
  return item;
}

ExpressionPtr Parser::parseSubscribed() {
  ExpressionPtr slice = make(Expression::Slice, current().line);
  ExpressionPtr first;
  if (!current().isOperator(":")) {
    first = parseExpression();
    if (!current().isOperator(":"))
      return first;
  }
  adopt(*slice, std::move(first));
  for (int part = 1; part < 3; ++part) {
    bool isThere = skipOperator(":") && !current().isOperator(":") &&
                   !current().isOperator("]") && !current().isOperator(",");
    adopt(*slice, isThere ? parseExpression() : nullptr);
  }
  return slice;
}

ExpressionPtr Parser::parseCallOf(ExpressionPtr node) {
  ExpressionPtr call = make(Expression::Call, current().line);
  adopt(*call, std::move(node));
  parseCall(*call);
  return call;
}

void Parser::parseCall(Expression &owner) {
  CallSyntax &call = owner.call;
  auto own = [&](ExpressionPtr part) {
    owner.height = std::max(owner.height, part->height + 1);
    return part;
  };
  expectOperator("(");
  bool first = true;
  while (!error && !current().isOperator(")")) {
    if (!first) {
      expectOperator(",");
      if (current().isOperator(")"))
        break;
    }
    first = false;
    if (current().isOperator("*") && !call.spread && !call.spreadNamed) {
      take();
      call.spread = own(parseExpression());
    } else if (current().isOperator("**") && !call.spreadNamed) {
      take();
      call.spreadNamed = own(parseExpression());
    } else if (current().form == Token::Name && ahead().isOperator("=")) {
      std::string name = take().text;
      take();
      if (call.spreadNamed)
        refuse("nothing after '**'");
      call.named.emplace_back(std::move(name), own(parseExpression()));
    } else {
      if (call.spread || call.spreadNamed || !call.named.empty())
        refuse("no argument without a name after one with a name");
      call.positional.push_back(own(parseExpression()));
    }
  }
  expectOperator(")");
}
