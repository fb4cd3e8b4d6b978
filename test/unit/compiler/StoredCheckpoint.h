// A golden checkpoint as a stored model.
#ifndef EFFC_TEST_UNIT_COMPILER_STOREDCHECKPOINT_H
#define EFFC_TEST_UNIT_COMPILER_STOREDCHECKPOINT_H

#include "compiler/StoredModel.h"
#include "runtime/include/effc/effc.hpp"
#include "test/e2e/TemporaryFolder.h"

#include <memory>
#include <string>

namespace effc::test {

/// Compiles when it is made, in a folder that goes with it.
class StoredCheckpoint {
public:
  /// `directory` holds a config.json, and weights unless `shapesOnly`.
  explicit StoredCheckpoint(const std::string &directory,
                            bool shapesOnly = false);

  const StoredModel &get() const { return stored; }

private:
  TemporaryFolder folder;
  std::unique_ptr<Model> model;
  StoredModel stored;
};

/// The stored model with every element of the weight `name` zero.
StoredModel withZeroWeight(const StoredModel &model, std::string name);

} // namespace effc::test

#endif // EFFC_TEST_UNIT_COMPILER_STOREDCHECKPOINT_H
