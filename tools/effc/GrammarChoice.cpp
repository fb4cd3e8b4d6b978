#include "tools/effc/GrammarChoice.h"

#include "tools/effc/Inputs.h"
#include "tools/terminal/Failure.h"

#include <CLI/CLI.hpp>

using namespace effc;
using namespace effc::cli;

void GrammarChoice::declare(CLI::App &command) {
  command
      .add_option("--grammar", grammar,
                  "Write text alone that follows the grammar of this file, in "
                  "GBNF; - reads standard input")
      ->type_name("FILE")
      ->group("Sampling");
  command
      .add_option("--json-schema", schema,
                  "Write JSON alone that fits a schema: '{...}' itself, or the "
                  "file that it is in")
      ->type_name("FILE|TEXT")
      ->group("Sampling");
}

void GrammarChoice::check() const {
  if (grammar && schema)
    throw UsageError(
        "expects one of --grammar and --json-schema, but got both");
}

/// A schema is JSON, and what does not begin like that is a file.
std::optional<Grammar> GrammarChoice::open(const Model &model) const {
  if (!grammar && !schema)
    return std::nullopt;
  std::string text = schema.value_or("");
  size_t first = text.find_first_not_of(" \t\r\n");
  if (grammar)
    text = readWholeFile(*grammar);
  else if (first == std::string::npos || text[first] != '{')
    text = readWholeFile(text);
  try {
    return Grammar(model, text,
                   grammar ? effc_grammar_create
                           : effc_grammar_create_from_schema);
  } catch (const Error &error) {
    throw Failure((grammar ? "--grammar: " : "--json-schema: ") +
                  std::string(error.what()));
  }
}
