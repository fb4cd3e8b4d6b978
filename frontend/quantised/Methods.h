// Ways in which checkpoints keep quantised weights, by what `quant_method` of
// `quantization_config` calls them: a row each in Methods.cpp, and a source of its own
// that says which tensors a matrix lies in.
//
// Values are those of the public libraries before they round them to the type of a
// model; activations are never rounded.
#ifndef EFFC_FRONTEND_QUANTISED_METHODS_H
#define EFFC_FRONTEND_QUANTISED_METHODS_H

#include "frontend/checkpoint/ConfigReader.h"
#include "frontend/quantised/QuantisedTensors.h"

namespace effc::frontend {

/// What a configuration asks to do with the tensors.
using QuantisedStep = std::function<llvm::Error(QuantisedTensors &)>;

struct QuantisedMethod {
  llvm::StringLiteral name;
  /// Reads all keys of the object; problems are the reader's.
  QuantisedStep (*read)(ConfigReader &config);
};

llvm::ArrayRef<QuantisedMethod> quantisedMethods();

QuantisedStep readAutoRound(ConfigReader &config);
QuantisedStep readAwq(ConfigReader &config);
QuantisedStep readBitsAndBytes(ConfigReader &config);
QuantisedStep readCompressedTensors(ConfigReader &config);
QuantisedStep readFp8(ConfigReader &config);
QuantisedStep readFbgemmFp8(ConfigReader &config);
QuantisedStep readGptq(ConfigReader &config);
QuantisedStep readModelOpt(ConfigReader &config);
QuantisedStep readMxfp4(ConfigReader &config);

/// Gives the checkpoint the matrices that 'quantization_config' describes, where its
/// method is one of these; where there is none, or the user answers for the key, nothing
/// changes. Fails by the name of a key, of a tensor or of the method.
llvm::Error readQuantised(ConfigReader &reader, mlir::MLIRContext &context,
                          Checkpoint &checkpoint, Remarks &remarks);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_QUANTISED_METHODS_H
