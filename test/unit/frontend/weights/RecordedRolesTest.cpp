// Matrices get the roles that mixes of storages ask for, in every recorded model and
// every released configuration. Families declare roles; names follow a convention and
// decide nothing, which is why this test can hold one against the other.
#include "dialects/storage/Formats.h"
#include "dialects/storage/Storage.h"
#include "frontend/Import.h"
#include "frontend/weights/WeightMixes.h"
#include "test/unit/frontend/RecordedModel.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include "llvm/ADT/StringSet.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace effc;
using namespace effc::frontend;
using llvm::StringRef;

namespace {

bool endsWithOneOf(StringRef name, llvm::ArrayRef<StringRef> endings) {
  return llvm::any_of(endings,
                      [&](StringRef ending) { return name.ends_with(ending); });
}

/// The weights of one model, stored by q3_k_m: of its roles all matrices are wider than
/// the base, and keys are where there are eight experts.
class Roles {
public:
  explicit Roles(mlir::ModuleOp module) : module(module) {
    for (StringRef base : {StringRef("q3_k"), findSmaller("q3_k")})
      bases.push_back(storage::formatOf(base, module.getContext()));
    module.walk([&](seq::LmHeadOp head) {
      if (auto weight = head.getWeight().getDefiningOp<seq::ParameterOp>())
        heads.insert(weight.getWeight());
    });
    for (auto weight : module.getOps<seq::WeightOp>()) {
      StringRef name = weight.getSymName();
      if (endsWithOneOf(name, {".attention.value", ".attention.in"}))
        ofValues.insert(weight.getSource());
      if (name.ends_with(".experts.router"))
        experts = typeOf(weight).getDimSize(0);
    }
  }

  void check() {
    for (auto weight : module.getOps<seq::WeightOp>())
      if (!weight.getComputed() && typeOf(weight).getRank() > 1)
        check(weight);
  }

  int64_t count = 0; // matrices with a role

private:
  static mlir::RankedTensorType typeOf(seq::WeightOp weight) {
    return llvm::cast<mlir::RankedTensorType>(weight.getType());
  }

  /// The type of a matrix without a role; null: none divides its rows.
  mlir::Type baseOf(seq::WeightOp weight) {
    for (mlir::Type type : bases)
      if (storage::Storage::get(type).divides(typeOf(weight).getShape().back()))
        return type;
    return {};
  }

  void check(seq::WeightOp weight) {
    StringRef name = weight.getSymName();
    mlir::Type found = typeOf(weight).getElementType(), base = baseOf(weight);
    if (!base || heads.contains(name))
      return;
    SCOPED_TRACE(name.str());
    bool stays = endsWithOneOf(name, {".router", ".shared_gate", "positions"});
    bool isWide =
        ofValues.contains(weight.getSource()) ||
        endsWithOneOf(name, {".attention.out", ".mlp.down", ".experts.down",
                             ".experts.shared.down"}) ||
        (experts == 8 && name.ends_with(".attention.key"));
    count += stays || isWide;
    // Taps and the like are dense too, and of no role.
    if (storage::Storage::get(found).isDense())
      EXPECT_TRUE(stays || !isWide);
    else
      EXPECT_TRUE(!stays && (found != base) == isWide)
          << storage::Storage::get(found).name().str();
  }

  mlir::ModuleOp module;
  std::vector<mlir::Type> bases;
  llvm::StringSet<> heads, ofValues;
  int64_t experts = 0;
};

/// How many matrices of the model have a role.
int64_t checkRoles(StringRef directory, ImportOptions options) {
  mlir::MLIRContext context;
  options.weightsType = "q3_k_m";
  auto model = importModel(context, directory, options);
  if (!model) {
    ADD_FAILURE() << llvm::toString(model.takeError());
    return 0;
  }
  Roles roles(*model->module);
  roles.check();
  return roles.count;
}

TEST(RecordedRoles, OfReleasedModels) {
  auto released = nlohmann::json::parse(
      std::ifstream(EFFC_GOLDENS "/configs/published/released.json"));
  int64_t count = 0;
  for (const auto &[name, entry] : released.at("models").items()) {
    SCOPED_TRACE(name);
    test::TemporaryDirectory directory;
    directory.write("config.json", entry.at("config").dump());
    ImportOptions options;
    options.weights = WeightsNeeded::ShapesOnly;
    count += checkRoles(directory.path, options);
  }
  EXPECT_GE(count, 1000);
}

TEST(RecordedRoles, OfEveryFamily) {
  int64_t count = 0;
  for (const std::string &folder : test::listRecordedFamilies()) {
    SCOPED_TRACE(folder);
    std::string directory = EFFC_GOLDENS "/" + folder;
    count += checkRoles(directory, test::readRecordedOptions(directory));
  }
  EXPECT_GE(count, 100);
}

} // namespace
