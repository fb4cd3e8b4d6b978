// The comparison that judges `effc eval` on the goldens, itself on numbers
// whose errors are known.

#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "tools/effc/SafetensorsWriter.h"
#include "tools/terminal/Failure.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace effc::test;

/// A file of one tensor per entry: name, dtype, shape [1, n], bytes.
struct Entry {
  std::string name, dtype;
  std::vector<double> values;
};

static std::vector<uint8_t> safetensors(const std::vector<Entry> &entries) {
  std::string header = "{";
  std::vector<uint8_t> data;
  for (const Entry &entry : entries) {
    size_t begin = data.size();
    for (double value : entry.values) {
      float narrow = static_cast<float>(value);
      const void *from =
          entry.dtype == "F64" ? static_cast<const void *>(&value) : &narrow;
      size_t size = entry.dtype == "F64" ? 8 : 4;
      data.resize(data.size() + size);
      std::memcpy(&data[data.size() - size], from, size);
    }
    header += (header.size() > 1 ? "," : "") + ("\"" + entry.name) +
              "\":{\"dtype\":\"" + entry.dtype + "\",\"shape\":[1," +
              std::to_string(entry.values.size()) + "],\"data_offsets\":[" +
              std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
  }
  header += "}";
  std::vector<uint8_t> bytes(8);
  uint64_t size = header.size();
  std::memcpy(bytes.data(), &size, 8);
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

static Finished compare(const std::vector<Entry> &a,
                        const std::vector<Entry> &b,
                        std::vector<std::string> flags = {}) {
  TemporaryFile first(safetensors(a)), second(safetensors(b));
  std::vector<std::string> all = {EFFC_COMPARE};
  all.insert(all.end(), flags.begin(), flags.end());
  all.push_back(first.path());
  all.push_back(second.path());
  return runProgram(all);
}

// The exact logits are (3, 4) of norm 5; the library is off by 0.005 in one, a
// relative error of 1e-3, so 4e-3 + 1e-6 is allowed: 0.02 in one is, 0.021 not.
static const std::vector<Entry> kGolden = {{"logits_f32.0", "F32", {3, 4.005}},
                                           {"logits_f64.0", "F64", {3, 4}}};

TEST(CompareLogits, AllowsFourTimesTheLibrarysError) {
  Finished done = compare({{"logits.0", "F32", {3.02, 4}}}, kGolden);
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  done = compare({{"logits.0", "F32", {3.021, 4}}}, kGolden);
  EXPECT_EQ(done.status, 1) << done.out;
  EXPECT_NE(done.out.find("too far"), std::string::npos) << done.out;
}

TEST(CompareLogits, RefusesNotANumber) {
  EXPECT_EQ(compare({{"logits.0", "F32", {NAN, 4}}}, kGolden).status, 1);
  EXPECT_EQ(compare({{"logits.0", "F32", {INFINITY, 4}}}, kGolden).status, 1);
}

TEST(CompareLogits, RefusesOtherShapesAndCounts) {
  EXPECT_EQ(compare({{"logits.0", "F32", {3, 4, 5}}}, kGolden).status, 1);
  EXPECT_EQ(compare({}, kGolden).status, 1);
  EXPECT_EQ(compare({{"logits.0", "F32", {3, 4}}, {"logits.1", "F32", {3, 4}}},
                    kGolden)
                .status,
            1);
  EXPECT_EQ(compare({{"logits.0", "F32", {3, 4}}}, {}).status, 1);
}

TEST(CompareLogits, ComparesBits) {
  std::vector<Entry> a = {{"logits.0", "F32", {1, 0}},
                          {"logits.1", "F32", {2}}};
  std::vector<Entry> minus = a, fewer = {a[0]};
  minus[0].values[1] = -0.0;
  EXPECT_EQ(compare(a, a, {"--bits"}).status, 0);
  Finished done = compare(a, minus, {"--bits"});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.out.find("logits.0 differs first at row 0, column 1"),
            std::string::npos)
      << done.out;
  EXPECT_EQ(compare(a, fewer, {"--bits"}).status, 1);
}

// What a killed process left beside the target goes, and the target keeps its
// mode.
TEST(SafetensorsWriter, ReplacesAsOtherFilesAreReplaced) {
  TemporaryFile target(std::vector<uint8_t>{7});
  ASSERT_EQ(chmod(target.path().c_str(), 0640), 0);
  std::string left =
      target.path() + "." + std::to_string(getpid()) + "-0.partial";
  std::filesystem::copy_file(target.path(), left);
  {
    effc::cli::SafetensorsWriter writer(target.path(), {{"logits.0", 2, {3}}});
    const float rows[6] = {1, 2, 3, 4, 5, 6};
    writer.write(0, 0, rows, 2);
    EXPECT_EQ(std::filesystem::file_size(target.path()), 1u);
    writer.finish();
  }
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_GT(std::filesystem::file_size(target.path()), 6 * sizeof(float));
  struct stat info;
  ASSERT_EQ(stat(target.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
}

TEST(SafetensorsWriter, LeavesTheOldFileWithoutFinish) {
  TemporaryFile target(std::vector<uint8_t>{7});
  {
    effc::cli::SafetensorsWriter writer(target.path(), {{"logits.0", 2, {3}}});
  }
  EXPECT_EQ(std::filesystem::file_size(target.path()), 1u);
  EXPECT_THROW(
      effc::cli::SafetensorsWriter("/dev/null", {{"logits.0", 2, {3}}}),
      effc::cli::Failure);
}
