//===- Parser.h - From tokens to syntax -----------------------------------===//
//
// Expressions are parsed in ExpressionParser.cpp, statements in
// StatementParser.cpp. The first error stands: from then on the parser reads End
// alone, so that every loop ends.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_PARSER_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_PARSER_H

#include "runtime/src/chat/jinja/Lexer.h"
#include "runtime/src/chat/jinja/Syntax.h"

#include <initializer_list>

namespace effc::rt::jinja {

/// How deep tags and brackets of a template lie in each other; the deepest public
/// templates have 12. More would take the stack of the thread that renders.
constexpr unsigned kMostLevels = 64;
/// Of an expression's tree, in which `a + b + c` has one level for each sign.
constexpr unsigned kMostHeight = 200;
/// Of `if` with `elif`, which lie in each other here; public templates have 8.
constexpr unsigned kMostBranches = 1000;

class Parser {
public:
  explicit Parser(std::vector<Token> tokens) : tokens(std::move(tokens)) {}
  Result<Body> run();

private:
  const Token &current() const { return tokens[at]; }
  const Token &ahead() const {
    return tokens[at + 1 < tokens.size() ? at + 1 : at];
  }
  Token take();
  bool skipName(std::string_view spelled);
  bool skipOperator(std::string_view spelled);
  void expectOperator(std::string_view spelled);
  void expectName(std::string_view spelled);
  void expect(Token::Form form);
  std::string expectAnyName(const char *what);
  void refuse(const std::string &expected);
  void refuseAt(unsigned line, effc_status_code_t code,
                const std::string &message);
  /// False, and refused, where there are too many levels.
  bool enter();

  // Statements.
  Body parseBody(std::initializer_list<std::string_view> ends);
  /// A body with variables of its own: filters in it are looked up before
  /// anything runs. `inLoop`: whether `break` and `continue` may stand in it.
  Body parseInner(std::initializer_list<std::string_view> ends, bool inLoop);
  void parseStatement(Body &body);
  void parseSet(Statement &statement);
  void parseFor(Statement &statement);
  void parseIf(Statement &statement);
  void parseMacro(Statement &statement);
  void parseMacroBody(Macro &macro, std::string_view end);
  void parseSetBlock(Statement &statement);
  void parseCallBlock(Statement &statement);
  void parseFilterBlock(Statement &statement);
  void parseWith(Statement &statement);
  void parseSignature(Macro &macro);
  void parsePrint(Body &body);
  ExpressionPtr parseTarget(bool withNamespace);

  // Expressions.
  ExpressionPtr make(Expression::Form form, unsigned line);
  void adopt(Expression &parent, ExpressionPtr part);
  ExpressionPtr parseExpression();
  ExpressionPtr parseOr();
  ExpressionPtr parseAnd();
  ExpressionPtr parseNot();
  ExpressionPtr parseCompare();
  ExpressionPtr parseSum();
  ExpressionPtr parseConcatenation();
  ExpressionPtr parseProduct();
  ExpressionPtr parsePower();
  ExpressionPtr parseUnary(bool withFilters);
  ExpressionPtr parsePrimary();
  ExpressionPtr parsePostfix(ExpressionPtr node);
  ExpressionPtr parseFilters(ExpressionPtr node);
  ExpressionPtr parseFilter(ExpressionPtr node);
  ExpressionPtr parseTest(ExpressionPtr node);
  ExpressionPtr parseSubscript(ExpressionPtr node);
  ExpressionPtr parseSubscribed();
  ExpressionPtr parseCallOf(ExpressionPtr node);
  ExpressionPtr parseDictionary();
  /// Expressions with commas between: a tuple where there is a comma.
  ExpressionPtr parseTuple(bool withConditions, bool mayBeEmpty);
  bool atTupleEnd() const;
  void parseCall(Expression &owner);
  void checkName(const char *what, const std::string &name, bool known);

  std::vector<Token> tokens;
  size_t at = 0;
  unsigned level = 0;
  bool inLoop = false; // that `break` would end
  /// Whether jinja2 looks filters and tests up when they run, and not before: in
  /// the branches of a condition.
  bool late = false;
  /// Filters and tests that are to be looked up before anything runs, and are not
  /// known: where each is, and what is wrong.
  std::vector<std::pair<unsigned, std::string>> unknown;
  std::vector<Macro *> macros; // around the current token
  Check error;
};

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_PARSER_H
