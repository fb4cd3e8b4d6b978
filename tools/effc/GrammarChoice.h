// What texts are to follow, as users say it: a grammar or a schema.
#ifndef EFFC_TOOLS_EFFC_GRAMMARCHOICE_H
#define EFFC_TOOLS_EFFC_GRAMMARCHOICE_H

#include "runtime/include/effc/effc.hpp"

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace effc::cli {

struct GrammarChoice {
  std::optional<std::string> grammar, schema;

  /// Declares --grammar and --json-schema in the group "Sampling".
  void declare(CLI::App &command);

  /// Throws UsageError where both are given.
  void check() const;
  /// None where any text will do. Throws Failure where there is no such file, or
  /// what it holds is refused.
  std::optional<Grammar> open(const Model &model) const;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_GRAMMARCHOICE_H
