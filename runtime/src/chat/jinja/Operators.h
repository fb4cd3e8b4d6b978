//===- Operators.h - What Python's operators do ---------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_OPERATORS_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_OPERATORS_H

#include "runtime/src/chat/jinja/Machine.h"
#include "runtime/src/chat/jinja/Syntax.h"

namespace effc::rt::jinja {

/// bool(value): a generator is true, also where it gives nothing.
bool isTrue(const Value &value);

/// left == right; takes a step for each pair of values.
bool areEqual(Machine &machine, const Value &left, const Value &right);

/// item in container.
bool contains(Machine &machine, const Value &container, const Value &item);

/// One of `==` to `not in`.
bool compare(Machine &machine, Operator op, const Value &left,
             const Value &right);

/// One of `+` to `**`.
Value calculate(Machine &machine, Operator op, const Value &left,
                const Value &right);
Value negative(Machine &machine, const Value &value);

/// object.name: what Python's object has by that name, else its item.
Value attribute(Machine &machine, const Value &object, const std::string &name);
/// object[key]: its item, else what Python's object has by that name.
Value item(Machine &machine, const Value &object, const Value &key);
/// object[from:to:step]; parts that are undefined stand for none.
Value slice(Machine &machine, const Value &object, const Value &from,
            const Value &to, const Value &step);

/// What a loop over the value sees; a generator is empty afterwards.
std::vector<Value> iterate(Machine &machine, const Value &value);
/// len(value); refused where Python has none.
std::optional<size_t> length(Machine &machine, const Value &value);

/// str(value); undefined is empty.
Text toText(Machine &machine, const Value &value);

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_OPERATORS_H
