//===- Syntax.h - A parsed template ---------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_SYNTAX_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_SYNTAX_H

#include "runtime/src/Error.h"
#include "runtime/src/chat/jinja/Value.h"

namespace effc::rt::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

/// What stands between the parentheses of a call.
struct CallSyntax {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr spread, spreadNamed; // *list and **mapping; may be null
};

enum class Operator : uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  FloorDivide,
  Remainder,
  Power,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  In,
  NotIn
};

struct Expression {
  enum Form : uint8_t {
    Constant,    // value
    Name,        // name
    Tuple,       // parts
    List,        // parts
    Dictionary,  // parts: key, value, key, value, ...
    Attribute,   // parts[0].name; as a target: a namespace's
    Item,        // parts[0][parts[1]]
    Slice,       // of Item's second: from, to and step, which may be null
    Call,        // parts[0](call)
    Filter,      // parts[0]|name(call); null in a block of text
    Test,        // parts[0] is name(call)
    Not,         // parts[0]
    Negative,    // parts[0]
    Positive,    // parts[0]
    And,         // parts[0], parts[1]
    Or,          // parts[0], parts[1]
    Conditional, // parts[1] if parts[0] else parts[2], which may be null
    Concatenate, // parts
    Compare,     // parts[0] operators[0] parts[1] operators[1] ...
    Binary       // parts[0] operators[0] parts[1]
  };
  Form form;
  unsigned line;
  unsigned height = 1; // of the tree
  std::string name;
  Value value;
  std::vector<ExpressionPtr> parts;
  std::vector<Operator> operators;
  CallSyntax call;
};

struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

struct Macro {
  std::string name;
  std::vector<std::string> parameters;
  /// Of the last parameters, as many as there are.
  std::vector<ExpressionPtr> defaults;
  Body body;
  /// Whether the body names `varargs`, `kwargs`, `caller`, which make jinja2
  /// accept what it would refuse else.
  bool takesMore = false, takesMoreNamed = false, takesCaller = false;
};

struct Statement {
  enum Form : uint8_t {
    Data,     // text
    Output,   // value
    Set,      // target = value
    SetBlock, // target = body, through the filters of value, which may be null
    For,      // target in value if test: body, else otherwise
    If,       // test: body, else otherwise
    DefineMacro, // macro
    CallBlock,   // value, a call, with macro as its caller
    FilterBlock, // value: the filters
    With,        // targets = values, body
    Inner,       // body with variables of its own
    Break,
    Continue
  };
  Form form;
  unsigned line;
  TextRef text;
  ExpressionPtr target, value, test;
  std::vector<ExpressionPtr> targets, values;
  Body body, otherwise;
  Macro macro;
};

/// Parses `source` as jinja2 does with trim_blocks, lstrip_blocks and loop
/// controls. Invalid UTF-8 is read as U+FFFD. EFFC_BAD_DATA: it is no template;
/// EFFC_UNSUPPORTED: it has what is not understood here. Messages start with the
/// line.
Result<Body> parse(std::string_view source);

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_SYNTAX_H
