//===- Fields.h - The fields of a request, held to their bounds -----------===//
//
// What an endpoint takes is a table: names, types and bounds. A field of another
// type or beyond its bounds is refused with both; a field that others have and effc
// lacks is refused with the reason, since an answer without it would look right;
// whatever else there is is ignored, and the answer names it.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_API_FIELDS_H
#define EFFC_TOOLS_EFFC_SERVE_API_FIELDS_H

#include "tools/effc-serve/wire/ApiError.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace effc::serve {

enum class FieldType { Boolean, Integer, Number, Text, List, Mapping, Any };

/// A field that is understood. Bounds are those of a number, of a text's bytes, or
/// of how many entries there are.
struct Field {
  const char *name;
  FieldType type;
  double least = 0;
  double most = std::numeric_limits<double>::max();
};

/// One that others have. Null, false, 0 and what is empty ask for nothing.
struct RefusedField {
  const char *name;
  const char *reason;
};

/// Reads JSON, nothing as an object without members; members stay in their order, since a schema's are to. Throws ApiError
/// where `body` is none, nests deeper than 64 levels, has an object of more than 2,048
/// members, or is no object.
nlohmann::ordered_json parseBody(const std::string &body);

/// A short text of `value` for a message.
std::string shown(const nlohmann::ordered_json &value);

class Fields {
public:
  /// Checks all fields of `object`, which outlives this. Throws ApiError.
  Fields(const nlohmann::ordered_json &object, std::span<const Field> known,
         std::span<const RefusedField> refused);

  /// Null where the field is absent or null.
  const nlohmann::ordered_json *find(const char *name) const;
  bool has(const char *name) const { return find(name) != nullptr; }
  bool flag(const char *name, bool otherwise = false) const;
  int64_t integer(const char *name, int64_t otherwise) const;
  double number(const char *name, double otherwise) const;
  std::string text(const char *name, const char *otherwise = "") const;

  /// Fields that nobody knows; those of objects within it by their place, such as
  /// stream_options.x. What is within lists is the caller's to add.
  const std::vector<std::string> &ignored() const { return unknown; }
  /// Adds one, as long as they are few and short.
  static void addIgnored(const std::string &place,
                         std::vector<std::string> &list);

private:
  const nlohmann::ordered_json &object;
  std::vector<std::string> unknown;
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_API_FIELDS_H
