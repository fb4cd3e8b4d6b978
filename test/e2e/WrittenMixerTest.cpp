// Mixers that are written in IR, from their text to compiled calls: models/
// holds two that no paper has. Weights are random; verify holds prefill,
// decode, batches and pieces to the reference and to one another.
#include "test/e2e/Process.h"
#include "test/e2e/TemporaryFolder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>

using namespace effc::test;

namespace {

std::string readFile(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// A safetensors file with random numbers for each `seq.weight` of a module.
void writeWeights(const std::string &module, const std::string &path) {
  std::mt19937 random(20261122);
  std::uniform_real_distribution<float> number(-0.5, 0.5);
  nlohmann::json header;
  std::vector<float> data;
  std::regex weight("source\\(\"([a-z]+)\"\\) : tensor<([0-9x]+)xf32>");
  for (std::sregex_iterator at(module.begin(), module.end(), weight), end;
       at != end; ++at) {
    std::vector<int64_t> shape;
    std::stringstream extents((*at)[2]);
    size_t count = 1;
    for (std::string extent; std::getline(extents, extent, 'x');) {
      shape.push_back(std::stoll(extent));
      count *= shape.back();
    }
    size_t begin = data.size() * sizeof(float);
    for (size_t i = 0; i < count; ++i)
      data.push_back(number(random));
    header[std::string((*at)[1])] = {
        {"dtype", "F32"},
        {"shape", shape},
        {"data_offsets", {begin, data.size() * sizeof(float)}}};
  }
  std::string text = header.dump();
  uint64_t size = text.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(&size), sizeof(size));
  file << text;
  file.write(reinterpret_cast<const char *>(data.data()),
             data.size() * sizeof(float));
}

class WrittenMixer : public testing::TestWithParam<std::string> {
protected:
  std::string model() const { return EFFC_MODELS "/" + GetParam() + ".mlir"; }
  TemporaryFolder folder;
};

TEST_P(WrittenMixer, GoesTheWholeWay) {
  std::string module = readFile(model());
  EXPECT_LT(std::count(module.begin(), module.end(), '\n'), 60);
  writeWeights(module, folder.at("model.safetensors"));
  Finished done = runProgram({EFFC_PROGRAM, "compile", model(),
                              "--weights-from", folder.at(""), "--werror",
                              "fallback", "-o", folder.at("model.effc")});
  ASSERT_EQ(done.status, 0) << done.err;
  done = runProgram({EFFC_PROGRAM, "verify", folder.at("model.effc")});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

INSTANTIATE_TEST_SUITE_P(Models, WrittenMixer,
                         testing::Values("echo", "corrected"),
                         [](const auto &info) { return info.param; });

} // namespace
