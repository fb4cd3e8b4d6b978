// Exists to carry the precompiled headers that begin with MlirHeaders.h.
#include "compiler/MlirHeaders.h"
