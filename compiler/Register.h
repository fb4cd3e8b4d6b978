// All that a tool of effc knows, registered in one place.
#ifndef EFFC_COMPILER_REGISTER_H
#define EFFC_COMPILER_REGISTER_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace effc {

/// Adds effc's dialects, and those of MLIR that they are used with.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers effc's passes, and the general ones of MLIR, by their flags.
/// Process-wide; call it once, before options are parsed.
void registerAllPasses();

} // namespace effc

#endif // EFFC_COMPILER_REGISTER_H
