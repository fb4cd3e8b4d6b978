// Weights in a file of their own: the toy with its second weight (lm_head, 271
// rows of 64 bytes of bf16) moved behind ten other bytes into another file, so
// that it starts at an address that is a multiple of two and of nothing more.

#include "runtime/include/effc/effc.hpp"
#include "runtime/src/Checksum.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <gtest/gtest.h>
#include <unistd.h>

using namespace effc;
using namespace effc::test;

namespace {

constexpr size_t kStart = 10;

class WeightFiles : public testing::Test {
protected:
  WeightFiles() {
    ToyOptions options;
    options.changeProgram = [&](artifact::ProgramT &program) {
      artifact::WeightT &weight = *program.weights[1];
      auto file = std::make_unique<artifact::WeightFileT>();
      file->name = nameOf(weights);
      file->size = contents.size();
      file->start_size = kStart;
      file->start_checksum = rt::checksum(contents.data(), kStart);
      program.weight_files.push_back(std::move(file));
      weight.offset = UINT64_MAX;
      weight.file = 1;
      weight.file_offset = kStart;
    };
    std::vector<uint8_t> bytes = makeToyArtifact(options);
    artifactFile.patch(0, bytes.data(), bytes.size());
  }

  /// What an ordinary toy has as its second weight, behind the ten bytes.
  static std::vector<uint8_t> makeContents() {
    std::vector<uint8_t> bytes = makeToyArtifact();
    const auto *program = artifact::GetProgram(bytes.data() + 64);
    const artifact::Weight &weight = *program->weights()->Get(1);
    uint64_t offset = weight.offset();
    for (const artifact::Segment *segment : *program->segments())
      if (segment->kind() == artifact::SegmentKind::Weights)
        offset += segment->offset();
    std::vector<uint8_t> contents = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
    contents.insert(contents.end(), bytes.begin() + offset,
                    bytes.begin() + offset + weight.size());
    return contents;
  }
  static std::string nameOf(const TemporaryFile &file) {
    return file.path().substr(file.path().rfind('/') + 1);
  }

  static std::vector<float> run(const Model &model) {
    Device device = Device::host(1);
    Engine engine(model, device, 1);
    Session session(engine);
    return engine.prefill(session, {1, 2, 3, 4, 5, 6, 7});
  }
  static std::vector<float> expected() {
    ToyReference toy;
    std::vector<float> all = toy.feed({1, 2, 3, 4, 5, 6, 7});
    return {all.end() - kToyVocabulary, all.end()};
  }
  std::string loading(const effc_model_load_options_t &options =
                          effc_model_load_options_default()) {
    try {
      Model model(artifactFile.path(), options);
      return "ok";
    } catch (const Error &error) {
      std::string text = std::to_string(error.code()) + ": " + error.what();
      for (const auto &[path, name] :
           {std::pair(artifactFile.path(), "ARTIFACT"),
            std::pair(weights.path(), "WEIGHTS")})
        for (size_t at; (at = text.find(path)) != text.npos;)
          text.replace(at, path.size(), name);
      return text;
    }
  }

  std::vector<uint8_t> contents = makeContents();
  TemporaryFile weights{contents};
  TemporaryFile artifactFile{{}};
};

} // namespace

TEST_F(WeightFiles, RunFromWhereTheyLie) {
  Model model(artifactFile.path());
  EXPECT_EQ(run(model), expected());
  check(effc_model_check(model.get(), nullptr, nullptr));
  EXPECT_NE(model.describe().find("\"file\":\"" + nameOf(weights) + "\""),
            std::string::npos)
      << model.describe();
}

TEST_F(WeightFiles, InAFolderOfTheCallers) {
  std::string folder = weights.path() + ".d";
  ASSERT_EQ(
      system(("mkdir " + folder + " && cp " + weights.path() + " " + folder)
                 .c_str()),
      0);
  ASSERT_EQ(unlink(weights.path().c_str()), 0);
  effc_model_load_options_t options = effc_model_load_options_default();
  options.weights_folder = folder.c_str();
  EXPECT_EQ(run(Model(artifactFile.path(), options)), expected());
  EXPECT_EQ(loading(), "2: 'ARTIFACT': weights: cannot open 'WEIGHTS': No such "
                       "file or directory");
  ASSERT_EQ(system(("rm -r " + folder).c_str()), 0);
}

TEST_F(WeightFiles, OfAnotherSize) {
  weights.resize(contents.size() - 1);
  EXPECT_EQ(loading(),
            "3: 'ARTIFACT': weights: 'WEIGHTS' has " +
                std::to_string(contents.size() - 1) +
                " bytes, but the file that the model was compiled with had " +
                std::to_string(contents.size()));
}

TEST_F(WeightFiles, OfOtherTensors) {
  for (size_t at = 0; at < kStart; ++at) {
    uint8_t flipped = contents[at] ^ 1;
    weights.patch(at, &flipped, 1);
    EXPECT_EQ(loading(), "3: 'ARTIFACT': weights: 'WEIGHTS' is not the file "
                         "that the model was compiled with: the list of its "
                         "tensors differs");
    weights.patch(at, &contents[at], 1);
  }
  EXPECT_EQ(loading(), "ok");
}

// Loading does not read the weights; the check does.
TEST_F(WeightFiles, OfOtherElements) {
  uint8_t flipped = contents.back() ^ 0x80;
  weights.patch(contents.size() - 1, &flipped, 1);
  Model model(artifactFile.path());
  try {
    check(effc_model_check(model.get(), nullptr, nullptr));
    ADD_FAILURE() << "the check found nothing";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), EFFC_BAD_DATA);
    EXPECT_EQ(std::string(error.what()),
              "weight 'lm_head' in '" + nameOf(weights) +
                  "' is not what the model was compiled with: its checksum "
                  "differs");
  }
}

// A copy needs the files no more: mapped, they would now end the process.
TEST_F(WeightFiles, CopiesOutliveTheirFiles) {
  effc_model_load_options_t options = effc_model_load_options_default();
  options.copy = true;
  Model model(artifactFile.path(), options);
  weights.resize(0);
  artifactFile.resize(0);
  EXPECT_EQ(run(model), expected());
  check(effc_model_check(model.get(), nullptr, nullptr));
}

TEST(Weights, NoneAtAll) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &program) {
    program.segments.erase(program.segments.begin() + 1);
  };
  TemporaryFile file(makeToyArtifact(options));
  Model model(file.path());
  EXPECT_NE(model.describe().find("\"has_weights\":false"), std::string::npos);
  try {
    Device device = Device::host(1);
    Engine engine(model, device, 1);
    ADD_FAILURE() << "an engine without weights";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), EFFC_UNSUPPORTED);
    EXPECT_STREQ(error.what(), "the file has no weights: it was compiled from "
                               "shapes alone; compile it without --weights "
                               "none, or time it with bench --draw-weights");
  }
}
