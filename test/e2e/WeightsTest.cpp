// Where weights go: into the artifact, beside it, or nowhere. The checkpoint is
// layouts/mamba_ssm_f16_padded: its matrices have rows of 32 and 64 f16, which
// are 64 and 128 bytes, so that kernels can read them where they lie.

#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc::test;
using Arguments = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

class Weights : public testing::Test {
protected:
  Weights() {
    fs::create_directory(folder.at("model"));
    for (const char *name : {"config.json", "model.safetensors"})
      fs::copy(golden(name), folder.at(std::string("model/") + name));
  }
  static std::string golden(const std::string &name) {
    return EFFC_GOLDENS "/layouts/mamba_ssm_f16_padded/" + name;
  }
  Finished compile(const std::string &name, const Arguments &options) {
    Arguments all = {EFFC_PROGRAM, "compile",       folder.at("model"),
                     "-o",         folder.at(name), "--no-optimise"};
    all.insert(all.end(), options.begin(), options.end());
    return runProgram(all);
  }
  Finished evaluate(const std::string &name) {
    return runProgram({EFFC_PROGRAM, "eval", folder.at(name), "--tokens",
                       golden("tokens.json"), "--logits", folder.at("logits")});
  }
  Finished check(const std::string &name) {
    return runProgram({EFFC_PROGRAM, "inspect", folder.at(name), "--check"});
  }
  nlohmann::json inspect(const std::string &name) {
    Finished done =
        runProgram({EFFC_PROGRAM, "inspect", folder.at(name), "--json"});
    EXPECT_EQ(done.status, 0) << done.err;
    return nlohmann::json::parse(done.out);
  }
  /// The checksum of the machine code.
  static std::string codeOf(const nlohmann::json &model) {
    for (const auto &segment : model.at("segments"))
      if (segment.at("kind") == "host_code")
        return segment.at("checksum");
    return "";
  }
  std::string weightsFile() { return folder.at("model/model.safetensors"); }
  void flip(const std::string &path, uint64_t fromEnd) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-int64_t(fromEnd), std::ios::end);
    char byte = static_cast<char>(file.peek() ^ 0x01);
    file.seekp(-int64_t(fromEnd), std::ios::end);
    file.put(byte);
  }

  TemporaryFolder folder;
};

} // namespace

TEST_F(Weights, ReferencedGiveTheSameBits) {
  Finished done =
      compile("model.effc", {"--weights", "reference", "--remarks", "-"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_NE(done.err.find(
                "remark: layers.0-1.in_proj: stays in model/model.safetensors"),
            std::string::npos)
      << done.err;
  EXPECT_NE(done.err.find("remark: layers.0-1.d: is embedded: it is a vector"),
            std::string::npos);
  EXPECT_NE(
      done.err.find("remark: layers.0-1.conv: is embedded: the checkpoint "
                    "holds its transpose"),
      std::string::npos);
  done = evaluate("model.effc");
  ASSERT_EQ(done.status, 0) << done.err;
  fs::rename(folder.at("logits"), folder.at("referenced"));
  ASSERT_EQ(compile("whole.effc", {}).status, 0);
  ASSERT_EQ(evaluate("whole.effc").status, 0);
  done = runProgram(
      {EFFC_COMPARE, "--bits", folder.at("referenced"), folder.at("logits")});
  EXPECT_EQ(done.status, 0) << done.out;
  EXPECT_EQ(check("model.effc").status, 0);

  nlohmann::json referenced = inspect("model.effc");
  nlohmann::json whole = inspect("whole.effc");
  EXPECT_EQ(codeOf(referenced), codeOf(whole));
  // A state moves between the two: the weights are the same.
  EXPECT_EQ(referenced.at("layout_id"), whole.at("layout_id"));
  EXPECT_EQ(referenced.at("memory").at("weights"),
            whole.at("memory").at("weights"));
  EXPECT_LT(fs::file_size(folder.at("model.effc")) + 30000,
            fs::file_size(folder.at("whole.effc")));
}

TEST_F(Weights, ReferencedMoveWithTheirFolder) {
  fs::create_directory(folder.at("out"));
  ASSERT_EQ(compile("out/model.effc", {"--weights", "reference"}).status, 0);
  fs::create_directory(folder.at("elsewhere"));
  for (const char *name : {"out", "model"})
    fs::rename(folder.at(name), folder.at(std::string("elsewhere/") + name));
  Finished done = evaluate("elsewhere/out/model.effc");
  EXPECT_EQ(done.status, 0) << done.err;
  fs::rename(folder.at("elsewhere/model"), folder.at("model"));
  done = evaluate("elsewhere/out/model.effc");
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(
      done.err.find("cannot open '" +
                    folder.at("elsewhere/out/../model/model.safetensors'")),
      std::string::npos)
      << done.err;
  for (Arguments command :
       {Arguments{"eval", "--tokens", golden("tokens.json")},
        Arguments{"inspect", "--check"}, Arguments{"verify", "--tokens", "5"},
        Arguments{"eval", "--copy", "--tokens", golden("tokens.json")}}) {
    command.insert(command.begin(), EFFC_PROGRAM);
    for (const std::string &argument :
         {folder.at("elsewhere/out/model.effc"),
          std::string("--weights-folder"), folder.at("model")})
      command.push_back(argument);
    done = runProgram(command);
    EXPECT_EQ(done.status, 0) << done.err;
  }
}

// Names lead from where the artifact is, whatever links lead to it.
TEST_F(Weights, ReferencedThroughLinks) {
  fs::create_directories(folder.at("real/deep"));
  fs::create_directory_symlink(folder.at("real/deep"), folder.at("out"));
  ASSERT_EQ(compile("out/model.effc", {"--weights", "reference"}).status, 0);
  fs::create_symlink(folder.at("out/model.effc"), folder.at("link.effc"));
  for (const char *name :
       {"real/deep/model.effc", "out/model.effc", "link.effc"}) {
    Finished done = evaluate(name);
    EXPECT_EQ(done.status, 0) << name << "\n" << done.err;
  }
  // Writing through the link writes what it leads to.
  ASSERT_EQ(compile("link.effc", {"--weights", "reference"}).status, 0);
  EXPECT_TRUE(fs::is_symlink(folder.at("link.effc")));
  Finished done = evaluate("real/deep/model.effc");
  EXPECT_EQ(done.status, 0) << done.err;
}

TEST_F(Weights, ReferencedAreChecked) {
  ASSERT_EQ(compile("model.effc", {"--weights", "reference"}).status, 0);
  // The last tensor of the file is that of a vector or matrix of the model.
  std::string bytes;
  uint64_t size = fs::file_size(weightsFile());
  int noticed = 0;
  for (uint64_t fromEnd = 1; fromEnd < size / 2; fromEnd += 997) {
    flip(weightsFile(), fromEnd);
    Finished done = check("model.effc");
    if (done.status != 0) {
      ++noticed;
      EXPECT_NE(done.err.find("is not what the model was compiled with"),
                std::string::npos)
          << done.err;
    }
    flip(weightsFile(), fromEnd);
  }
  EXPECT_GT(noticed, 0);
  EXPECT_EQ(check("model.effc").status, 0);
  flip(weightsFile(), size - 20); // in the header
  Finished done = evaluate("model.effc");
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("the list of its tensors differs"), std::string::npos)
      << done.err;
  flip(weightsFile(), size - 20);
  fs::resize_file(weightsFile(), size - 1);
  done = evaluate("model.effc");
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("but the file that the model was compiled with had"),
            std::string::npos)
      << done.err;
}

// Files of the same names and sizes with other numbers: the artifact has vectors of
// its own beside their matrices, so it must not run with them.
TEST_F(Weights, OthersOfTheSameSizesAreRefused) {
  ASSERT_EQ(compile("model.effc", {"--weights", "reference"}).status, 0);
  fs::create_directory(folder.at("other"));
  std::string other = folder.at("other/model.safetensors");
  fs::copy(weightsFile(), other);
  auto evaluateThere = [&] {
    return runProgram({EFFC_PROGRAM, "eval", folder.at("model.effc"),
                       "--weights-folder", folder.at("other"), "--tokens",
                       golden("tokens.json")});
  };
  EXPECT_EQ(evaluateThere().status, 0);
  // The last bits of every number.
  uint64_t size = fs::file_size(other), header = 0;
  std::fstream file(other, std::ios::in | std::ios::out | std::ios::binary);
  file.read(reinterpret_cast<char *>(&header), sizeof header);
  std::string bytes(size - 8 - header, '\0');
  file.seekg(static_cast<std::streamoff>(8 + header));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (size_t at = 0; at < bytes.size(); at += 2)
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
  file.seekp(static_cast<std::streamoff>(8 + header));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  Finished done = evaluateThere();
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("is not what the model was compiled with"),
            std::string::npos)
      << done.err;
}

// The sample's table, 2048 x 256, is bf16 in the checkpoint: as f32 it has two
// megabytes, which is no small tensor.
TEST_F(Weights, ReferencedMustBeUsableAsStored) {
  Finished done = runProgram({EFFC_PROGRAM, "compile", EFFC_GOLDENS "/sample",
                              "-o", folder.at("sample.effc"), "--weights",
                              "reference", "--dtype", "f32"});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(
      done.err.find("tensor 'backbone.embeddings.weight' cannot be used where "
                    "it is stored: its elements are stored as bf16 and used as "
                    "f32; use --weights embed"),
      std::string::npos)
      << done.err;
  EXPECT_FALSE(fs::exists(folder.at("sample.effc")));
}

TEST_F(Weights, NoneAreNeededToCompile) {
  ASSERT_EQ(compile("whole.effc", {}).status, 0);
  fs::remove(weightsFile());
  Finished done =
      compile("model.effc", {"--weights", "none", "--dtype", "f16"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(check("model.effc").status, 0);
  nlohmann::json shapes = inspect("model.effc");
  EXPECT_EQ(shapes.at("has_weights"), false);
  EXPECT_EQ(codeOf(shapes), codeOf(inspect("whole.effc")));
  done = evaluate("model.effc");
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find(
                "the file has no weights: it was compiled from shapes alone"),
            std::string::npos)
      << done.err;
  done = compile("model.effc", {});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("found no weights"), std::string::npos) << done.err;
}

// What is there is taken for the types, and left where it is.
TEST_F(Weights, NoneAreTakenWhereThereAre) {
  ASSERT_EQ(compile("model.effc", {"--weights", "none"}).status, 0);
  nlohmann::json model = inspect("model.effc");
  EXPECT_EQ(model.at("has_weights"), false);
  EXPECT_EQ(model.at("weights").at(0).at("type"), "f16");
  // What the file would take with them, for `inspect --budget`.
  uint64_t bytes = 0;
  for (const nlohmann::json &weight : model.at("weights"))
    bytes += weight.at("bytes").get<uint64_t>();
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(model.at("memory").at("weights"), bytes);
}
