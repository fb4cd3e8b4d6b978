// One test or more per rule of Model.h, named by its label.
#include "frontend/gguf/Model.h"

#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TemporaryDirectory.h"
#include "test/unit/frontend/gguf/GgufImage.h"

#include <unistd.h>

using namespace effc::frontend;
using namespace effc::test;
using Type = GgufValueType;

namespace {

class GgufModelTest : public testing::Test {
protected:
  std::string open(llvm::StringRef name) {
    return outcome(GgufModel::open(directory.file(name)));
  }
  std::string open(llvm::StringRef name, const GgufBuilder &builder) {
    directory.write(name, builder.build());
    return open(name);
  }
  static GgufBuilder shard(uint16_t number, uint16_t count, int32_t tensors) {
    return GgufBuilder()
        .raw("split.no", Type::U16, gguf(number))
        .raw("split.count", Type::U16, gguf(count))
        .raw("split.tensors.count", Type::I32, gguf(tensors));
  }
  /// Three files with 2, 1 and 1 tensors.
  void writeShards() {
    directory.write("m-00001-of-00003.gguf",
                    shard(0, 3, 4)
                        .text("general.architecture", "llama")
                        .floats("a", {2}, {1, 2})
                        .floats("b", {1}, {3})
                        .build());
    directory.write("m-00002-of-00003.gguf",
                    shard(1, 3, 4).floats("c", {3}, {4, 5, 6}).build());
    directory.write("m-00003-of-00003.gguf",
                    shard(2, 3, 4).floats("d", {1}, {7}).build());
  }

  TemporaryDirectory directory;
};

} // namespace

TEST_F(GgufModelTest, OpensOneFile) {
  EXPECT_EQ(open("m.gguf", GgufBuilder()
                               .text("general.type", "model")
                               .floats("v", {3}, {1, 2, 3})),
            "success");
  auto model = llvm::cantFail(GgufModel::open(directory.file("m.gguf")));
  EXPECT_EQ(model->getDirectory(), directory.path);
  EXPECT_EQ(model->find("w"), nullptr);
  EXPECT_EQ(decode<float>(ElementType::F32,
                          llvm::cantFail(model->view(*model->find("v")))),
            (std::vector<float>{1, 2, 3}));
}

TEST_F(GgufModelTest, OpensShards) {
  writeShards();
  auto model =
      llvm::cantFail(GgufModel::open(directory.file("m-00001-of-00003.gguf")));
  ASSERT_EQ(model->getShards().size(), 3u);
  EXPECT_EQ(*model->getMetadata().getString("general.architecture"), "llama");
  EXPECT_EQ(decode<float>(ElementType::F32,
                          llvm::cantFail(model->view(*model->find("c")))),
            (std::vector<float>{4, 5, 6}));
}

TEST_F(GgufModelTest, GM1_CountIsASize) {
  EXPECT_EQ(open("m.gguf", shard(0, 0, 0)),
            "m.gguf: expects 'split.count' to be an integer in 1..512, but got "
            "0 (u16)");
  EXPECT_EQ(open("m.gguf", shard(0, 513, 0)),
            "m.gguf: expects 'split.count' to be an integer in 1..512, but got "
            "513 (u16)");
  EXPECT_EQ(open("m.gguf", shard(0, 1, 0)), "success");
}

TEST_F(GgufModelTest, GM2_TheFirstIsNamed) {
  writeShards();
  EXPECT_EQ(open("m-00002-of-00003.gguf"),
            "m-00002-of-00003.gguf: is file 2 of 3: name the first, which has "
            "the keys (\"...-00001-of-00003.gguf\")");
}

TEST_F(GgufModelTest, GM3_TheOthersLieBesideIt) {
  writeShards();
  std::string second = directory.file("m-00002-of-00003.gguf");
  unlink(second.c_str());
  EXPECT_EQ(open("m-00001-of-00003.gguf"),
            "cannot open '" + second + "': no such file or directory");
  EXPECT_EQ(open("m.gguf", shard(0, 3, 0)),
            "m.gguf: is the first of 3 files: expects its name to end with "
            "'-00001-of-00003.gguf', so that the others can be found");
}

TEST_F(GgufModelTest, GM4_EachSaysWhichItIs) {
  writeShards();
  std::string first = "m-00001-of-00003.gguf";
  auto spoil = [&](const GgufBuilder &builder) {
    directory.write("m-00002-of-00003.gguf", builder.build());
    return open(first);
  };
  EXPECT_EQ(spoil(shard(2, 3, 4).floats("c", {1}, {1})),
            "m-00002-of-00003.gguf: expects 'split.no' to be 1, but got 2: the "
            "file is not the one that its name says");
  EXPECT_EQ(spoil(shard(1, 4, 4).floats("c", {1}, {1})),
            "m-00002-of-00003.gguf: expects 'split.count' to be 3, but got 4: "
            "the file is not the one that its name says");
  EXPECT_EQ(spoil(GgufBuilder().floats("c", {1}, {1})),
            "m-00002-of-00003.gguf: lacks key 'split.no'; lacks key "
            "'split.count'");
  EXPECT_EQ(
      spoil(
          shard(1, 3, 4).number("llama.block_count", 2).floats("c", {1}, {1})),
      "m-00002-of-00003.gguf: key 'llama.block_count' is in a further file: "
      "keys belong into the first");
}

TEST_F(GgufModelTest, GM5_ATensorIsInOneFile) {
  writeShards();
  directory.write("m-00003-of-00003.gguf",
                  shard(2, 3, 4).floats("b", {1}, {7}).build());
  EXPECT_EQ(open("m-00001-of-00003.gguf"),
            "tensor 'b' is in 'm-00003-of-00003.gguf' and in "
            "'m-00001-of-00003.gguf'");
}

TEST_F(GgufModelTest, GM6_AllTensorsAreThere) {
  writeShards();
  directory.write("m-00003-of-00003.gguf", shard(2, 3, 4).build());
  EXPECT_EQ(open("m-00001-of-00003.gguf"),
            "m-00001-of-00003.gguf: expects 4 tensors ('split.tensors.count'), "
            "but the files have 3");
}

TEST_F(GgufModelTest, GM7_IsAModel) {
  for (auto [kind, is] :
       {std::pair{"adapter", "an adapter, which is added to the weights of a "
                             "model: merge them first (llama-export-lora)"},
        {"mmproj", "a projector of images or sounds, which belongs beside a "
                   "model's own file: name that one"},
        {"imatrix", "a matrix of importances, which is used to make other "
                    "files and has no weights"}})
    EXPECT_EQ(open("m.gguf", GgufBuilder().text("general.type", kind)),
              "m.gguf: is " + std::string(is));
  EXPECT_EQ(open("m.gguf", GgufBuilder().text("general.type", "x")),
            "m.gguf: expects 'general.type' to be \"model\", but got \"x\"");
  EXPECT_EQ(open("m.gguf", GgufBuilder().number("general.type", 1)),
            "m.gguf: expects 'general.type' to be a string, but got 1 (u32)");
}

// Two blocks; the second one's scale is spoiled at the place that the format
// gives it (ggml-common.h).
TEST_F(GgufModelTest, GM8_ScalesAreNumbers) {
  struct Case {
    const char *name;
    int32_t type;
    int64_t elements;
    size_t bytes, place;
  };
  for (const Case &c : {Case{"Q4_0", 2, 32, 18, 0},
                        {"Q4_1", 3, 32, 20, 2},
                        {"Q8_0", 8, 32, 34, 0},
                        {"Q2_K", 10, 256, 84, 82},
                        {"Q3_K", 11, 256, 110, 108},
                        {"Q4_K", 12, 256, 144, 2},
                        {"Q6_K", 14, 256, 210, 208},
                        {"MXFP4", 39, 32, 17, 0}}) {
    std::string blocks(2 * c.bytes, '\1');
    auto check = [&] {
      directory.write(
          "m.gguf",
          GgufBuilder().tensor("w", {c.elements, 2}, c.type, blocks).build());
      return outcome(llvm::cantFail(GgufModel::open(directory.file("m.gguf")))
                         ->checkScales());
    };
    EXPECT_EQ(check(), "success");
    bool isPower = llvm::StringRef(c.name) == "MXFP4";
    for (const char *scale : {"\x00\x7c", "\x00\xfc", "\x01\x7e"}) {
      blocks.replace(c.bytes + c.place, isPower ? 1 : 2, scale,
                     isPower ? 0 : 2);
      if (isPower)
        blocks.insert(c.bytes + c.place, 1, '\xff');
      EXPECT_EQ(check(), "m.gguf: tensor 'w': a scale of block 1 (" +
                             std::string(c.name) +
                             ") is infinite or no number: the file is damaged");
    }
  }
}

TEST_F(GgufModelTest, NoticesThatTheFileShrank) {
  std::string path = directory.write(
      "m.gguf",
      GgufBuilder().floats("v", {40000}, std::vector<float>(40000)).build());
  auto model = llvm::cantFail(GgufModel::open(path));
  ASSERT_EQ(truncate(path.c_str(), 4096), 0);
  EXPECT_EQ(outcome(model->view(*model->find("v"))),
            "m.gguf: had 160064 bytes when it was opened and has 4096 now");
}
