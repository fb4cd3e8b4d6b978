// Which matrix gets which storage. What mixes choose is written down here from
// llama.cpp's src/llama-quant.cpp and from files that its tool has made.
#include "frontend/weights/WeightTypes.h"

#include "dialects/storage/Storage.h"
#include "dialects/storage/StorageDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::frontend;

namespace {

struct Declared {
  std::string name;
  int64_t rows, columns;
  MatrixRole role = MatrixRole::Other;
  std::string source = ""; // empty: "its." and the name
};

class WeightTypesTest : public testing::Test {
protected:
  WeightTypesTest() {
    context.loadDialect<mlir::func::FuncDialect, seq::SeqDialect,
                        storage::StorageDialect>();
  }

  /// A model of these bf16 matrices, the last of which is its head.
  void make(std::vector<Declared> given) {
    declared = std::move(given);
    std::string text =
        "module attributes {seq.model = #seq.model<family = \"llama\", "
        "vocabulary = 19, width = 256, max_context = 0>} {\n";
    auto typeOf = [](const Declared &matrix) {
      return "tensor<" + std::to_string(matrix.rows) + "x" +
             std::to_string(matrix.columns) + "xbf16>";
    };
    for (const Declared &matrix : declared)
      text += "seq.weight @" + matrix.name + " source(\"" +
              (matrix.source.empty() ? "its." + matrix.name : matrix.source) +
              "\") : " + typeOf(matrix) + "\n";
    const Declared &head = declared.back();
    std::string width = std::to_string(head.columns) + "xf32>",
                count = std::to_string(head.rows) + "xf32>";
    text += "func.func @forward(%x: tensor<?x" + width + ") -> tensor<?x" +
            count + " {\n%w = seq.parameter @" + head.name + " : " +
            typeOf(head) + "\n%y = seq.lm_head %x, %w : (tensor<?x" + width +
            ", " + typeOf(head) + ") -> tensor<?x" + count +
            "\nreturn %y : tensor<?x" + count + "\n}\n}";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
  }

  /// Empty on success.
  std::string apply(llvm::StringRef text) {
    remarks.clear();
    EXPECT_TRUE(WeightTypes::isText(text)) << text.str();
    auto types = WeightTypes::parse(text, context);
    if (!types)
      return llvm::toString(types.takeError());
    llvm::SmallVector<Matrix> matrices;
    for (auto [weight, matrix] :
         llvm::zip_equal(module->getOps<seq::WeightOp>(), declared))
      matrices.push_back({weight, matrix.role});
    std::string problem =
        llvm::toString(types->apply(*module, matrices, remarks));
    if (problem.empty()) {
      EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
    }
    return problem;
  }
  std::string typeOf(llvm::StringRef name) {
    auto weight = module->lookupSymbol<seq::WeightOp>(name);
    mlir::Type type = weight.getType();
    return storage::Storage::get(
               llvm::cast<mlir::RankedTensorType>(type).getElementType())
        .name()
        .str();
  }

  mlir::MLIRContext context;
  std::vector<Declared> declared;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Remarks remarks;
};

std::vector<Declared> withLayers(int64_t count, std::vector<Declared> parts) {
  std::vector<Declared> all = {{"embeddings", 19, 256}};
  for (int64_t layer = 0; layer < count; ++layer)
    for (Declared part : parts) {
      part.name = "layers." + std::to_string(layer) + "." + part.name;
      all.push_back(part);
    }
  all.push_back({"lm_head", 19, 256});
  return all;
}

const std::vector<Declared> kAttention = {
    {"attention.query", 64, 256},
    {"attention.key", 32, 256, MatrixRole::Keys},
    {"attention.value", 32, 256, MatrixRole::Values},
    {"attention.out", 256, 64, MatrixRole::AttentionOut},
    {"mlp.up", 512, 256},
    {"mlp.down", 256, 512, MatrixRole::Down}};
const Declared kRouter = {"experts.router", 4, 256, MatrixRole::Router};

TEST_F(WeightTypesTest, DenseTypesAreForAll) {
  make(withLayers(2, {kRouter, {"mlp.up", 9, 40}}));
  ASSERT_EQ(apply("f16"), "");
  for (const char *name :
       {"embeddings", "layers.0.experts.router", "layers.1.mlp.up", "lm_head"})
    EXPECT_EQ(typeOf(name), "f16") << name;
  EXPECT_TRUE(remarks.empty());
}

// Of 26 layers the first 3 (26 / 8), those from 22 on (7 * 26 / 8), and every third
// from 5 on.
TEST_F(WeightTypesTest, MediumMixesKeepValuesOfDeepLayers) {
  make(withLayers(26, kAttention));
  ASSERT_EQ(apply("q4_k_m"), "");
  const std::vector<int64_t> deep = {0,  1,  2,  5,  8,  11, 14,
                                     17, 20, 22, 23, 24, 25};
  for (int64_t layer = 0; layer < 26; ++layer) {
    std::string name = "layers." + std::to_string(layer);
    const char *kind = llvm::is_contained(deep, layer) ? "q6_k" : "q4_k";
    EXPECT_EQ(typeOf(name + ".attention.value"), kind) << layer;
    EXPECT_EQ(typeOf(name + ".mlp.down"), kind) << layer;
    EXPECT_EQ(typeOf(name + ".attention.query"), "q4_k") << layer;
    EXPECT_EQ(typeOf(name + ".attention.key"), "q4_k") << layer;
    // Rows of 64 have no block of 256.
    EXPECT_EQ(typeOf(name + ".attention.out"), "q5_0") << layer;
  }
  EXPECT_EQ(typeOf("embeddings"), "q4_k");
  EXPECT_EQ(typeOf("lm_head"), "q6_k");
  EXPECT_EQ(remarks, Remarks{"matrices with rows of 64 get q5_0: q4_k has "
                             "blocks of 256"});
}

TEST_F(WeightTypesTest, OtherMixesChooseOtherLayers) {
  make(withLayers(16, kAttention));
  ASSERT_EQ(apply("q4_k_s"), "");
  EXPECT_EQ(typeOf("layers.3.attention.value"), "q5_k");
  EXPECT_EQ(typeOf("layers.4.attention.value"), "q4_k");
  EXPECT_EQ(typeOf("layers.1.mlp.down"), "q5_k");
  EXPECT_EQ(typeOf("layers.2.mlp.down"), "q4_k");
  make(withLayers(16, kAttention));
  ASSERT_EQ(apply("q3_k_m"), "");
  EXPECT_EQ(typeOf("layers.1.attention.value"), "q5_k");
  EXPECT_EQ(typeOf("layers.2.attention.value"), "q4_k");
  EXPECT_EQ(typeOf("layers.0.mlp.down"), "q5_k");
  EXPECT_EQ(typeOf("layers.1.mlp.down"), "q4_k");
  EXPECT_EQ(typeOf("layers.1.mlp.up"), "q3_k");
  // q4_k, then what is smaller.
  EXPECT_EQ(typeOf("layers.1.attention.out"), "q5_0");
  make(withLayers(16, kAttention));
  ASSERT_EQ(apply("q5_k_s"), "");
  EXPECT_EQ(typeOf("layers.0.attention.value"), "q5_k");
  EXPECT_EQ(typeOf("layers.0.attention.out"), "q5_1");
}

// SmolLM2 135M, whose rows have 576 numbers: one tensor of q8_0 in its Q4_1 file.
TEST_F(WeightTypesTest, TheHeadIsTheEmbeddingsWhereOneTableIsBoth) {
  make({{"layers.0.mlp.up", 1536, 576}, {"embeddings", 19, 576}});
  ASSERT_EQ(apply("q4_1"), "");
  EXPECT_EQ(typeOf("layers.0.mlp.up"), "q4_1");
  EXPECT_EQ(typeOf("embeddings"), "q8_0");
  make({{"embeddings", 19, 512}, {"lm_head", 19, 512}});
  ASSERT_EQ(apply("q4_1"), "");
  EXPECT_EQ(typeOf("embeddings"), "q4_1");
  EXPECT_EQ(typeOf("lm_head"), "q6_k");
}

TEST_F(WeightTypesTest, EightExpertsHaveWiderKeysAndValues) {
  for (int64_t experts : {8, 6}) {
    std::vector<Declared> parts = kAttention;
    parts.push_back({"experts.router", experts, 256, MatrixRole::Router});
    parts.push_back({"experts.down", experts * 256, 512, MatrixRole::Down});
    make(withLayers(8, parts));
    ASSERT_EQ(apply("q4_k_m"), "");
    EXPECT_EQ(typeOf("layers.2.attention.value"),
              experts == 8 ? "q8_0" : "q4_k");
    EXPECT_EQ(typeOf("layers.2.attention.key"), experts == 8 ? "q8_0" : "q4_k");
    EXPECT_EQ(typeOf("layers.0.attention.out"), experts == 8 ? "q5_1" : "q5_0");
    EXPECT_EQ(typeOf("layers.0.experts.down"), "q6_k");
    EXPECT_EQ(typeOf("layers.2.experts.down"), "q4_k");
    EXPECT_EQ(typeOf("layers.0.experts.router"), "bf16");
    EXPECT_TRUE(llvm::is_contained(
        remarks, "matrix 'layers.0.experts.router' stays bf16: what it rounds "
                 "would send tokens to other experts"));
  }
}

// Queries, keys and values of one tensor, of which effc makes three matrices.
TEST_F(WeightTypesTest, PartsOfATensorHaveOneType) {
  std::vector<Declared> all;
  for (int64_t layer = 0; layer < 9; ++layer)
    for (auto [part, role] : {std::pair("query", MatrixRole::Other),
                              std::pair("key", MatrixRole::Keys),
                              std::pair("value", MatrixRole::Values)})
      all.push_back({"layers." + std::to_string(layer) + ".attention." + part,
                     32, 256, role, "qkv." + std::to_string(layer)});
  all.push_back({"lm_head", 19, 256});
  make(all);
  ASSERT_EQ(apply("q5_k_m"), "");
  for (auto [layer, kind] : {std::pair(0, "q6_k"), std::pair(1, "q5_k"),
                             std::pair(3, "q6_k"), std::pair(8, "q6_k")})
    for (const char *part : {"query", "key", "value"})
      EXPECT_EQ(
          typeOf("layers." + std::to_string(layer) + ".attention." + part),
          kind)
          << layer << part;
}

TEST_F(WeightTypesTest, RowsThatNothingDividesStay) {
  make({{"layers.0.mlp.up", 9, 40}, {"lm_head", 19, 256}});
  ASSERT_EQ(apply("q4_k_m"), "");
  EXPECT_EQ(typeOf("layers.0.mlp.up"), "bf16");
  EXPECT_EQ(remarks, Remarks{"matrices with rows of 40 stay bf16: q4_k has "
                             "blocks of 256"});
}

// Names say nothing: what is called as a matrix with a role is not one.
TEST_F(WeightTypesTest, RolesDecideWhatStays) {
  auto matrices = [](MatrixRole role) {
    return std::vector<Declared>{{"layers.0.experts.router", 4, 256, role},
                                 {"layers.0.k", 256, 256},
                                 {"lm_head", 19, 256}};
  };
  for (auto [role, reason] :
       {std::pair(MatrixRole::Router,
                  "what it rounds would send tokens to other experts"),
        std::pair(MatrixRole::SharedGate, "it is a vector"),
        std::pair(MatrixRole::Positions,
                  "positions are added to all that follows"),
        std::pair(MatrixRole::LowRank,
                  "it is half of a product of low rank")}) {
    make(matrices(role));
    ASSERT_EQ(apply("q8_0"), "");
    EXPECT_EQ(typeOf("layers.0.experts.router"), "bf16") << reason;
    EXPECT_EQ(typeOf("layers.0.k"), "q8_0") << reason;
    EXPECT_EQ(remarks, Remarks{"matrix 'layers.0.experts.router' stays bf16: " +
                               std::string(reason)});
  }
  for (MatrixRole role :
       {MatrixRole::Other, MatrixRole::Values, MatrixRole::Keys,
        MatrixRole::AttentionOut, MatrixRole::Down}) {
    make(matrices(role));
    ASSERT_EQ(apply("q8_0"), "");
    EXPECT_EQ(typeOf("layers.0.experts.router"), "q8_0");
    EXPECT_TRUE(remarks.empty());
  }
}

// The first pattern that fits counts, by either name; the rest stays.
TEST_F(WeightTypesTest, PatternsComeBeforeAll) {
  make(withLayers(2, {kRouter, {"mlp.up", 9, 256}}));
  ASSERT_EQ(apply("layers.1.*=q5_0,*.mlp.up=q6_k,its.lm_head=f16"), "");
  EXPECT_EQ(typeOf("layers.1.mlp.up"), "q5_0");
  EXPECT_EQ(typeOf("layers.1.experts.router"), "q5_0");
  EXPECT_EQ(typeOf("layers.0.mlp.up"), "q6_k");
  EXPECT_EQ(typeOf("layers.0.experts.router"), "bf16");
  EXPECT_EQ(typeOf("lm_head"), "f16");
  EXPECT_EQ(typeOf("embeddings"), "bf16");
  make(withLayers(2, {{"mlp.up", 9, 256}}));
  ASSERT_EQ(apply("q4_0,lm_head=q8_0"), "");
  EXPECT_EQ(typeOf("layers.0.mlp.up"), "q4_0");
  EXPECT_EQ(typeOf("lm_head"), "q8_0");
}

// As llama.cpp spells them, for all matrices and for some.
TEST_F(WeightTypesTest, TakesNamesInCapitals) {
  make(withLayers(2, {{"mlp.up", 9, 256}}));
  ASSERT_EQ(apply("Q4_0,lm_head=Q8_0"), "");
  EXPECT_EQ(typeOf("layers.0.mlp.up"), "q4_0");
  EXPECT_EQ(typeOf("lm_head"), "q8_0");
  for (const char *text : {"Q4_K_M", "*=Q8_0", "BF16", "*.UP=Q6_K,INT8_64_F16"})
    EXPECT_TRUE(WeightTypes::isText(text)) << text;
}

TEST_F(WeightTypesTest, RefusesWhatIsNotMeant) {
  make(withLayers(1, {{"mlp.up", 9, 256}}));
  EXPECT_EQ(apply("q4_0,layer.*=q8_0"),
            "no matrix has a name like 'layer.*' that no pattern before it has "
            "too (--weights-type)");
  EXPECT_EQ(apply("q4_0,q8_0"),
            "expects one type for all weights, but got a second one, 'q8_0'");
  EXPECT_EQ(apply("[=q8_0"),
            "'[' is no pattern of names: invalid glob pattern, unmatched '['");
  EXPECT_EQ(apply("!storage.block<1>"),
            "'!storage.block<1>' describes no storage: expected string");
  for (const char *text : {"", "q4", "=q8_0", "*=q4_k_m", "q4_0,", "*=", "*=9"})
    EXPECT_FALSE(WeightTypes::isText(text)) << text;
}

// A description has commas and '=' of its own, and its blocks are for all but what
// stays, since no mix has its name.
TEST_F(WeightTypesTest, TakesDescriptions) {
  const std::string own = "!storage.block<\"own\", elements = 8, bytes = 12, "
                          "digits = [8], code = int [8 at 0 [8]], scale = "
                          "[f32 [32 at 64 [0]]]>";
  make(withLayers(1, {kRouter, {"mlp.up", 9, 256}}));
  ASSERT_EQ(apply(own + ",lm_head=f32"), "");
  EXPECT_EQ(typeOf("layers.0.mlp.up"), "own");
  EXPECT_EQ(typeOf("layers.0.experts.router"), "bf16");
  EXPECT_EQ(typeOf("lm_head"), "f32");
  ASSERT_EQ(apply("lm_head=" + own), "");
  EXPECT_EQ(typeOf("lm_head"), "own");
  EXPECT_EQ(apply("!storage.block<\"two\", elements = 8, bytes = 12, digits = "
                  "[8], code = uint [8 at 0 [8]], scale = [f16 [16 at 64 "
                  "[0]]], plus = [f16 [16 at 80 [0]]]>")
                .substr(0, 45),
            "weights can be kept as '!storage.block<\"two\",");
}

} // namespace
