//===- Renderer.h - One rendering of a template ---------------------------===//
//
// Statements are run in Statements.cpp, expressions in Expressions.cpp, calls in
// Calls.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_RENDERER_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_RENDERER_H

#include "runtime/src/chat/jinja/Arguments.h"
#include "runtime/src/chat/jinja/Syntax.h"

#include <map>

namespace effc::rt::jinja {

/// Variables that are set in one place: the template, an iteration of a loop, a
/// call of a macro, a block.
class Scope {
public:
  explicit Scope(Scope *outer) : outer(outer) {}
  void set(const std::string &name, Value value) {
    variables[name] = std::move(value);
  }
  /// Here or further out; null where it is not set.
  const Value *find(std::string_view name) const {
    for (const Scope *scope = this; scope; scope = scope->outer)
      if (auto found = scope->variables.find(name);
          found != scope->variables.end())
        return &found->second;
    return nullptr;
  }
  /// A macro that is defined here, or within, may be called after it has ended.
  void keep() {
    for (Scope *scope = this; scope; scope = scope->outer)
      scope->isKept = true;
  }

  std::map<std::string, Value, std::less<>> variables;
  Scope *const outer;
  bool isKept = false;
};

class Renderer {
public:
  explicit Renderer(Machine &machine) : machine(machine) {}
  Text run(const Body &body, Scope &scope);

private:
  enum class Flow : uint8_t { Next, Break, Continue };

  // Statements.
  Flow execute(const Body &body, Scope &scope);
  Flow executeOne(const Statement &statement, Scope &scope);
  Flow executeIf(const Statement &statement, Scope &scope);
  Flow executeFor(const Statement &statement, Scope &scope);
  Flow executeWith(const Statement &statement, Scope &scope);
  void executeCallBlock(const Statement &statement, Scope &scope);
  std::vector<Value> itemsOf(const Statement &statement, Scope &scope);
  void assign(const Expression &target, const Value &value, Scope &scope);
  void write(const Value &value);
  /// Runs `work` with a scope of its own, which outlives it where a macro needs it.
  template <typename Work> auto within(Scope &outer, Work &&work) {
    auto scope = std::make_unique<Scope>(&outer);
    auto result = work(*scope);
    if (scope->isKept)
      kept.push_back(std::move(scope));
    return result;
  }
  /// What `work` writes, instead of writing it.
  template <typename Work> Text capture(Work &&work) {
    Text text, *outer = output;
    output = &text;
    work();
    output = outer;
    return text;
  }

  // Expressions.
  Value evaluate(const Expression &expression, Scope &scope);
  Value evaluateOne(const Expression &expression, Scope &scope);
  Value evaluateName(const Expression &expression, Scope &scope);
  Value evaluateList(const Expression &expression, Scope &scope);
  Value evaluateMapping(const Expression &expression, Scope &scope);
  Value evaluateItem(const Expression &expression, Scope &scope);
  Value evaluateComparison(const Expression &expression, Scope &scope);
  Value evaluateConcatenation(const Expression &expression, Scope &scope);
  Value evaluateFilters(const Expression &expression, const Value &input,
                        Scope &scope);
  bool evaluateTest(const Expression &expression, Scope &scope);

  // Calls.
  Arguments evaluateArguments(const CallSyntax &call, Scope &scope);
  Value evaluateCall(const Expression &expression, Scope &scope,
                     const Value *caller);
  Value call(const Callable &callable, Arguments arguments);
  Value callMacro(const Callable &callable, Arguments arguments);

  Machine &machine;
  Text *output = nullptr;
  size_t loops = 0; // around the current statement
  std::vector<std::unique_ptr<Scope>> kept;
};

/// Whether jinja2 or transformers have a global function of that name; one that is
/// not understood here counts, and is refused when it is called.
bool isFunction(std::string_view name);
Value callFunction(Machine &machine, std::string_view name,
                   const Arguments &arguments);

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_RENDERER_H
