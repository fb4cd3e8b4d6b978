//===- Filters.h - value|filter(...) --------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_FILTERS_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_FILTERS_H

#include "runtime/src/chat/jinja/Arguments.h"

namespace effc::rt::jinja {

/// Whether a filter of that name is understood.
bool isFilter(std::string_view name);

/// `value` through the filter `name`; refused where there is none.
Value applyFilter(Machine &machine, std::string_view name, const Value &value,
                  const Arguments &arguments);

using Filter = Value (*)(Machine &machine, const Value &value,
                         const Arguments &arguments);

// Filters of many values (ListFilters.cpp): map, select, reject, selectattr,
// rejectattr, sort, dictsort, unique, min, max, sum, first, last, list, items,
// reverse, join. Null where there is none of that name.
Filter findListFilter(std::string_view name);

/// What attribute= of filters names: "function.name", or a number for a place.
Value attributeByPath(Machine &machine, const Value &value, const Value &path);

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_FILTERS_H
