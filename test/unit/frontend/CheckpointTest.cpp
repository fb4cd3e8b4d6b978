#include "frontend/checkpoint/Checkpoint.h"

#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/SafetensorsImage.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include <unistd.h>

using namespace effc::frontend;
using namespace effc::test;

namespace {

class CheckpointTest : public testing::Test {
protected:
  std::unique_ptr<Checkpoint> openGood() {
    SafetensorsBuilder builder;
    builder.add("a", "U8", {3}, "abc");
    builder.add("b", "U8", {3}, "abc");
    builder.add("c", "U8", {1, 3}, "abc");
    builder.add("d", "I8", {3}, "abc");
    builder.add("e", "U8", {3}, "abd");
    directory.write("model.safetensors", builder.build());
    return llvm::cantFail(Checkpoint::open(directory.path));
  }
  std::string open() { return outcome(Checkpoint::open(directory.path)); }
  std::string lacking() {
    return "expects 'model.safetensors' in '" + directory.path + "', but ";
  }

  TemporaryDirectory directory;
};

} // namespace

TEST_F(CheckpointTest, GivesData) {
  auto checkpoint = openGood();
  TensorData data = llvm::cantFail(checkpoint->getData("e"));
  EXPECT_EQ(data.type, ElementType::U8);
  EXPECT_EQ(data.shape, llvm::ArrayRef<uint64_t>({3}));
  EXPECT_EQ(llvm::toStringRef(data.bytes), "abd");
  EXPECT_EQ(outcome(checkpoint->getData("x")),
            "model.safetensors: lacks tensor 'x'");
}

TEST_F(CheckpointTest, ComparesTensors) {
  auto checkpoint = openGood();
  EXPECT_TRUE(llvm::cantFail(checkpoint->areEqual("a", "b")));
  EXPECT_FALSE(llvm::cantFail(checkpoint->areEqual("a", "c")));
  EXPECT_FALSE(llvm::cantFail(checkpoint->areEqual("a", "d")));
  EXPECT_FALSE(llvm::cantFail(checkpoint->areEqual("a", "e")));
}

TEST_F(CheckpointTest, AccountsForEveryTensor) {
  auto checkpoint = openGood();
  EXPECT_EQ(outcome(checkpoint->get("x")),
            "model.safetensors: lacks tensor 'x'");
  EXPECT_EQ(outcome(checkpoint->checkAllRead()),
            "model.safetensors: tensor 'a' (and 4 more) has no place in the "
            "model");
  for (const char *name : {"a", "b", "c"})
    checkpoint->take(name);
  checkpoint->leaveAside("e");
  checkpoint->leaveAside("not there");
  EXPECT_EQ(outcome(checkpoint->checkAllRead()),
            "model.safetensors: tensor 'd' has no place in the model");
  checkpoint->leaveAside("d");
  EXPECT_EQ(outcome(checkpoint->checkAllRead()), "success");
}

TEST_F(CheckpointTest, RefusesWhatIsNotADirectory) {
  std::string path = directory.write("file", "x");
  EXPECT_EQ(outcome(Checkpoint::open(path)),
            "expects '" + path +
                "' to be a checkpoint's directory, but got a "
                "file");
  path = directory.file("missing");
  EXPECT_EQ(outcome(Checkpoint::open(path)),
            "cannot open '" + path + "': no such file or directory");
}

TEST_F(CheckpointTest, NamesTheWeightsItFound) {
  EXPECT_EQ(open(), lacking() + "found no weights");
  directory.write("weights.gguf", "x");
  EXPECT_EQ(open(), lacking() +
                        "found 'weights.gguf', a GGUF file, which has all of a "
                        "model: name the file itself in the place of the "
                        "directory");
  directory.write("pytorch_model.bin", "x");
  EXPECT_EQ(open(), lacking() +
                        "found 'pytorch_model.bin', a Python pickle, which can "
                        "run code when it is read: convert it to safetensors "
                        "(tools/convert_pickle.py)");
  directory.write("model-00001-of-00002.safetensors", "x");
  EXPECT_EQ(open(), lacking() + "found 'model-00001-of-00002.safetensors', but "
                                "no 'model.safetensors.index.json' that names "
                                "it: the download may not be complete, or the "
                                "file is to be called 'model.safetensors'");
}

// An adapter is no model; beside whole weights the public library adds it to
// them where its configuration says of what.
TEST_F(CheckpointTest, NamesAnAdapter) {
  directory.write("adapter_model.safetensors", "x");
  std::string kind = "'" + directory.path + "' holds an adapter",
              todo = " ('adapter_model.safetensors'), which is added to the "
                     "weights of a model: merge them first (peft: "
                     "merge_and_unload, then save_pretrained)";
  EXPECT_EQ(open(), kind + todo);
  openGood();
  directory.write("adapter_config.json",
                  R"({"base_model_name_or_path": "org/base"})");
  EXPECT_EQ(open(), kind + " of 'org/base'" + todo);
}

TEST_F(CheckpointTest, NamesWhatCameInThePlaceOfWeights) {
  auto with = [&](const std::string &bytes) {
    directory.write("model.safetensors", bytes);
    return open();
  };
  EXPECT_EQ(with("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
            "model.safetensors: is a Git LFS pointer in the place of the file: "
            "fetch the file itself (git lfs pull)");
  EXPECT_EQ(with("<!DOCTYPE html><title>404</title>"),
            "model.safetensors: is a web page in the place of the file: "
            "download it again");
  EXPECT_EQ(with(std::string("PK\x03\x04\0\0\x08\x08", 8)),
            "model.safetensors: is a ZIP file, as torch.save writes: convert "
            "it to safetensors (tools/convert_pickle.py)");
  // What a hub answers for a file that is not there.
  EXPECT_EQ(with("Entry not found"),
            "model.safetensors: is text in the place of the file, which begins "
            "'Entry not found': download it again");
}

TEST_F(CheckpointTest, NamesTheLayoutOfTheMakers) {
  directory.write("consolidated.00.pth", "x");
  directory.write("params.json", "{}");
  EXPECT_EQ(open(), "expects 'model.safetensors' in '" + directory.path +
                        "', but found 'consolidated.00.pth' beside "
                        "'params.json', the layout of the model's makers: take "
                        "the checkpoint in the layout of the transformers "
                        "library, which has a config.json");
}

TEST_F(CheckpointTest, RefusesTwoSetsOfWeights) {
  openGood();
  directory.write("model.safetensors.index.json", "{}");
  EXPECT_EQ(open(), "expects one of 'model.safetensors' and "
                    "'model.safetensors.index.json' in '" +
                        directory.path + "', but found both");
}

TEST_F(CheckpointTest, ShapesAlone) {
  auto checkpoint = llvm::cantFail(
      Checkpoint::open(directory.path, WeightsNeeded::ShapesOnly));
  EXPECT_FALSE(checkpoint->hasWeights());
  EXPECT_FALSE(checkpoint->has("a"));
  EXPECT_TRUE(checkpoint->getFileNames().empty());
  EXPECT_EQ(outcome(checkpoint->checkAllRead()), "success");
  EXPECT_EQ(outcome(checkpoint->checkUnchanged()), "success");
  EXPECT_EQ(outcome(checkpoint->getData("a")),
            "model.safetensors: lacks tensor 'a'");
  // What is there is read all the same.
  openGood();
  checkpoint = llvm::cantFail(
      Checkpoint::open(directory.path, WeightsNeeded::ShapesOnly));
  EXPECT_TRUE(checkpoint->has("a"));
  // What cannot be read is left aside, and said to be.
  TemporaryDirectory other;
  other.write("pytorch_model.bin", "x");
  checkpoint =
      llvm::cantFail(Checkpoint::open(other.path, WeightsNeeded::ShapesOnly));
  EXPECT_FALSE(checkpoint->hasWeights());
  EXPECT_EQ(checkpoint->getLeftAside(),
            llvm::ArrayRef<std::string>({"pytorch_model.bin"}));
  // What can be read must be right.
  other.write("model.safetensors", "x");
  EXPECT_NE(outcome(Checkpoint::open(other.path, WeightsNeeded::ShapesOnly)),
            "success");
}

TEST_F(CheckpointTest, RefusesASymbolicLinkLoop) {
  std::string path = directory.file("model.safetensors");
  ASSERT_EQ(symlink(path.c_str(), path.c_str()), 0);
  EXPECT_EQ(open(),
            "cannot open '" + path + "': too many levels of symbolic links");
}

TEST_F(CheckpointTest, RefusesADirectoryInPlaceOfTheWeights) {
  std::string path = directory.file("model.safetensors");
  ASSERT_FALSE(llvm::sys::fs::create_directory(path));
  EXPECT_EQ(open(), "expects '" + path + "' to be a file, but got a directory");
}

TEST_F(CheckpointTest, NoticesChanges) {
  auto checkpoint = openGood();
  EXPECT_EQ(outcome(checkpoint->checkUnchanged()), "success");
  ASSERT_EQ(truncate(directory.file("model.safetensors").c_str(), 10), 0);
  EXPECT_NE(outcome(checkpoint->checkUnchanged()), "success");
  EXPECT_NE(outcome(checkpoint->getData("a")), "success");
}
