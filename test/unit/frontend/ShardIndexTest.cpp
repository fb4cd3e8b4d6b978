// Labels are those of frontend/checkpoint/ShardIndex.h.
#include "frontend/checkpoint/ShardIndex.h"

#include "frontend/checkpoint/Checkpoint.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/SafetensorsImage.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include <unistd.h>

using namespace effc::frontend;
using namespace effc::test;

namespace {

constexpr llvm::StringLiteral kIndex = "model.safetensors.index.json";

class ShardIndexTest : public testing::Test {
protected:
  static std::string parsing(llvm::StringRef text) {
    return outcome(parseShardIndex(text, "i"));
  }
  /// A map that names `file` for tensor "a".
  static std::string naming(llvm::StringRef file) {
    return parsing("{\"weight_map\": {\"a\": \"" + file.str() + "\"}}");
  }
  /// Writes a shard of tensors of one byte each, the first letter of their
  /// name.
  void writeShard(llvm::StringRef file, std::vector<std::string> tensors) {
    SafetensorsBuilder builder;
    for (const std::string &name : tensors)
      builder.add(name, "U8", {1}, name.substr(0, 1));
    directory.write(file, builder.build());
  }
  void writeIndex(llvm::StringRef map) {
    directory.write(kIndex, ("{\"metadata\": {\"total_size\": 3}, "
                             "\"weight_map\": {" +
                             map + "}}")
                                .str());
  }
  std::string opening() { return outcome(Checkpoint::open(directory.path)); }

  TemporaryDirectory directory;
};

} // namespace

TEST_F(ShardIndexTest, ReadsTheMap) {
  ShardIndex index = llvm::cantFail(parseShardIndex(
      R"({"metadata": {"total_size": 7, "other": [1]},
          "weight_map": {"c": "2.safetensors", "a": "2.safetensors",
                         "b": "1.safetensors"}})",
      "i"));
  EXPECT_EQ(index.files,
            (std::vector<std::string>{"1.safetensors", "2.safetensors"}));
  EXPECT_EQ(*index.find("a"), 1u);
  EXPECT_EQ(*index.find("b"), 0u);
  EXPECT_EQ(*index.find("c"), 1u);
  EXPECT_EQ(index.find("d"), nullptr);
}

TEST_F(ShardIndexTest, ReadsEveryShard) {
  writeShard("model-1.safetensors", {"b", "a"});
  writeShard("model-2.safetensors", {"c"});
  writeIndex(R"("a": "model-1.safetensors", "b": "model-1.safetensors",
                "c": "model-2.safetensors")");
  auto checkpoint = llvm::cantFail(Checkpoint::open(directory.path));
  EXPECT_EQ(checkpoint->getListName(), kIndex);
  EXPECT_EQ(checkpoint->getFileNames(),
            (std::vector<std::string>{"model-1.safetensors",
                                      "model-2.safetensors", kIndex.str()}));
  for (const char *name : {"a", "b", "c"})
    EXPECT_EQ(
        llvm::toStringRef(llvm::cantFail(checkpoint->getData(name)).bytes),
        name);
  EXPECT_EQ(outcome(checkpoint->getData("d")),
            kIndex.str() + ": lacks tensor 'd'");
  checkpoint->take("b");
  EXPECT_EQ(outcome(checkpoint->checkAllRead()),
            "model-1.safetensors: tensor 'a' (and 1 more) has no place in the "
            "model");
  checkpoint->take("a");
  EXPECT_EQ(outcome(checkpoint->checkAllRead()),
            "model-2.safetensors: tensor 'c' has no place in the model");
  EXPECT_EQ(outcome(checkpoint->checkUnchanged()), "success");
  ASSERT_EQ(truncate(directory.file("model-2.safetensors").c_str(), 10), 0);
  EXPECT_NE(outcome(checkpoint->checkUnchanged()), "success");
  EXPECT_NE(outcome(checkpoint->getData("c")), "success");
  EXPECT_EQ(outcome(checkpoint->getData("a")), "success");
}

TEST_F(ShardIndexTest, IX1_NamesOtherKeys) {
  ShardIndex index = llvm::cantFail(parseShardIndex(
      R"({"more": [1], "weight_map": {"a": "a.safetensors"}, "less": 0})",
      "i"));
  EXPECT_EQ(index.unknownKeys, (std::vector<std::string>{"more", "less"}));
  EXPECT_EQ(index.tensors.size(), 1u);
  writeShard("a.safetensors", {"a"});
  directory.write(kIndex, R"({"weight_map": {"a": "a.safetensors"}, "x": 1})");
  auto checkpoint = llvm::cantFail(Checkpoint::open(directory.path));
  ASSERT_EQ(checkpoint->getRemarks().size(), 1u);
  EXPECT_EQ(checkpoint->getRemarks()[0],
            "'" + kIndex.str() + "': the unknown key 'x' is left aside");
}

TEST_F(ShardIndexTest, IX1_IsAnObject) {
  EXPECT_EQ(parsing("[]"), "i: expects an object, but got an array of 0");
  EXPECT_EQ(parsing("{}"), "i: lacks 'weight_map'");
  EXPECT_NE(parsing("{"), "success");
  EXPECT_NE(parsing(""), "success");
  EXPECT_EQ(
      parsing(R"({"weight_map": {"a": "1.safetensors", "a": "2.safetensors"}})")
          .find("i: "),
      0u);
}

TEST_F(ShardIndexTest, IX1_IsAtMost64MB) {
  std::string text(ShardIndex::kMostBytes + 1, ' ');
  EXPECT_EQ(parsing(text), "i: expects at most 67108864 bytes of JSON, but got "
                           "67108865");
  // A sparse file of more is refused without being read.
  directory.write(kIndex, "{}");
  ASSERT_EQ(truncate(directory.file(kIndex).c_str(), off_t(1) << 40), 0);
  EXPECT_EQ(opening(), kIndex.str() + ": expects at most 67108864 bytes, but "
                                      "got 1099511627776");
}

// A million tensors are read in the time of their text.
TEST_F(ShardIndexTest, IX1_AMillionEntries) {
  std::string text = "{\"weight_map\": {";
  for (int i = 0; i < 1000000; ++i)
    text += (i ? ",\"" : "\"") + std::to_string(i) + "\":\"" +
            std::to_string(i % 100) + ".safetensors\"";
  ShardIndex index = llvm::cantFail(parseShardIndex(text + "}}", "i"));
  EXPECT_EQ(index.files.size(), 100u);
  EXPECT_EQ(index.tensors.size(), 1000000u);
  EXPECT_EQ(index.files[*index.find("999907")], "7.safetensors");
}

TEST_F(ShardIndexTest, IX2_MapsNamesToNames) {
  EXPECT_EQ(parsing(R"({"weight_map": []})"),
            "i: expects 'weight_map' to be an object, but got an array of 0");
  EXPECT_EQ(parsing(R"({"weight_map": {}})"),
            "i: expects tensors in 'weight_map', but got none");
  EXPECT_EQ(parsing(R"({"weight_map": {"a": 1}})"),
            "i: expects a file's name for tensor 'a', but got 1");
  EXPECT_EQ(parsing(R"({"weight_map": {"a": null}})"),
            "i: expects a file's name for tensor 'a', but got null");
}

TEST_F(ShardIndexTest, IX3_StaysInTheDirectory) {
  for (const char *file :
       {"../a.safetensors", "/etc/a.safetensors", "sub/a.safetensors",
        "..\\\\a.safetensors", "..", ".safetensors", "", "a.bin", "a",
        "a.safetensors/", "./a.safetensors"})
    EXPECT_NE(naming(file).find("i: expects tensor 'a' in a .safetensors file "
                                "of the same directory, but got "),
              std::string::npos)
        << file;
  EXPECT_NE(naming(std::string(300, 'x') + ".safetensors"), "success");
  EXPECT_EQ(naming("a.safetensors"), "success");
}

TEST_F(ShardIndexTest, IX4_OfAtMost512Files) {
  std::string text;
  for (int i = 0; i < 513; ++i) {
    std::string name = std::to_string(i);
    text += (i ? ",\"" : "\"") + name + "\":\"" + name + ".safetensors\"";
    if (i == 511)
      EXPECT_EQ(parsing("{\"weight_map\": {" + text + "}}"), "success");
  }
  EXPECT_EQ(parsing("{\"weight_map\": {" + text + "}}"),
            "i: expects at most 512 files, but got 513");
}

TEST_F(ShardIndexTest, IX5_MetadataIsSensible) {
  auto with = [](llvm::StringRef metadata) {
    return parsing("{\"metadata\": " + metadata.str() +
                   ", \"weight_map\": {\"a\": \"a.safetensors\"}}");
  };
  EXPECT_EQ(with("{}"), "success");
  EXPECT_EQ(with("{\"total_size\": 1.5e9}"), "success");
  EXPECT_EQ(with("{\"total_size\": -1}"),
            "i: expects 'total_size' to be a count of bytes, but got -1");
  EXPECT_EQ(with("{\"total_size\": \"1\"}"),
            "i: expects 'total_size' to be a count of bytes, but got \"1\"");
  EXPECT_EQ(with("[]"),
            "i: expects 'metadata' to be an object, but got an array of 0");
}

TEST_F(ShardIndexTest, IX6_FilesHoldWhatIsListed) {
  writeIndex(R"("a": "1.safetensors", "b": "2.safetensors")");
  writeShard("1.safetensors", {"a"});
  EXPECT_EQ(opening(), "cannot open '" + directory.file("2.safetensors") +
                           "': no such file or directory");
  writeShard("2.safetensors", {"c"});
  EXPECT_EQ(opening(), "2.safetensors: lacks tensor 'b', which "
                       "'model.safetensors.index.json' says it has");
  ASSERT_FALSE(llvm::sys::fs::remove(directory.file("2.safetensors")));
  ASSERT_FALSE(
      llvm::sys::fs::create_directory(directory.file("2.safetensors")));
  EXPECT_EQ(opening(), "expects '" + directory.file("2.safetensors") +
                           "' to be a file, but got a directory");
}

TEST_F(ShardIndexTest, IX7_FilesHoldNothingElse) {
  writeIndex(R"("a": "1.safetensors", "b": "2.safetensors")");
  writeShard("1.safetensors", {"a"});
  writeShard("2.safetensors", {"b", "c"});
  EXPECT_EQ(opening(), "2.safetensors: has tensor 'c', which "
                       "'model.safetensors.index.json' does not list");
  writeShard("2.safetensors", {"b", "a"});
  EXPECT_EQ(opening(), "tensor 'a' is in '2.safetensors' and in "
                       "'1.safetensors'");
}
