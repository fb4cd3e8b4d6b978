// By which code a sequence was computed: how names are kept, and that a state
// file carries them.
#include "runtime/src/CodeNames.h"

#include "runtime/include/effc/effc.hpp"
#include "runtime/src/Checksum.h"
#include "runtime/src/StateHeader.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using rt::CodeNames;
using rt::StateHeader;

TEST(CodeNames, KeepsEachOnceInTheirOrder) {
  CodeNames names;
  EXPECT_STREQ(names.text(), "");
  for (const char *name : {"x86-64-v4", "x86-64", "x86-64-v4", "", "sm_90a"})
    names.add(name);
  EXPECT_STREQ(names.text(), "x86-64-v4, x86-64, sm_90a");
}

TEST(CodeNames, LeavesOutWhatFindsNoRoom) {
  CodeNames names;
  std::string text;
  for (char letter = 'a'; letter <= 'j'; ++letter) {
    std::string name(10, letter);
    names.add(name);
    // Five of ten letters and four commas with spaces are 58 bytes.
    if (letter <= 'e')
      text += (text.empty() ? "" : ", ") + name;
  }
  names.add("ends");
  EXPECT_EQ(names.text(), text);
  names.add("end"); // 63 bytes and the zero
  EXPECT_EQ(names.text(), text + ", end");
}

TEST(CodeNames, TakesWhatItGaveAndNothingElse) {
  CodeNames names, other;
  names.add("sm_80");
  std::array<uint8_t, CodeNames::kBytes> bytes = {};
  std::copy(names.raw().begin(), names.raw().end(), bytes.begin());
  ASSERT_TRUE(other.take(bytes));
  EXPECT_STREQ(other.text(), "sm_80");
  for (auto [at, byte] :
       {std::pair<size_t, uint8_t>(2, 0x1b), {2, 0x80}, {2, 0x00}, {40, 'x'}}) {
    auto changed = bytes;
    changed[at] = byte;
    EXPECT_FALSE(other.take(changed)) << "at " << at;
  }
  bytes.fill('x'); // no end
  EXPECT_FALSE(other.take(bytes));
  EXPECT_STREQ(other.text(), "sm_80");
}

namespace {
class SavedCode : public testing::Test {
protected:
  SavedCode()
      : file(makeToyArtifact()), model(file.path()),
        engine(model, Device::host(1, kToyIsa), 3), session(engine) {
    engine.prefill(session, {1, 2, 3});
  }
  /// Makes both checksums and the size right again.
  static void repair(std::string &bytes) {
    auto *raw = reinterpret_cast<uint8_t *>(bytes.data());
    StateHeader header = StateHeader::decode(raw);
    header.fileSize = bytes.size();
    header.bodyChecksum = rt::checksum(raw + StateHeader::kBytes,
                                       bytes.size() - StateHeader::kBytes);
    StateHeader::Bytes encoded = header.encode();
    std::copy(encoded.begin(), encoded.end(), bytes.begin());
  }

  TemporaryFile file;
  Model model;
  Engine engine;
  Session session;
};
} // namespace

TEST_F(SavedCode, IsThatOfTheEngine) {
  EXPECT_EQ(session.isas(), kToyIsa);
  EXPECT_EQ(Session(engine).isas(), "");
  EXPECT_EQ(session.fork().isas(), kToyIsa);
  session.reset();
  EXPECT_EQ(session.isas(), "");
}

TEST_F(SavedCode, StandsBehindTheStates) {
  std::string bytes = session.save();
  std::string names = bytes.substr(bytes.size() - CodeNames::kBytes);
  std::string expected = kToyIsa;
  expected.resize(CodeNames::kBytes);
  EXPECT_EQ(names, expected);
  Session other(engine);
  other.loadBytes(bytes);
  EXPECT_EQ(other.isas(), kToyIsa);
}

// What another code computed stays named when this one goes on.
TEST_F(SavedCode, IsAddedTo) {
  std::string bytes = session.save();
  size_t at = bytes.size() - CodeNames::kBytes;
  std::string before = "sm_90a";
  before.resize(CodeNames::kBytes);
  bytes.replace(at, CodeNames::kBytes, before);
  repair(bytes);
  Session other(engine);
  other.loadBytes(bytes);
  EXPECT_EQ(other.isas(), "sm_90a");
  engine.decode({other.get()}, {4});
  EXPECT_EQ(other.isas(), std::string("sm_90a, ") + kToyIsa);
}

TEST_F(SavedCode, MustBeThere) {
  std::string bytes = session.save();
  bytes.resize(bytes.size() - CodeNames::kBytes);
  repair(bytes);
  Session other(engine);
  try {
    other.loadBytes(bytes);
    FAIL() << "loaded";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "the state does not say by which code it was "
                               "computed, which its last 64 bytes should");
  }
}

TEST_F(SavedCode, IsRefusedWhereItIsNoText) {
  std::string bytes = session.save();
  bytes[bytes.size() - 1] = 'x';
  repair(bytes);
  Session other(engine);
  try {
    other.loadBytes(bytes);
    FAIL() << "loaded";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "the state does not say by which code it was "
                               "computed, which its last 64 bytes should");
  }
}
