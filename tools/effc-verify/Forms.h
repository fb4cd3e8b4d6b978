// The forms that the reference and newly compiled kernels are tried in.
#ifndef EFFC_TOOLS_EFFC_VERIFY_FORMS_H
#define EFFC_TOOLS_EFFC_VERIFY_FORMS_H

#include "compiler/Reference.h"

#include <cstdint>

namespace effc::verify {

struct FormCase {
  const char *name;
  ReferenceForm form;
  int64_t chunk;     // of chunkwise
  const char *force; // as --force-form spells it
};

inline constexpr FormCase kForms[] = {
    {"step", ReferenceForm::Step, 0, "step"},
    {"chunkwise of 7", ReferenceForm::Chunkwise, 7, "chunkwise:7"},
    {"chunkwise of 16", ReferenceForm::Chunkwise, 16, "chunkwise:16"},
    {"chunkwise of 64", ReferenceForm::Chunkwise, 64, "chunkwise:64"},
    {"quadratic", ReferenceForm::Quadratic, 0, "quadratic"},
};

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_FORMS_H
