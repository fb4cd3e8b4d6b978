//===- SchemaReader.h - Rules from a JSON Schema --------------------------===//
//
// Every text that fits the rules is JSON that fits the schema, read as draft 7 and
// 2020-12 agree on; not all that fits the schema fits the rules:
//
//   - properties come in the schema's order; beside named ones there are others
//     only where `additionalProperties` says so;
//   - a schema without a `type` has the one that its keywords are about;
//   - `oneOf` is read as `anyOf`;
//   - items behind `prefixItems` are there only where `items` says so.
//
// Keywords of which this cannot be promised are refused with their place. Words
// that only describe (`title`, `default`, ...) are passed over.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_GRAMMAR_SCHEMAREADER_H
#define EFFC_RUNTIME_SRC_GRAMMAR_SCHEMAREADER_H

#include "runtime/src/grammar/Rules.h"

#include <string_view>

namespace effc::rt::grammar {

/// EFFC_INVALID_ARGUMENT: it is no JSON, no schema, or nothing fits it;
/// EFFC_UNSUPPORTED: it has keywords that are not understood, or too much. Messages
/// have the place as a JSON pointer.
Result<Rules> readSchema(std::string_view text);

/// Any JSON object.
Rules jsonObject();

} // namespace effc::rt::grammar

#endif // EFFC_RUNTIME_SRC_GRAMMAR_SCHEMAREADER_H
