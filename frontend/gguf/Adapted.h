// A GGUF file as the families read a model: a configuration with the fields of
// config.json, and tensors under the family's own names.
//
// Refused, each by its name: an unknown architecture; a key of the architecture
// that no row knows, since it may change a formula (the user may answer for it);
// a factor of NVFP4 (`X.scale`, `X.input_scale`); a tensor that two names lead
// to. Tensors that no row knows keep their names, so that the account of the
// checkpoint refuses them (Checkpoint.h).
#ifndef EFFC_FRONTEND_GGUF_ADAPTED_H
#define EFFC_FRONTEND_GGUF_ADAPTED_H

#include "frontend/checkpoint/Checkpoint.h"
#include "frontend/gguf/Config.h"

namespace effc::frontend {

struct AdaptedGguf {
  const GgufArchitecture *architecture;
  /// Of the first file, for messages.
  std::string file;
  JsonValue config;
  /// The key or tensor of each field of the configuration.
  llvm::StringMap<std::string> fields;
  /// The files' own names of tensors.
  llvm::StringSet<> tensors;
  StoredForm form;
  /// All keys; those of the configuration have been asked for.
  GgufMetadata keys;
  std::unique_ptr<Checkpoint> checkpoint;
  std::vector<std::string> remarks;

  /// A message of a family in the file's own names.
  std::string say(llvm::StringRef message) const;
  llvm::Error say(llvm::Error error) const;
};

/// `allowed`: keys that the user answers for. The model's files are taken over.
llvm::Expected<AdaptedGguf> adaptGguf(std::unique_ptr<GgufModel> model,
                                      llvm::ArrayRef<std::string> allowed);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_GGUF_ADAPTED_H
