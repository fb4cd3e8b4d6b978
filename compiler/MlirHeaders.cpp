// Exists to carry the precompiled header of MlirHeaders.h.
#include "compiler/MlirHeaders.h"
