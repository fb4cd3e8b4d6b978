// The forms that the reference and newly compiled kernels are tried in.
#ifndef EFFC_TOOLS_EFFC_VERIFY_FORMS_H
#define EFFC_TOOLS_EFFC_VERIFY_FORMS_H

#include "compiler/Pipelines.h"
#include "compiler/Reference.h"

#include <cstdint>

namespace effc::verify {

struct FormCase {
  const char *name;
  ReferenceForm form;
  int64_t chunk; // of chunkwise
  ForcedForm force;
};

inline const FormCase kForms[] = {
    {"step", ReferenceForm::Step, 0, {seq::FormKind::Step}},
    {"chunkwise of 7",
     ReferenceForm::Chunkwise,
     7,
     {seq::FormKind::Chunkwise, 7}},
    {"chunkwise of 16",
     ReferenceForm::Chunkwise,
     16,
     {seq::FormKind::Chunkwise, 16}},
    {"chunkwise of 64",
     ReferenceForm::Chunkwise,
     64,
     {seq::FormKind::Chunkwise, 64}},
    {"quadratic", ReferenceForm::Quadratic, 0, {seq::FormKind::Quadratic}},
};

} // namespace effc::verify

#endif // EFFC_TOOLS_EFFC_VERIFY_FORMS_H
