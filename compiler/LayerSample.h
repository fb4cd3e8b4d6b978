// A stored model without most of its layers, for checks that all of them would
// make too long.
#ifndef EFFC_COMPILER_LAYERSAMPLE_H
#define EFFC_COMPILER_LAYERSAMPLE_H

#include "compiler/StoredModel.h"

#include <optional>
#include <string>
#include <vector>

namespace effc {

struct LayerSample {
  StoredModel model;
  std::vector<std::string> kept; // names of the layers that stayed, in order
  size_t layers = 0;             // of the whole model
  /// Elements of the matrices that the sample multiplies by, over those of the
  /// whole model: what its evaluation costs of the whole one's.
  double share = 1;
};

/// Leaves layers out; their readers read what the layer read. Of each kind of
/// layer (the same ops, attributes and types) the first and the last stay. So
/// does a layer with results that are read beyond it besides one, which has the
/// type of the last such value that the layer reads. The same model gives the
/// same sample. None where every layer stays.
llvm::Expected<std::optional<LayerSample>>
sampleLayers(const StoredModel &model);

} // namespace effc

#endif // EFFC_COMPILER_LAYERSAMPLE_H
