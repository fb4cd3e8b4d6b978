//===- Tests.h - value is test(...) ---------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_TESTS_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_TESTS_H

#include "runtime/src/chat/jinja/Arguments.h"

namespace effc::rt::jinja {

/// Whether a test of that name is understood.
bool isTest(std::string_view name);

/// Whether `value` meets the test `name`; refused where there is none.
bool applyTest(Machine &machine, std::string_view name, const Value &value,
               const Arguments &arguments);

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_TESTS_H
