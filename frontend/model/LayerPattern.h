// Which kind of layer each layer is.
#ifndef EFFC_FRONTEND_MODEL_LAYERPATTERN_H
#define EFFC_FRONTEND_MODEL_LAYERPATTERN_H

#include "frontend/checkpoint/ConfigReader.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace effc::frontend {

/// Reads an array of one name for each layer, which may be missing or null: the
/// number of each layer's kind in `kinds`, or what `otherwise` gives for the
/// layer. Problems are left in the reader.
std::vector<unsigned>
readLayerPattern(ConfigReader &reader, llvm::StringRef key, int64_t layers,
                 llvm::ArrayRef<llvm::StringRef> kinds,
                 llvm::function_ref<unsigned(int64_t layer)> otherwise);

/// Reads an array of layers' numbers, counted from 0, which may be missing or
/// null: whether each layer is listed. Problems are left in the reader.
std::vector<bool> readListedLayers(ConfigReader &reader, llvm::StringRef key,
                                   int64_t layers);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_MODEL_LAYERPATTERN_H
