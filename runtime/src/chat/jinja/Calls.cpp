// Macros, methods and global functions.

#include "runtime/src/chat/jinja/Methods.h"
#include "runtime/src/chat/jinja/Operators.h"
#include "runtime/src/chat/jinja/Renderer.h"

#include <algorithm>

using namespace effc::rt;
using namespace effc::rt::jinja;

Arguments Renderer::evaluateArguments(const CallSyntax &call, Scope &scope) {
  Arguments arguments;
  for (const ExpressionPtr &part : call.positional)
    arguments.positional.push_back(evaluate(*part, scope));
  for (const auto &[name, part] : call.named)
    arguments.named.emplace_back(name, evaluate(*part, scope));
  if (call.spread) {
    std::vector<Value> more = iterate(machine, evaluate(*call.spread, scope));
    arguments.positional.insert(arguments.positional.end(), more.begin(),
                                more.end());
  }
  if (call.spreadNamed) {
    Value mapping = evaluate(*call.spreadNamed, scope);
    if (machine.failed())
      return arguments;
    if (!mapping.is(Kind::Mapping)) {
      machine.refuse("expected a mapping after '**', but found ",
                     mapping.description());
      return arguments;
    }
    for (const Mapping::Entry &entry : mapping.mapping().entries()) {
      if (!entry.key.isText()) {
        machine.refuse("expected names in a mapping after '**', but found a "
                       "whole number");
        return arguments;
      }
      arguments.named.emplace_back(entry.key.text().bytes(), entry.value);
    }
  }
  return arguments;
}

Value Renderer::evaluateCall(const Expression &expression, Scope &scope,
                             const Value *caller) {
  Value function = evaluate(*expression.parts[0], scope);
  Arguments arguments = evaluateArguments(expression.call, scope);
  machine.line = expression.line;
  if (machine.failed())
    return {};
  if (function.isUndefined())
    return machine.refuse("expected a function to call, but ",
                          function.missing(), " is undefined",
                          "; methods that change lists and mappings are not "
                          "there for templates");
  if (!function.is(Kind::Callable))
    return machine.refuse("expected a function to call, but found ",
                          function.description());
  if (caller)
    arguments.named.emplace_back("caller", *caller);
  return call(function.callable(), std::move(arguments));
}

Value Renderer::call(const Callable &callable, Arguments arguments) {
  if (callable.macro)
    return callMacro(callable, std::move(arguments));
  if (!callable.receiver.isUndefined())
    return callMethod(machine, callable.receiver, callable.name, arguments);
  return callFunction(machine, callable.name, arguments);
}

Value Renderer::callMacro(const Callable &callable, Arguments arguments) {
  Machine::Frame frame(machine);
  const Macro &macro = *callable.macro;
  const std::vector<std::string> &names = macro.parameters;
  std::vector<std::optional<Value>> bound(names.size());
  size_t placed = std::min(names.size(), arguments.positional.size());
  std::copy_n(arguments.positional.begin(), placed, bound.begin());
  if (arguments.positional.size() > names.size() && !macro.takesMore)
    return machine.refuse("expected at most ", names.size(), " arguments of '",
                          macro.name, "', but found ",
                          arguments.positional.size());
  auto more = std::make_shared<Mapping>();
  std::optional<Value> caller;
  for (auto &[name, value] : arguments.named) {
    auto found = std::find(names.begin(), names.end(), name);
    auto place = static_cast<size_t>(found - names.begin());
    if (found != names.end() && !bound[place])
      bound[place] = std::move(value);
    else if (name == "caller" && macro.takesCaller)
      caller = std::move(value);
    else if (found == names.end() && macro.takesMoreNamed)
      more->set(name, std::move(value));
    else
      return machine.refuse(
          "expected no argument '", name, "' of '", macro.name,
          found == names.end() ? "', which has no such parameter"
                               : "', which has it already",
          ", but found one");
  }
  std::vector<Value> rest(arguments.positional.begin() + ptrdiff_t(placed),
                          arguments.positional.end());
  // A loop around the call is not one around what the macro does.
  size_t outerLoops = std::exchange(loops, 0);
  Text text = within(*callable.scope, [&](Scope &scope) {
    size_t firstDefault = names.size() - macro.defaults.size();
    for (size_t i = 0; i < names.size(); ++i)
      scope.set(names[i],
                bound[i] ? *bound[i]
                : i >= firstDefault
                    ? evaluate(*macro.defaults[i - firstDefault], scope)
                    : Value::undefined("the parameter '" + names[i] + "'"));
    if (macro.takesMore)
      scope.set("varargs", machine.sequence(Form::Tuple, std::move(rest)));
    if (macro.takesMoreNamed)
      scope.set("kwargs", machine.mapping(std::move(more)));
    if (macro.takesCaller)
      scope.set("caller", caller
                              ? *caller
                              : Value::undefined("'caller', which a block of "
                                                 "'call' gives,"));
    return capture([&] { execute(macro.body, scope); });
  });
  loops = outerLoops;
  return machine.text(std::move(text));
}
