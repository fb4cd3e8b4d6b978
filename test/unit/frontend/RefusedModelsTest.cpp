// Models that are known and not read are refused by name, with the reason.
#include "frontend/families/Family.h"
#include "test/unit/frontend/ConfigImport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace effc::frontend;
using namespace effc::test;
using nlohmann::json;

namespace {

class RefusedModels : public ConfigImport {
protected:
  RefusedModels() : ConfigImport({{"vocab_size", 61}, {"hidden_size", 24}}) {}
};

} // namespace

TEST_F(RefusedModels, SayWhy) {
  EXPECT_EQ(
      importWith("model_type", "mesa_net"),
      "config.json: model_type 'mesa_net' is not supported: each token "
      "solves a K x K system by conjugate gradients, some 30 reads of one "
      "state, and a linear recurrence is read once");
  // What is not known is told what is.
  EXPECT_EQ(
      importWith("model_type", "mesa_nets").substr(0, 65),
      "config.json: model_type 'mesa_nets' is not supported; supported: ");
  for (const RefusedModel &model : getRefusedModels())
    EXPECT_EQ(importWith("model_type", model.modelType.str()),
              "config.json: model_type '" + model.modelType.str() +
                  "' is not supported: " + model.reason.str());
}

TEST_F(RefusedModels, AreNoFamilies) {
  EXPECT_TRUE(llvm::is_sorted(getRefusedModels(),
                              [](const RefusedModel &a, const RefusedModel &b) {
                                return a.modelType < b.modelType;
                              }));
  for (const RefusedModel &model : getRefusedModels()) {
    EXPECT_TRUE(llvm::none_of(getFamilies(), [&](const Family &family) {
      return family.modelType == model.modelType;
    })) << model.modelType.str();
    EXPECT_TRUE(llvm::isLower(model.reason.front()) &&
                model.reason.back() != '.')
        << model.modelType.str();
  }
}
