// A sample of a model is the model with fewer layers.
#include "compiler/LayerSample.h"

#include "compiler/Reference.h"
#include "test/unit/compiler/StoredCheckpoint.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace effc;
using namespace effc::test;

using Names = std::vector<std::string>;

// A layer adds to its tokens, so it does nothing where its last product is
// zero: with such layers the whole model gives what the sample gives.
TEST(LayerSample, IsTheModelWithoutTheOtherLayers) {
  StoredCheckpoint checkpoint(EFFC_GOLDENS "/sample");
  std::optional<LayerSample> sample =
      llvm::cantFail(sampleLayers(checkpoint.get()));
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->kept, (Names{"layers.0", "layers.5"}));
  EXPECT_EQ(sample->layers, 6u);
  // A layer has 1160 x 256 + 256 x 512 + 5 x 640 + 256 + 512 + 3 x 8 elements,
  // what stands around them 2048 x 256 + 256.
  constexpr double kLayer = 432'024, kHead = 524'544;
  EXPECT_DOUBLE_EQ(sample->share, (2 * kLayer + kHead) / (6 * kLayer + kHead));

  StoredModel silent = checkpoint.get();
  for (const char *layer : {"1", "2", "3", "4"})
    silent =
        withZeroWeight(silent, "layers." + std::string(layer) + ".out_proj");
  std::vector<int32_t> tokens = {3, 1999, 17, 3, 256};
  EXPECT_EQ(llvm::cantFail(evaluateReference(sample->model, tokens, {})),
            llvm::cantFail(evaluateReference(silent, tokens, {})));
}

// Attention to a window and to everything take turns.
TEST(LayerSample, KeepsTheFirstAndTheLastOfEveryKind) {
  TemporaryFolder folder;
  std::ifstream golden(EFFC_GOLDENS "/families/gemma3/text_caps/config.json");
  std::stringstream text;
  text << golden.rdbuf();
  llvm::json::Value config = llvm::cantFail(llvm::json::parse(text.str()));
  llvm::json::Array types;
  for (int layer = 0; layer < 9; ++layer)
    types.push_back(layer % 4 == 3 ? "full_attention" : "sliding_attention");
  (*config.getAsObject())["num_hidden_layers"] = 9;
  (*config.getAsObject())["layer_types"] = std::move(types);
  std::error_code error;
  llvm::raw_fd_ostream(folder.at("config.json"), error) << config;
  ASSERT_FALSE(error);
  StoredCheckpoint checkpoint(folder.at(""), /*shapesOnly=*/true);
  std::optional<LayerSample> sample =
      llvm::cantFail(sampleLayers(checkpoint.get()));
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->kept,
            (Names{"layers.0", "layers.3", "layers.7", "layers.8"}));
  EXPECT_EQ(sample->layers, 9u);
}

TEST(LayerSample, IsNoneWhereAllLayersStay) {
  StoredCheckpoint checkpoint(EFFC_GOLDENS "/mamba2/f32_plain");
  EXPECT_FALSE(llvm::cantFail(sampleLayers(checkpoint.get())));
}
