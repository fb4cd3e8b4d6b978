//===- SchemaMerger.h - Several schemas as one ----------------------------===//
#ifndef EFFC_RUNTIME_SRC_GRAMMAR_SCHEMAMERGER_H
#define EFFC_RUNTIME_SRC_GRAMMAR_SCHEMAMERGER_H

#include "runtime/src/chat/jinja/Json.h"
#include "runtime/src/grammar/Rules.h"

#include <set>

namespace effc::rt::grammar {

/// Whether a keyword only describes.
bool isDescription(std::string_view keyword);

/// Refuses something at a place of a schema.
Error refuseAt(effc_status_code_t code, const std::string &place,
               const std::string &why);
template <typename... Parts>
Error refuseAt(effc_status_code_t code, const std::string &place,
               const Parts &...parts) {
  return refuseAt(code, place,
                  makeError(code, {MessagePart(parts)...}).message);
}

/// Resolves references within one schema, and joins schemas that hold together.
class SchemaMerger {
public:
  /// `root` is a mapping or a truth.
  explicit SchemaMerger(const jinja::Value &root) : root(root) {}

  /// What "#/$defs/x" names.
  Result<const jinja::Value *> resolve(const std::string &reference,
                                       const std::string &place) const;

  /// A schema that says all that `schemas`, mappings or truths, say: without
  /// `$ref` and `allOf` in it, though within what it has.
  Result<jinja::Value> join(const std::vector<jinja::Value> &schemas,
                            const std::string &place, unsigned depth = 0);

private:
  using Value = jinja::Value;
  using Mapping = jinja::Mapping;

  Check add(Mapping &sum, const Value &schema, const std::string &place,
            unsigned depth);
  Check addKeyword(Mapping &sum, std::string_view keyword, const Value &value,
                   const std::string &place);
  static Check closeTo(Mapping &sum, const Mapping &other,
                       const std::string &place);

  const Value &root;
  unsigned joins = 0;
};

/// A text that equal values share.
std::string plainText(const jinja::Value &value);

/// The list, or the one element.
std::vector<jinja::Value> elementsOf(const jinja::Value &value);

jinja::Value listOf(std::vector<jinja::Value> items);

} // namespace effc::rt::grammar

#endif // EFFC_RUNTIME_SRC_GRAMMAR_SCHEMAMERGER_H
