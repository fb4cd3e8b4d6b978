#include "runtime/src/chat/jinja/Operators.h"
#include "runtime/src/chat/jinja/Renderer.h"
#include "runtime/src/chat/jinja/Template.h"

using namespace effc::rt;
using namespace effc::rt::jinja;

Text Renderer::run(const Body &body, Scope &scope) {
  return capture([&] { execute(body, scope); });
}

Renderer::Flow Renderer::execute(const Body &body, Scope &scope) {
  Machine::Frame frame(machine);
  for (const auto &statement : body) {
    machine.line = statement->line;
    if (!machine.step())
      break;
    if (Flow flow = executeOne(*statement, scope); flow != Flow::Next)
      return flow;
  }
  return Flow::Next;
}

void Renderer::write(const Value &value) {
  if (value.isText())
    output->append(value.text());
  else
    output->append(toText(machine, value));
  if (output->size() > kMostTextBytes)
    machine.makes(output->size());
}

Renderer::Flow Renderer::executeOne(const Statement &statement, Scope &scope) {
  switch (statement.form) {
  case Statement::Data:
    write(statement.text);
    return Flow::Next;
  case Statement::Output:
    write(evaluate(*statement.value, scope));
    return Flow::Next;
  case Statement::Set:
    assign(*statement.target, evaluate(*statement.value, scope), scope);
    return Flow::Next;
  case Statement::If:
    return executeIf(statement, scope);
  case Statement::For:
    return executeFor(statement, scope);
  case Statement::With:
    return executeWith(statement, scope);
  case Statement::Inner:
    return within(scope,
                  [&](Scope &inner) { return execute(statement.body, inner); });
  case Statement::SetBlock:
  case Statement::FilterBlock: {
    Value text = machine.text(capture([&] {
      within(scope,
             [&](Scope &inner) { return execute(statement.body, inner); });
    }));
    if (statement.value)
      text = evaluateFilters(*statement.value, text, scope);
    if (statement.form == Statement::SetBlock)
      assign(*statement.target, text, scope);
    else
      write(text);
    return Flow::Next;
  }
  case Statement::DefineMacro: {
    auto macro = std::make_shared<Callable>();
    macro->name = statement.macro.name;
    macro->macro = &statement.macro;
    macro->scope = &scope;
    scope.keep();
    scope.set(macro->name, std::shared_ptr<const Callable>(macro));
    return Flow::Next;
  }
  case Statement::CallBlock:
    executeCallBlock(statement, scope);
    return Flow::Next;
  case Statement::Break:
    return Flow::Break;
  case Statement::Continue:
    return Flow::Continue;
  }
  return Flow::Next;
}

Renderer::Flow Renderer::executeIf(const Statement &first, Scope &scope) {
  const Statement *statement = &first;
  while (!machine.failed()) {
    machine.line = statement->line;
    if (isTrue(evaluate(*statement->test, scope)))
      return machine.failed() ? Flow::Next : execute(statement->body, scope);
    // A chain of `elif` is gone through, not into.
    const Body &otherwise = statement->otherwise;
    if (otherwise.size() != 1 || otherwise[0]->form != Statement::If)
      return execute(otherwise, scope);
    statement = otherwise[0].get();
    machine.step();
  }
  return Flow::Next;
}

/// What the loop goes through: those that meet its `if`.
std::vector<Value> Renderer::itemsOf(const Statement &statement, Scope &scope) {
  std::vector<Value> all = iterate(machine, evaluate(*statement.value, scope));
  if (!statement.test)
    return all;
  std::vector<Value> items;
  for (Value &item : all) {
    if (machine.failed())
      break;
    bool meets = within(scope, [&](Scope &inner) {
      assign(*statement.target, item, inner);
      return isTrue(evaluate(*statement.test, inner));
    });
    if (meets)
      items.push_back(std::move(item));
  }
  return items;
}

Renderer::Flow Renderer::executeFor(const Statement &statement, Scope &scope) {
  auto loop = std::make_shared<Loop>();
  loop->items =
      std::make_shared<const Sequence>(Form::List, itemsOf(statement, scope));
  loop->nesting = loops;
  if (loop->items->depth > kMostDepth)
    machine.refuse("expected lists and mappings of at most ", kMostDepth,
                   " levels, but found more");
  if (loop->items->items.empty() && !machine.failed())
    return within(scope, [&](Scope &inner) {
      return execute(statement.otherwise, inner);
    });
  ++loops;
  for (const Value &item : loop->items->items) {
    if (!machine.step())
      break;
    Flow flow = within(scope, [&](Scope &inner) {
      inner.set("loop", std::shared_ptr<const Loop>(loop));
      assign(*statement.target, item, inner);
      return execute(statement.body, inner);
    });
    if (flow == Flow::Break)
      break;
    ++loop->index;
  }
  --loops;
  return Flow::Next;
}

Renderer::Flow Renderer::executeWith(const Statement &statement, Scope &scope) {
  return within(scope, [&](Scope &inner) {
    for (size_t i = 0; i < statement.targets.size(); ++i)
      assign(*statement.targets[i], evaluate(*statement.values[i], scope),
             inner);
    return execute(statement.body, inner);
  });
}

void Renderer::executeCallBlock(const Statement &statement, Scope &scope) {
  auto caller = std::make_shared<Callable>();
  caller->name = "caller";
  caller->macro = &statement.macro;
  caller->scope = &scope;
  scope.keep();
  Value value = std::shared_ptr<const Callable>(caller);
  write(evaluateCall(*statement.value, scope, &value));
}

void Renderer::assign(const Expression &target, const Value &value,
                      Scope &scope) {
  if (machine.failed())
    return;
  if (target.form == Expression::Name)
    return scope.set(target.name, value);
  if (target.form == Expression::Attribute) {
    const Value *space = scope.find(target.parts[0]->name);
    if (!space || !space->is(Kind::Namespace)) {
      machine.refuse("expected a namespace to set '", target.name,
                     "' of, but found ",
                     space ? space->description() : "nothing");
      return;
    }
    if (target.name.starts_with('_')) {
      machine.refuse(
          "expected the name of an attribute that does not start with "
          "'_', but found '",
          target.name, "'");
      return;
    }
    space->space().attributes[target.name] = value;
    return;
  }
  std::vector<Value> items = iterate(machine, value);
  if (!machine.failed() && items.size() != target.parts.size())
    machine.refuse("expected ", target.parts.size(),
                   " values to assign, but found ", items.size());
  for (size_t i = 0; i < target.parts.size() && !machine.failed(); ++i)
    assign(*target.parts[i], items[i], scope);
}

Result<Template> Template::create(std::string_view source) {
  if (source.size() > kMostSourceBytes)
    return fail(EFFC_UNSUPPORTED, "expected a template of at most ",
                kMostSourceBytes, " bytes, but found ", source.size());
  Result<Body> body = parse(source);
  if (!body)
    return body.error();
  return Template(std::move(*body));
}

Result<Text> Template::render(const Variables &variables, const Moment &now,
                              uint64_t steps) const {
  Machine machine(now, steps);
  Scope given(nullptr), own(&given);
  for (const auto &[name, value] : variables)
    given.set(name, value);
  Text text = Renderer(machine).run(body, own);
  if (machine.failure())
    return *machine.failure();
  return text;
}
