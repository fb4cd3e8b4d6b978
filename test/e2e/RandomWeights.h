//===- RandomWeights.h - A checkpoint for a model that has none -----------===//
#ifndef EFFC_TEST_E2E_RANDOMWEIGHTS_H
#define EFFC_TEST_E2E_RANDOMWEIGHTS_H

#include <string>

namespace effc::test {

std::string readText(const std::string &path);

/// Writes a safetensors file with numbers in [-0.5, 0.5], the same every time,
/// for each `seq.weight` of f32 that the text of a module declares; those that
/// are `transposed` lie so, and are the same numbers to the model.
void writeRandomWeights(const std::string &module, const std::string &path);

} // namespace effc::test

#endif // EFFC_TEST_E2E_RANDOMWEIGHTS_H
