// Imports a config.json alone, for tests of what a family reads and refuses.
#ifndef EFFC_TEST_UNIT_FRONTEND_CONFIGIMPORT_H
#define EFFC_TEST_UNIT_FRONTEND_CONFIGIMPORT_H

#include "frontend/Import.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include <nlohmann/json.hpp>

namespace effc::test {

class ConfigImport : public testing::Test {
protected:
  explicit ConfigImport(nlohmann::json config) : config(std::move(config)) {}

  /// What importing `config` comes to; `remarks` is what was said.
  std::string import() {
    directory.write("config.json", config.dump());
    frontend::ImportOptions options;
    options.weights = frontend::WeightsNeeded::ShapesOnly;
    options.allow = allow;
    auto model = frontend::importModel(context, directory.path, options);
    if (!model)
      return outcome(model.takeError());
    remarks = model->remarks;
    module = std::move(model->module);
    return "success";
  }

  /// The same with another value of one key; `config` stays as it is.
  std::string importWith(const std::string &key, const nlohmann::json &value) {
    nlohmann::json before = config;
    config[key] = value;
    std::string result = import();
    config = std::move(before);
    return result;
  }

  nlohmann::json config;
  /// Keys that are left aside.
  std::vector<std::string> allow;
  std::vector<std::string> remarks;

private:
  mlir::MLIRContext context;

protected:
  /// What the last success gave.
  mlir::OwningOpRef<mlir::ModuleOp> module;

private:
  TemporaryDirectory directory;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_FRONTEND_CONFIGIMPORT_H
