// Sequences that outlive their engine: what is saved continues bit by bit as if
// nothing had happened, and whatever else is handed in is refused with a
// message and leaves the session as it was. Group 10 of the bad inputs.

#include "runtime/include/effc/effc.hpp"
#include "runtime/src/Checksum.h"
#include "runtime/src/StateHeader.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace effc;
using namespace effc::test;
using rt::StateHeader;
using Tokens = std::vector<int32_t>;
using Logits = std::vector<float>;

namespace {
struct Toy {
  explicit Toy(uint32_t sessions = 2, const ToyOptions &options = {})
      : file(makeToyArtifact(options)), model(file.path()),
        engine(model, Device::host(1), sessions) {}
  TemporaryFile file;
  Model model;
  Engine engine;
};
} // namespace

// The toy's two states as they must lie in a file, spelt out from
// StateHeader.h: "sum" (kind 5, f32, 3 elements) and "tally" (kind 6, i64, 1
// element). Descriptors: 2 + 3 + 4 + 8 = 17 and 2 + 5 + 4 + 8 = 19 bytes, so
// data starts at 64 + 36 = 100 -> 128; 12 bytes of sums, then the tally at 192.
// The names of the code, 64 bytes, end the file.
constexpr size_t kSumAt = 128, kTallyAt = 192, kFileBytes = 200 + 64;
constexpr size_t kSumKind = 64 + 5, kSumType = 64 + 7, kSumShape = 64 + 9;

static Tokens someTokens(size_t count) {
  Tokens tokens;
  for (size_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<int32_t>((i * 37 + 5) % kToyVocabulary));
  return tokens;
}

/// Makes both checksums and the size right again.
static void repair(std::string &bytes) {
  auto *raw = reinterpret_cast<uint8_t *>(bytes.data());
  StateHeader header = StateHeader::decode(raw);
  header.bodyChecksum = rt::checksum(raw + StateHeader::kBytes,
                                     bytes.size() - StateHeader::kBytes);
  StateHeader::Bytes encoded = header.encode();
  std::memcpy(raw, encoded.data(), encoded.size());
}

static std::string savedAfter(Toy &toy, size_t tokens) {
  Session session(toy.engine);
  toy.engine.prefill(session, someTokens(tokens));
  return session.save();
}

static std::string refusal(Session &session, const std::string &bytes) {
  try {
    session.loadBytes(bytes);
    return "";
  } catch (const Error &error) {
    return std::to_string(error.code()) + ": " + error.what();
  }
}

/// What is said to a sound state of five tokens after `change`; the session
/// must be as before.
template <typename Change> static std::string refusalOf(Change change) {
  Toy toy;
  std::string bytes = savedAfter(toy, 5);
  change(bytes);
  repair(bytes);
  Session session(toy.engine);
  toy.engine.prefill(session, {1, 2});
  std::string said = refusal(session, bytes);
  if (!said.empty()) {
    EXPECT_EQ(session.position(), 2u);
    Logits all = ToyReference().feed({1, 2, 9});
    EXPECT_EQ(toy.engine.decode({session.get()}, {9}),
              Logits(all.end() - kToyVocabulary, all.end()));
  }
  return said;
}

TEST(StateFile, ContinuesInAnotherEngine) {
  Toy here, there;
  Tokens tokens = someTokens(23);
  Logits expected = ToyReference().feed(tokens);
  for (size_t cut : {1, 4, 7, 22}) {
    std::string bytes = savedAfter(here, cut);
    EXPECT_EQ(bytes.size(), kFileBytes);
    Session session(there.engine);
    session.loadBytes(bytes);
    EXPECT_EQ(session.position(), cut);
    Tokens rest(tokens.begin() + long(cut), tokens.end());
    EXPECT_EQ(
        there.engine.prefill(session, rest, EFFC_LOGITS_ALL),
        Logits(expected.begin() + long(cut * kToyVocabulary), expected.end()));
  }
}

TEST(StateFile, HoldsTheLogicalState) {
  Toy toy;
  std::string bytes = savedAfter(toy, 3);
  int64_t tally;
  std::memcpy(&tally, &bytes[kTallyAt], 8);
  EXPECT_EQ(tally, 3);
  const auto *raw = reinterpret_cast<const uint8_t *>(bytes.data());
  StateHeader header = StateHeader::decode(raw);
  EXPECT_EQ(header.position, 3);
  EXPECT_EQ(header.layoutId, 0x0123456789abcdefu);
  EXPECT_EQ(bytes.substr(64, 17),
            std::string("\3\0sum\5\0\0\1\3\0\0\0\0\0\0\0", 17));
  EXPECT_EQ(bytes.substr(81, 11), std::string("\5\0tally\6\0\4\1", 11));
}

TEST(StateFile, GoesThroughAFile) {
  Toy toy;
  TemporaryFile file({1, 2, 3}); // is replaced
  Session session(toy.engine);
  toy.engine.prefill(session, someTokens(6));
  session.save(file.path());
  Session other(toy.engine);
  other.load(file.path());
  EXPECT_EQ(other.save(), session.save());
  EXPECT_EQ(toy.engine.decode({other.get()}, {7}),
            toy.engine.decode({session.get()}, {7}));
}

TEST(StateFile, IsSavedWithOptions) {
  Toy toy;
  Session session(toy.engine);
  toy.engine.prefill(session, someTokens(7));
  TemporaryFile file({});
  ASSERT_EQ(chmod(file.path().c_str(), 0600), 0);
  effc_save_options_t options = effc_save_options_default();
  EXPECT_FALSE(options.no_sync);
  for (bool noSync : {false, true}) {
    options.no_sync = noSync;
    ASSERT_EQ(
        effc_session_save_with(session.get(), file.path().c_str(), &options),
        nullptr);
    Session loaded(toy.engine);
    loaded.load(file.path());
    EXPECT_EQ(loaded.position(), 7u);
    struct stat info = {};
    ASSERT_EQ(stat(file.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600u);
  }
  options.size = 0;
  effc_status_t *status =
      effc_session_save_with(session.get(), file.path().c_str(), &options);
  EXPECT_EQ(effc_status_code(status), EFFC_INVALID_ARGUMENT);
  effc_status_free(status);
}

TEST(StateFile, LoadingTwiceIsLoadingOnce) {
  Toy toy;
  std::string five = savedAfter(toy, 5), nine = savedAfter(toy, 9);
  Session session(toy.engine);
  session.loadBytes(nine);
  session.loadBytes(five);
  session.loadBytes(five);
  EXPECT_EQ(session.save(), five);
}

TEST(StateFile, APositionOfZeroIsNeutral) {
  Toy toy;
  Session session(toy.engine);
  std::string fresh = session.save();
  toy.engine.prefill(session, someTokens(8));
  session.reset();
  EXPECT_EQ(session.save(), fresh);
  toy.engine.prefill(session, someTokens(3));
  session.loadBytes(fresh);
  EXPECT_EQ(toy.engine.decode({session.get()}, {5}), ToyReference().step(5));
}

TEST(StateFile, AssignRewinds) {
  Toy toy(3);
  Session session(toy.engine);
  toy.engine.prefill(session, someTokens(5));
  Session mark = session.fork();
  Logits first = toy.engine.decode({session.get()}, {40});
  toy.engine.decode({session.get()}, {41});
  session.assign(mark);
  EXPECT_EQ(session.position(), 5u);
  EXPECT_EQ(toy.engine.decode({session.get()}, {40}), first);
  session.assign(session);
  EXPECT_EQ(session.position(), 6u);
  Toy another;
  Session foreign(another.engine);
  EXPECT_THROW(session.assign(foreign), Error);
}

TEST(StateFile, CutAtEveryByte) {
  Toy toy;
  std::string bytes = savedAfter(toy, 5);
  Session session(toy.engine);
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::string cut = bytes.substr(0, size);
    EXPECT_EQ(refusal(session, cut).substr(0, 3), "3: ") << "at " << size;
    if (size < StateHeader::kBytes)
      continue;
    auto *raw = reinterpret_cast<uint8_t *>(cut.data());
    StateHeader header = StateHeader::decode(raw);
    header.fileSize = size;
    StateHeader::Bytes encoded = header.encode();
    std::memcpy(raw, encoded.data(), encoded.size());
    repair(cut);
    EXPECT_EQ(refusal(session, cut).substr(0, 3), "3: ") << "at " << size;
  }
  EXPECT_EQ(session.position(), 0u);
}

TEST(StateFile, EveryFlippedByteIsRefused) {
  Toy toy;
  std::string bytes = savedAfter(toy, 5);
  Session session(toy.engine);
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int flip : {0x01, 0x80, 0xFF}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      EXPECT_NE(refusal(session, changed), "") << "at " << at;
    }
}

TEST(StateFile, FlippedBytesWithRightChecksumsNeverCrash) {
  Toy toy;
  std::string bytes = savedAfter(toy, 5);
  int loaded = 0;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int flip : {0x01, 0x80, 0xFF}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      repair(changed);
      Session session(toy.engine);
      std::string said = refusal(session, changed);
      EXPECT_NE(said.substr(0, 1), "7") << said;
      if (said.empty()) {
        ++loaded;
        toy.engine.decode({session.get()}, {3});
      }
    }
  EXPECT_GT(loaded, 0); // numbers may be any but NaN
}

TEST(StateFile, RefusesOtherModelsLayoutsAndFormats) {
  EXPECT_EQ(refusalOf([](std::string &b) { b[16] ^= 1; }),
            "3: the state is of another model: the weights it belongs to are "
            "not those of this one");
  EXPECT_EQ(refusalOf([](std::string &b) { b[24] ^= 1; }),
            "3: the state's layout is another one than the model's");
  EXPECT_EQ(refusalOf([](std::string &b) { b[4] = 2; }),
            "4: the state is written in format 2.0, but this library reads "
            "1.0: give the sequence its tokens again, or use the library that "
            "saved it");
  EXPECT_EQ(refusalOf([](std::string &b) { b[6] = 1; }),
            "4: the state is written in format 1.1, but this library reads "
            "1.0: give the sequence its tokens again, or use the library that "
            "saved it");
  EXPECT_EQ(refusalOf([](std::string &b) { b[7] = 2; }),
            "3: byte 7 of the state's header is 2, of which 0 and 1 are known");
  EXPECT_EQ(
      refusalOf([](std::string &b) { b[7] = 1; }), // without tokens behind
      "3: the state's tokens take 0 bytes, but those of position 5 take "
      "68");
  EXPECT_EQ(refusalOf([](std::string &b) { b[0] = 'X'; }),
            "3: not a state file: it does not start with \"EFFS\"");
}

TEST(StateFile, NamesTheStateThatDoesNotFit) {
  EXPECT_EQ(refusalOf([](std::string &b) { b[kSumShape] = 4; }),
            "3: state 'sum' has shape 4, but the model has 3");
  EXPECT_EQ(refusalOf([](std::string &b) { b[kSumKind] = 0; }),
            "3: state 'sum' is of kind 0, but the model has kind 5");
  EXPECT_EQ(refusalOf([](std::string &b) { b[kSumKind + 1] = 2; }),
            "3: state 'sum' is of growth 2, but the model has growth 0");
  EXPECT_EQ(refusalOf([](std::string &b) { b[kSumType] = 4; }),
            "3: state 'sum' is of type I64, which cannot become the model's "
            "F32");
  EXPECT_EQ(refusalOf([](std::string &b) { b[kSumType] = 9; }),
            "3: state 'sum' is of unknown type 9");
  EXPECT_EQ(refusalOf([](std::string &b) { b[66] = 'r'; }),
            "3: the state has 'rum' in place 0, where the model has 'sum'");
  EXPECT_EQ(refusalOf([](std::string &b) {
              b[40] = 1;  // one state
              b[44] = 17; // one descriptor
            }),
            "3: the state lacks 'tally', which the model has");
  EXPECT_EQ(refusalOf([](std::string &b) { b[40] = 3; }),
            "3: descriptor 2 goes past the end of the descriptors");
}

TEST(StateFile, RefusesImpossibleNumbers) {
  auto setPosition = [](int64_t position) {
    return [position](std::string &b) { std::memcpy(&b[32], &position, 8); };
  };
  EXPECT_EQ(refusalOf(setPosition(-1)),
            "3: the state is at position -1, but 0 to 281474976710656 are "
            "possible");
  EXPECT_EQ(refusalOf(setPosition(INT64_MAX)),
            "3: the state is at position 9223372036854775807, but 0 to "
            "281474976710656 are possible");
  EXPECT_EQ(refusalOf([](std::string &b) {
              float nan = std::nanf("");
              std::memcpy(&b[kSumAt + 8], &nan, 4);
            }),
            "3: element 2 of state 'sum' is not a number");
  ToyOptions bounded;
  bounded.changeProgram = [](artifact::ProgramT &p) { p.max_context = 4; };
  Toy free, short_(1, bounded);
  Session session(short_.engine);
  EXPECT_EQ(refusal(session, savedAfter(free, 5)),
            "3: the state is at position 5, but 0 to 4 are possible");
}

// An artifact that keeps "sum" in bf16 takes what was kept in f32, and back.
// 1 + 2^-8 lies halfway between 1 and 1 + 2^-7: to even, 1. 1 + 3 * 2^-8 lies
// halfway between 1 + 2^-7 and 1 + 2^-6: to even, the latter. -3.5 is exact.
TEST(StateFile, ConvertsBetweenStateTypes) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) {
    p.states[0]->type = artifact::ElementType::BF16;
    p.states[0]->size = 6;
    stateExtents(p);
  };
  Toy wide, narrow(1, options);
  std::string bytes = savedAfter(wide, 5);
  const float given[] = {1 + 0x1p-8f, 1 + 3 * 0x1p-8f, -3.5f};
  std::memcpy(&bytes[kSumAt], given, sizeof given);
  repair(bytes);
  Session session(narrow.engine);
  session.loadBytes(bytes);
  EXPECT_EQ(session.position(), 5u);
  std::string kept = session.save();
  const uint16_t expected[] = {0x3f80, 0x3f82, 0xc060};
  EXPECT_EQ(std::memcmp(&kept[kSumAt], expected, sizeof expected), 0);
  Session back(wide.engine);
  back.loadBytes(kept);
  const float rounded[] = {1, 1 + 0x1p-6f, -3.5f};
  EXPECT_EQ(std::memcmp(&back.save()[kSumAt], rounded, sizeof rounded), 0);
}

// The same for f16, with the cases that its narrow exponent adds: the smallest
// subnormal 2^-24, half of it (to even, 0), and what is too large.
TEST(StateFile, ConvertsToHalf) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) {
    p.states[0]->type = artifact::ElementType::F16;
    p.states[0]->size = 6;
    stateExtents(p);
  };
  Toy wide, narrow(1, options);
  auto converted = [&](float a, float b, float c) {
    std::string bytes = savedAfter(wide, 1);
    const float given[] = {a, b, c};
    std::memcpy(&bytes[kSumAt], given, sizeof given);
    repair(bytes);
    Session session(narrow.engine);
    session.loadBytes(bytes);
    std::vector<uint16_t> bits(3);
    std::memcpy(bits.data(), &session.save()[kSumAt], 6);
    return bits;
  };
  using Bits = std::vector<uint16_t>;
  EXPECT_EQ(converted(0x1p-24f, 0x1p-25f, 65536.0f),
            (Bits{0x0001, 0x0000, 0x7c00}));
  EXPECT_EQ(converted(65504.0f, -0x1p-14f, 0.1f),
            (Bits{0x7bff, 0x8400, 0x2e66}));
  EXPECT_EQ(converted(2047.5f, 0x1.ffep-15f, -0.0f),
            (Bits{0x6800, 0x0400, 0x8000}));
}

// Rows of bytes: three numbers share the scale 127 / 127 = 1, then 12.7 / 127, whose
// multiples next to them they become, halves to even; 0 and what is tiny have the scale 0.
TEST(StateFile, ConvertsToBytesAndBack) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) {
    p.states[0]->type = artifact::ElementType::Blocks;
    p.states[0]->size = 4 + 3;
    stateExtents(p);
  };
  Toy wide, narrow(1, options);
  auto kept = [&](float a, float b, float c) {
    std::string bytes = savedAfter(wide, 1);
    const float given[] = {a, b, c};
    std::memcpy(&bytes[kSumAt], given, sizeof given);
    repair(bytes);
    Session session(narrow.engine);
    session.loadBytes(bytes);
    return session.save();
  };
  struct Row {
    float given[3], scale;
    int codes[3];
  };
  const Row rows[] = {{{127, -2.5f, 3.5f}, 1, {127, -2, 4}},
                      {{-127, 127, -0.25f}, 1, {-127, 127, 0}},
                      {{0.5f, -12.7f, 6}, 12.7f / 127, {5, -127, 60}},
                      {{0, -0.0f, 0}, 0, {0, 0, 0}},
                      {{0x1p-149f, 0, 0}, 0, {0, 0, 0}}};
  for (const Row &row : rows) {
    std::string bytes = kept(row.given[0], row.given[1], row.given[2]);
    float scale;
    std::memcpy(&scale, &bytes[kSumAt], 4);
    EXPECT_EQ(scale, row.scale);
    Session back(wide.engine);
    back.loadBytes(bytes);
    float numbers[3];
    std::memcpy(numbers, &back.save()[kSumAt], sizeof numbers);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(int(uint8_t(bytes[kSumAt + 4 + size_t(i)])) - 128,
                row.codes[i]);
      EXPECT_EQ(numbers[i], row.scale * float(row.codes[i]));
    }
  }
  // An infinity makes NaN of its row, which no sequence goes on from.
  std::string lost = kept(1, INFINITY, 2);
  Session back(wide.engine);
  EXPECT_EQ(refusal(back, lost), "3: element 0 of state 'sum' is not a number");
}

TEST(StateFile, FilesThatAreNone) {
  Toy toy;
  Session session(toy.engine);
  auto said = [&](auto call) -> std::string {
    try {
      call();
      return "";
    } catch (const Error &error) {
      return std::to_string(error.code()) + ": " + error.what();
    }
  };
  char folder[] = "/tmp/effc-state-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  std::string root = folder, pipe = root + "/pipe", big = root + "/big";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(said([&] { session.load(root + "/none"); }),
            "2: cannot open '" + root + "/none': No such file or directory");
  EXPECT_EQ(said([&] { session.load(root); }),
            "2: '" + root + "' is not a regular file");
  EXPECT_EQ(said([&] { session.load(pipe); }),
            "2: '" + pipe + "' is not a regular file");
  EXPECT_EQ(said([&] { session.save(pipe); }),
            "2: cannot write '" + pipe + "': it is not a regular file");
  EXPECT_EQ(said([&] { session.save(root + "/none/state"); }),
            "2: cannot write '" + root +
                "/none/state': No such file or directory");
  // A terabyte of nothing behind a sound header is not read.
  std::string bytes = savedAfter(toy, 5);
  auto *raw = reinterpret_cast<uint8_t *>(bytes.data());
  StateHeader header = StateHeader::decode(raw);
  header.fileSize = uint64_t(1) << 40;
  StateHeader::Bytes encoded = header.encode();
  std::memcpy(raw, encoded.data(), encoded.size());
  std::FILE *file = std::fopen(big.c_str(), "wb");
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  ASSERT_EQ(truncate(big.c_str(), off_t(1) << 40), 0);
  EXPECT_EQ(said([&] { session.load(big); })
                .find("3: '" + big +
                      "': the state has "
                      "1099511627776 bytes, but"),
            0u);
  unlink(pipe.c_str());
  unlink(big.c_str());
  rmdir(folder);
}
