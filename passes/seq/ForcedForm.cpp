#include "passes/seq/ForcedForm.h"

using namespace effc;

std::optional<ForcedForm> effc::parseForcedForm(llvm::StringRef text) {
  auto [name, chunkText] = text.split(':');
  std::optional<seq::FormKind> kind = seq::symbolizeFormKind(name);
  if (!kind)
    return std::nullopt;
  if (!text.contains(':'))
    return ForcedForm{*kind};
  int64_t chunk;
  if (*kind != seq::FormKind::Chunkwise || chunkText.getAsInteger(10, chunk) ||
      chunk < 1 || chunk > ForcedForm::kMostTokens)
    return std::nullopt;
  return ForcedForm{*kind, chunk};
}

std::string effc::spell(const ForcedForm &form) {
  std::string text = seq::stringifyFormKind(form.kind).str();
  return form.chunk ? text + ":" + std::to_string(*form.chunk) : text;
}

std::string effc::listForcedForms() {
  return "step, quadratic, scan or chunkwise[:C] with C in 1.." +
         std::to_string(ForcedForm::kMostTokens);
}
