// Where an op comes from, for a reader.
#ifndef EFFC_COMPILER_LOCATIONS_H
#define EFFC_COMPILER_LOCATIONS_H

#include "mlir/IR/Location.h"

#include <string>

namespace effc {

/// "layers.0.ssd" for a named part, "model.mlir:19:17" for a place in a text;
/// empty where a location says nothing.
std::string describeLocation(mlir::Location location);

} // namespace effc

#endif // EFFC_COMPILER_LOCATIONS_H
