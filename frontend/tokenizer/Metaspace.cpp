#include "frontend/tokenizer/Metaspace.h"

#include "frontend/checkpoint/Refusal.h"

using namespace effc;
using namespace effc::frontend;

bool effc::frontend::isOneCharacter(llvm::StringRef text) {
  size_t starts = 0;
  for (char c : text)
    starts += (uint8_t(c) & 0xC0) != 0x80;
  return starts == 1;
}

llvm::Expected<Metaspace>
effc::frontend::readMetaspace(const Component &component) {
  constexpr std::pair<llvm::StringLiteral, artifact::Prepend> kSchemes[] = {
      {"always", artifact::Prepend::Always},
      {"first", artifact::Prepend::First},
      {"never", artifact::Prepend::Never}};
  ConfigReader reader(component.where, *component.object);
  reader.ignore({"type", "str_rep"});
  Metaspace metaspace{"", artifact::Prepend::Always, true};
  const std::string *replacement = reader.getString("replacement");
  if (!replacement || !isOneCharacter(*replacement))
    reader.report("expects 'replacement' to be one character");
  else
    metaspace.replacement = *replacement;

  const std::string *scheme = reader.getString("prepend_scheme");
  bool isKnown = !scheme;
  for (auto [name, prepend] : kSchemes)
    if (scheme && *scheme == name) {
      metaspace.prepend = prepend;
      isKnown = true;
    }
  if (!isKnown)
    reader.report("expects 'prepend_scheme' to be always, first or never, but "
                  "got " +
                  quote(*scheme));
  if (!reader.getBoolean("add_prefix_space", true)) {
    if (scheme && metaspace.prepend != artifact::Prepend::Never)
      reader.report("'add_prefix_space' is false, but 'prepend_scheme' is " +
                    quote(*scheme));
    metaspace.prepend = artifact::Prepend::Never;
  }
  if (const JsonValue *split = reader.get("split")) {
    if (!split->isNull() && !split->getBoolean())
      reader.reportMismatch("split", "a boolean or null", *split);
    metaspace.split = split->isNull() || split->getBoolean().value_or(true);
  }
  if (llvm::Error error = reader.finish())
    return std::move(error);
  return metaspace;
}
