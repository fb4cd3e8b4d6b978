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
      weight.offset = 0;
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

// Other numbers would meet the vectors of the model that was compiled: a small
// file is read as a whole.
TEST_F(WeightFiles, OfOtherElements) {
  for (size_t at = kStart; at < contents.size(); at += 501) {
    uint8_t flipped = contents[at] ^ 0x80;
    weights.patch(at, &flipped, 1);
    EXPECT_EQ(loading(),
              "3: 'ARTIFACT': weights: weight 'lm_head' in '" +
                  nameOf(weights) +
                  "' is not what the model was compiled with: its checksum "
                  "differs; the artifact holds other weights beside these, so "
                  "it has to be compiled again");
    weights.patch(at, &contents[at], 1);
  }
  EXPECT_EQ(loading(), "ok");
}

// Of a large one samples are compared, the check reads everything.
TEST(LargeWeightFile, IsSampled) {
  // Nothing but zeros, of which the disk has none: 72 MiB and 64 bytes.
  constexpr uint64_t kBytes = (uint64_t(72) << 20) + 64;
  TemporaryFile weights({});
  weights.resize(kBytes);
  const std::vector<uint8_t> zeros(kBytes);
  ToyOptions options;
  options.changeProgram = [&](artifact::ProgramT &program) {
    auto file = std::make_unique<artifact::WeightFileT>();
    file->name = weights.path().substr(weights.path().rfind('/') + 1);
    file->size = kBytes;
    file->start_checksum = rt::checksum(nullptr, 0);
    program.weight_files.push_back(std::move(file));
    auto weight = std::make_unique<artifact::WeightT>();
    weight->name = "large";
    weight->shape = {kBytes / 4};
    weight->row_stride_bytes = weight->size = kBytes;
    weight->offset = 0;
    weight->file = 1;
    weight->checksum = rt::checksum(zeros.data(), kBytes);
    weight->sample_checksum = rt::checksum(zeros.data(), 16384);
    program.weights.push_back(std::move(weight));
    uint64_t checksums[3];
    for (int i = 0; i < 3; ++i)
      checksums[i] = program.weights[i]->checksum;
    program.segments[1]->checksum = rt::checksum(checksums, sizeof checksums);
  };
  TemporaryFile artifactFile(makeToyArtifact(options));
  auto outcome = [](const TemporaryFile &file) -> std::string {
    try {
      Model model(file.path());
      check(effc_model_check(model.get(), nullptr, nullptr));
      return "ok";
    } catch (const Error &error) {
      return error.what();
    }
  };
  auto isRefusedWhenOpened = [&](const std::string &text) {
    return text.find("' is not what the model was compiled with: its checksum "
                     "differs; the artifact holds other") != text.npos;
  };
  EXPECT_EQ(outcome(artifactFile), "ok");
  // The first and last bytes of the four blocks: at 0, at thirds of what is left
  // but for the last block, and at the end.
  const uint64_t third = (kBytes - 4096) / 3;
  const uint8_t one = 1, zero = 0;
  for (uint64_t at : {uint64_t(0), uint64_t(4095), third, third + 4095,
                      2 * third, 2 * third + 4095, kBytes - 4096, kBytes - 1}) {
    weights.patch(at, &one, 1);
    EXPECT_TRUE(isRefusedWhenOpened(outcome(artifactFile))) << at;
    weights.patch(at, &zero, 1);
  }
  // Between them the check alone finds it.
  for (uint64_t at : {uint64_t(4096), third - 1, third + 4096, kBytes - 4097}) {
    weights.patch(at, &one, 1);
    EXPECT_EQ(outcome(artifactFile).find("weight 'large' in"), 0u) << at;
    weights.patch(at, &zero, 1);
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
