//===- Moment.h - A point of time as clocks show it -----------------------===//
#ifndef EFFC_RUNTIME_SRC_CHAT_JINJA_MOMENT_H
#define EFFC_RUNTIME_SRC_CHAT_JINJA_MOMENT_H

#include "runtime/src/Error.h"

#include <string_view>

namespace effc::rt::jinja {

struct Moment {
  int year = 1970, month = 1, day = 1; // month and day from 1
  int hour = 0, minute = 0, second = 0;

  /// The machine's time, in its own zone.
  static Moment now();
  /// "2026-03-09" or "2026-03-09T14:05:07". EFFC_INVALID_ARGUMENT: neither, or no
  /// such day.
  static Result<Moment> parse(std::string_view text);
  /// As Python's strftime() writes it in the C locale. EFFC_UNSUPPORTED: a
  /// directive that is not understood.
  Result<std::string> format(std::string_view pattern) const;
};

} // namespace effc::rt::jinja

#endif // EFFC_RUNTIME_SRC_CHAT_JINJA_MOMENT_H
