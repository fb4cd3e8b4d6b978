// Tags and the text between them.

#include "runtime/src/chat/jinja/Filters.h"
#include "runtime/src/chat/jinja/Parser.h"
#include "runtime/src/tokenizer/Utf8.h"

#include <algorithm>

using namespace effc::rt;
using namespace effc::rt::jinja;

static std::string describe(const Token &token) {
  switch (token.form) {
  case Token::Data:
    return "text outside of tags";
  case Token::VariableBegin:
    return "'{{'";
  case Token::VariableEnd:
    return "'}}'";
  case Token::BlockBegin:
    return "'{%'";
  case Token::BlockEnd:
    return "'%}'";
  case Token::String:
    return "a text between quotes";
  case Token::Integer:
  case Token::Float:
    return "a number";
  case Token::Name:
  case Token::Operator:
    return "'" + token.text + "'";
  case Token::End:
    return "the end of the template";
  }
  return "";
}

void Parser::refuseAt(unsigned line, effc_status_code_t code,
                      const std::string &message) {
  if (error)
    return;
  error = fail(code, "line ", line, ": ", message);
  at = tokens.size() - 1;
}

void Parser::refuse(const std::string &expected) {
  refuseAt(current().line, EFFC_BAD_DATA,
           "expected " + expected + ", but found " + describe(current()));
}

bool Parser::enter() {
  if (++level <= kMostLevels)
    return true;
  refuseAt(current().line, EFFC_UNSUPPORTED,
           "expected tags and brackets of at most " +
               std::to_string(kMostLevels) + " levels, but found more");
  return false;
}

Token Parser::take() {
  Token token = current();
  if (at + 1 < tokens.size())
    ++at;
  return token;
}

bool Parser::skipName(std::string_view spelled) {
  bool found = current().isName(spelled);
  if (found)
    take();
  return found;
}

bool Parser::skipOperator(std::string_view spelled) {
  bool found = current().isOperator(spelled);
  if (found)
    take();
  return found;
}

void Parser::expectOperator(std::string_view spelled) {
  if (!skipOperator(spelled))
    refuse("'" + std::string(spelled) + "'");
}

void Parser::expectName(std::string_view spelled) {
  if (!skipName(spelled))
    refuse("'" + std::string(spelled) + "'");
}

void Parser::expect(Token::Form form) {
  if (current().form == form)
    take();
  else
    refuse(describe({form, 0, {}}));
}

std::string Parser::expectAnyName(const char *what) {
  if (current().form == Token::Name)
    return take().text;
  refuse(what);
  return {};
}

Result<Body> Parser::run() {
  Body body = parseBody({});
  if (!error && !unknown.empty())
    refuseAt(unknown[0].first, EFFC_UNSUPPORTED, unknown[0].second);
  if (error)
    return *error;
  return body;
}

/// Up to the tag that one of `ends` names, which becomes the current token.
/// Without `ends` up to the end of the template.
Body Parser::parseBody(std::initializer_list<std::string_view> ends) {
  Body body;
  auto add = [&](Statement::Form form) -> Statement & {
    body.push_back(std::make_unique<Statement>());
    body.back()->form = form;
    body.back()->line = current().line;
    return *body.back();
  };
  while (!error && current().form != Token::End) {
    if (current().form == Token::Data) {
      Statement &statement = add(Statement::Data);
      statement.text = std::make_shared<Text>(take().text);
    } else if (current().form == Token::VariableBegin) {
      Statement &statement = add(Statement::Output);
      take();
      statement.value = parseTuple(true, false);
      expect(Token::VariableEnd);
    } else {
      expect(Token::BlockBegin);
      if (std::any_of(ends.begin(), ends.end(), [&](std::string_view end) {
            return current().isName(end);
          }))
        return body;
      parseStatement(body);
      expect(Token::BlockEnd);
    }
  }
  if (ends.size() > 0)
    refuse("'{% " + std::string(*(ends.end() - 1)) + " %}'");
  return body;
}

Body Parser::parseInner(std::initializer_list<std::string_view> ends,
                        bool isLoop) {
  bool outerLoop = std::exchange(inLoop, isLoop);
  bool outerLate = std::exchange(late, false);
  skipOperator(":");
  expect(Token::BlockEnd);
  Body body = parseBody(ends);
  inLoop = outerLoop;
  late = outerLate;
  return body;
}

void Parser::parseStatement(Body &body) {
  if (!enter())
    return;
  unsigned line = current().line;
  std::string tag = expectAnyName("the name of a tag");
  auto statement = std::make_unique<Statement>();
  statement->line = line;
  static constexpr std::string_view kRefused[] = {
      "autoescape", "block",  "debug",   "do",        "extends",
      "from",       "import", "include", "pluralize", "trans"};
  if (tag == "set") {
    parseSet(*statement);
  } else if (tag == "for") {
    parseFor(*statement);
  } else if (tag == "if") {
    parseIf(*statement);
  } else if (tag == "macro") {
    parseMacro(*statement);
  } else if (tag == "call") {
    parseCallBlock(*statement);
  } else if (tag == "filter") {
    parseFilterBlock(*statement);
  } else if (tag == "with") {
    parseWith(*statement);
  } else if (tag == "print") {
    parsePrint(body);
    statement = nullptr;
  } else if (tag == "generation") {
    // What the assistant wrote, for those who train on it; here it is its text.
    statement->form = Statement::Inner;
    statement->body = parseInner({"endgeneration"}, false);
    expectName("endgeneration");
  } else if (tag == "break" || tag == "continue") {
    statement->form = tag == "break" ? Statement::Break : Statement::Continue;
    if (!inLoop)
      refuseAt(line, EFFC_BAD_DATA,
               "expected '" + tag + "' within a loop, but found it outside");
  } else if (std::find(std::begin(kRefused), std::end(kRefused), tag) !=
             std::end(kRefused)) {
    refuseAt(line, EFFC_UNSUPPORTED,
             "expected a tag that is understood, but found '" + tag + "'");
  } else {
    refuseAt(line, EFFC_BAD_DATA,
             "expected the name of a tag, but found '" + tag + "'");
  }
  if (statement)
    body.push_back(std::move(statement));
  --level;
}

/// A name, a tuple of such, or an attribute of a namespace.
ExpressionPtr Parser::parseTarget(bool withNamespace) {
  auto one = [&]() -> ExpressionPtr {
    unsigned line = current().line;
    if (skipOperator("(")) {
      ExpressionPtr inner =
          enter() ? parseTarget(false) : make(Expression::Name, line);
      --level;
      expectOperator(")");
      return inner;
    }
    ExpressionPtr node = make(Expression::Name, line);
    static constexpr std::string_view kWords[] = {"true", "false", "none",
                                                  "True", "False", "None"};
    if (std::find(std::begin(kWords), std::end(kWords), current().text) !=
        std::end(kWords))
      refuse("a name to assign to");
    node->name = expectAnyName("a name to assign to");
    if (!withNamespace || !skipOperator("."))
      return node;
    ExpressionPtr attribute = make(Expression::Attribute, line);
    attribute->name = expectAnyName("the name of an attribute");
    adopt(*attribute, std::move(node));
    return attribute;
  };
  ExpressionPtr first = one();
  if (!current().isOperator(","))
    return first;
  ExpressionPtr tuple = make(Expression::Tuple, first->line);
  adopt(*tuple, std::move(first));
  while (!error && skipOperator(",")) {
    if (current().isName("in") || current().isOperator(")") ||
        current().isOperator("=") || current().form == Token::BlockEnd)
      break;
    adopt(*tuple, one());
  }
  return tuple;
}

void Parser::parseSet(Statement &statement) {
  statement.target = parseTarget(true);
  if (!skipOperator("="))
    return parseSetBlock(statement);
  statement.form = Statement::Set;
  statement.value = parseTuple(true, false);
}

void Parser::parseSetBlock(Statement &statement) {
  statement.form = Statement::SetBlock;
  while (!error && skipOperator("|"))
    statement.value = parseFilter(std::move(statement.value));
  statement.body = parseInner({"endset"}, false);
  expectName("endset");
}

void Parser::parseFor(Statement &statement) {
  statement.form = Statement::For;
  statement.target = parseTarget(false);
  expectName("in");
  statement.value = parseTuple(false, false);
  if (skipName("if"))
    statement.test = parseExpression();
  if (current().isName("recursive"))
    return refuseAt(current().line, EFFC_UNSUPPORTED,
                    "expected a loop without 'recursive', which is not "
                    "understood");
  statement.body = parseInner({"else", "endfor"}, true);
  if (skipName("else"))
    statement.otherwise = parseInner({"endfor"}, inLoop);
  expectName("endfor");
}

/// A chain of `elif` becomes a chain of conditions, each in the `otherwise` of
/// the one before.
void Parser::parseIf(Statement &statement) {
  bool outer = std::exchange(late, true);
  Statement *last = &statement;
  for (unsigned branches = 1; !error; ++branches) {
    if (branches > kMostBranches)
      refuseAt(current().line, EFFC_UNSUPPORTED,
               "expected at most " + std::to_string(kMostBranches) +
                   " branches of one condition, but found more");
    last->form = Statement::If;
    last->test = parseTuple(false, false);
    skipOperator(":");
    expect(Token::BlockEnd);
    last->body = parseBody({"elif", "else", "endif"});
    if (!current().isName("elif"))
      break;
    last->otherwise.push_back(std::make_unique<Statement>());
    last = last->otherwise.back().get();
    last->line = take().line;
  }
  if (skipName("else")) {
    skipOperator(":");
    expect(Token::BlockEnd);
    last->otherwise = parseBody({"endif"});
  }
  expectName("endif");
  late = outer;
}

void Parser::parseSignature(Macro &macro) {
  expectOperator("(");
  while (!error && !current().isOperator(")")) {
    if (!macro.parameters.empty())
      expectOperator(",");
    macro.parameters.push_back(expectAnyName("the name of a parameter"));
    if (skipOperator("="))
      macro.defaults.push_back(parseExpression());
    else if (!macro.defaults.empty())
      refuse("a default, since the parameter before has one");
  }
  expectOperator(")");
}

void Parser::parseMacroBody(Macro &macro, std::string_view end) {
  macros.push_back(&macro);
  macro.body = parseInner({end}, false);
  macros.pop_back();
  expectName(end);
}

void Parser::parseMacro(Statement &statement) {
  statement.form = Statement::DefineMacro;
  statement.macro.name = expectAnyName("the name of a macro");
  parseSignature(statement.macro);
  parseMacroBody(statement.macro, "endmacro");
}

void Parser::parseCallBlock(Statement &statement) {
  statement.form = Statement::CallBlock;
  statement.macro.name = "caller";
  if (current().isOperator("("))
    parseSignature(statement.macro);
  statement.value = parseExpression();
  if (!error && statement.value->form != Expression::Call)
    refuseAt(statement.line, EFFC_BAD_DATA,
             "expected a call of a macro after 'call', but found none");
  parseMacroBody(statement.macro, "endcall");
}

void Parser::parseFilterBlock(Statement &statement) {
  statement.form = Statement::FilterBlock;
  do
    statement.value = parseFilter(std::move(statement.value));
  while (!error && skipOperator("|"));
  statement.body = parseInner({"endfilter"}, false);
  expectName("endfilter");
}

void Parser::parseWith(Statement &statement) {
  statement.form = Statement::With;
  while (!error && current().form != Token::BlockEnd) {
    if (!statement.targets.empty())
      expectOperator(",");
    statement.targets.push_back(parseTarget(false));
    expectOperator("=");
    statement.values.push_back(parseExpression());
  }
  statement.body = parseInner({"endwith"}, inLoop);
  expectName("endwith");
}

void Parser::parsePrint(Body &body) {
  do {
    body.push_back(std::make_unique<Statement>());
    body.back()->form = Statement::Output;
    body.back()->line = current().line;
    body.back()->value = parseExpression();
  } while (!error && skipOperator(","));
}

Result<Body> jinja::parse(std::string_view source) {
  Result<std::vector<Token>> tokens = tokenize(makeValidUtf8(source));
  if (!tokens)
    return tokens.error();
  return Parser(std::move(*tokens)).run();
}
