// Configurations of released models, as far as their values decide shapes, and
// some of them with all keys that their publishers' tools wrote:
// goldens/configs/published. Each is imported from its config.json alone, and
// its weights are as many numbers as the public library's model has.
#include "dialects/seq/Seq.h"
#include "test/unit/frontend/ConfigImport.h"

#include <fstream>

using namespace effc::frontend;
using nlohmann::json;

static json readPublished() {
  return json::parse(
      std::ifstream(EFFC_GOLDENS "/configs/published/released.json"));
}

/// Of the tensors that the model reads, each once. A weight may repeat their
/// numbers.
static int64_t countParameters(mlir::ModuleOp module) {
  int64_t count = 0;
  for (auto weight : module.getOps<effc::seq::WeightOp>()) {
    if (weight.getComputed())
      continue;
    auto type = llvm::cast<mlir::RankedTensorType>(weight.getType());
    effc::seq::DerivationAttr derived = weight.getDerivedAttr();
    bool repeats =
        derived && derived.getRule() == effc::seq::DerivationRule::Repeated;
    count += repeats ? mlir::ShapedType::getNumElements(*weight.getStored())
                     : type.getNumElements();
  }
  return count;
}

TEST(PublishedConfigTest, AreAtLeastAHundred) {
  EXPECT_GE(readPublished().at("models").size(), 100u);
}

TEST(PublishedConfigTest, HaveTheLibrarysParameters) {
  json published = readPublished();
  for (const auto &[name, entry] : published.at("models").items()) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(published.at("sources").contains(entry.at("source")));
    effc::test::TemporaryDirectory directory;
    directory.write("config.json", entry.at("config").dump());
    mlir::MLIRContext context;
    ImportOptions options;
    options.weights = WeightsNeeded::ShapesOnly;
    auto model = importModel(context, directory.path, options);
    if (!model) {
      ADD_FAILURE() << llvm::toString(model.takeError());
      continue;
    }
    // Rows of OPT's table before the first position, which no token reads.
    int64_t unread = entry.value("unread_parameters", 0);
    EXPECT_EQ(countParameters(*model->module),
              entry.at("parameters").get<int64_t>() - unread);
    auto description =
        (*model->module)->getAttrOfType<effc::seq::ModelAttr>("seq.model");
    // That of the text, where a model has more parts.
    const json &config = entry.at("config");
    EXPECT_EQ(
        description.getVocabulary(),
        config.value("text_config", config).at("vocab_size").get<int64_t>());
  }
}
