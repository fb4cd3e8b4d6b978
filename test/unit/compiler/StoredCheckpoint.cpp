#include "test/unit/compiler/StoredCheckpoint.h"

#include "compiler/StoredArtifact.h"

#include <cstring>

using namespace effc;
using namespace effc::test;

StoredCheckpoint::StoredCheckpoint(const std::string &directory,
                                   bool shapesOnly) {
  CompileOptions options;
  options.model = directory;
  options.output = folder.at("model.effc");
  options.pipeline.prefillRows = {8};
  options.pipeline.decodeRows = {1};
  if (shapesOnly)
    options.weights = codegen::WeightsMode::None;
  llvm::cantFail(compile(options, {}));
  model = std::make_unique<Model>(options.output);
  for (const effc_segment_info_t &segment : model->segments())
    if (std::strcmp(segment.kind, "seq_module") == 0)
      stored.seqBytecode.assign(reinterpret_cast<const char *>(segment.data),
                                segment.bytes);
  stored.weights = weightsOf(*model, stored.seqBytecode);
}

StoredModel test::withZeroWeight(const StoredModel &model, std::string name) {
  return {model.seqBytecode,
          [weights = model.weights, name = std::move(name)](
              llvm::StringRef symbol) -> llvm::Expected<StoredWeight> {
            llvm::Expected<StoredWeight> weight = weights(symbol);
            if (weight && symbol == name)
              std::fill(weight->bytes.begin(), weight->bytes.end(), 0);
            return weight;
          }};
}
