// Group 9 of the bad inputs: a file cut at every byte, and every single byte
// flipped, once as it stands and once with checksums made right again, so that
// the checks behind them are reached. Each time: a clean status, or a model
// that answers every question (and, where the checksums were not touched,
// runs).

#include "runtime/abi/FileHeader.h"
#include "runtime/include/effc/effc.hpp"
#include "runtime/src/Checksum.h"
#include "test/LongCheck.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace effc;
using namespace effc::test;

/// Asks for all there is to know without running anything.
static void askEverything(const Model &model) {
  EXPECT_FALSE(model.describe().empty());
  model.states();
  model.entries();
  model.memory();
  model.generation();
  if (model.hasTokenizer())
    try {
      model.detokenize(model.tokenize("hello world<|end|>word 12"));
    } catch (const Error &) {
    }
}

static void runALittle(const Model &model, const Device &device) {
  Engine engine(model, device, 2);
  Session session(engine);
  engine.prefill(session, {1, 2, 3, 4, 5, 6, 7});
  Sampler sampler(model);
  sampler.sample(engine.decode({session.get()}, {8}));
}

/// What comes of a file; anything but a model or a clean refusal fails the
/// test.
enum class Found { Refused, Loaded, LoadedAndSound };

static Found examine(const std::string &path, const Device *device) {
  Found found = Found::Refused;
  try {
    Model model(path);
    found = Found::Loaded;
    askEverything(model);
    if (device)
      runALittle(model, *device);
    check(effc_model_check(model.get(), nullptr, nullptr));
    return Found::LoadedAndSound;
  } catch (const Error &error) {
    EXPECT_NE(error.code(), EFFC_INTERNAL) << error.what();
    EXPECT_STRNE(error.what(), "");
    return found;
  }
}

static bool tryFile(const std::string &path, const Device *device) {
  return examine(path, device) != Found::Refused;
}

TEST(Damage, CutAtEveryByte) {
  std::vector<uint8_t> bytes = makeToyArtifact(toyWithTarget());
  TemporaryFile file(bytes);
  for (size_t size = bytes.size(); size-- > 0;) {
    file.resize(size);
    EXPECT_FALSE(tryFile(file.path(), nullptr)) << "at " << size;
  }
}

TEST(Damage, CutAtEveryByteWithARightHeader) {
  std::vector<uint8_t> bytes = makeToyArtifact(toyWithTarget());
  TemporaryFile file(bytes);
  while (bytes.size() > rt::FileHeader::kBytes) {
    bytes.pop_back();
    rt::FileHeader header = rt::FileHeader::decode(bytes.data());
    header.fileSize = bytes.size();
    auto encoded = header.encode();
    std::memcpy(bytes.data(), encoded.data(), encoded.size());
    repairHeader(bytes);
    file.resize(bytes.size());
    file.patch(0, bytes.data(), rt::FileHeader::kBytes);
    EXPECT_FALSE(tryFile(file.path(), nullptr)) << "at " << bytes.size();
  }
}

/// The bytes that must be right for a file to load: header, program, code and
/// tokenizer. The others are weights and padding.
static std::vector<bool> guardedBytes(const std::vector<uint8_t> &bytes) {
  rt::FileHeader header = rt::FileHeader::decode(bytes.data());
  std::vector<bool> guarded(bytes.size());
  auto guard = [&](uint64_t offset, uint64_t size) {
    for (uint64_t at = offset; at < offset + size; ++at)
      guarded[at] = true;
  };
  guard(0, rt::FileHeader::kBytes);
  guard(header.programOffset, header.programSize);
  const auto *program =
      artifact::GetProgram(bytes.data() + header.programOffset);
  for (const artifact::Segment *segment : *program->segments())
    if (segment->kind() == artifact::SegmentKind::HostCode ||
        segment->kind() == artifact::SegmentKind::SimCode ||
        segment->kind() == artifact::SegmentKind::Tokenizer)
      guard(segment->offset(), segment->size());
  return guarded;
}

// Any flip in what is executed or interpreted is refused; one in weights or
// padding loads and runs, and the check finds it. Every seventh byte, and all in a wide
// check.
TEST(Damage, BytesFlipped) {
  Device device = Device::host(1);
  std::vector<uint8_t> bytes = makeToyArtifact(toyWithTarget());
  std::vector<bool> guarded = guardedBytes(bytes);
  TemporaryFile file(bytes);
  for (size_t at = 0; at < bytes.size(); at += isWideCheck() ? 1 : 7) {
    uint8_t flipped = bytes[at] ^ 0xFF;
    file.patch(at, &flipped, 1);
    EXPECT_EQ(examine(file.path(), &device),
              guarded[at] ? Found::Refused : Found::Loaded)
        << "byte " << at;
    file.patch(at, &bytes[at], 1);
  }
  EXPECT_EQ(examine(file.path(), &device), Found::LoadedAndSound);
}

TEST(Damage, ABitOfEveryGuardedByteFlipped) {
  std::vector<uint8_t> bytes = makeToyArtifact(toyWithTarget());
  std::vector<bool> guarded = guardedBytes(bytes);
  TemporaryFile file(bytes);
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (!guarded[at])
      continue;
    uint8_t flipped = bytes[at] ^ (1 << at % 8);
    file.patch(at, &flipped, 1);
    EXPECT_FALSE(tryFile(file.path(), nullptr)) << "byte " << at;
    file.patch(at, &bytes[at], 1);
  }
}

/// Loads the toy with the byte at `at` changed by `flip` and the header's
/// checksums right; returns whether it loads.
static bool tryRepaired(TemporaryFile &file, const std::vector<uint8_t> &good,
                        size_t at, uint8_t flip) {
  std::vector<uint8_t> bytes = good;
  bytes[at] ^= flip;
  repairHeader(bytes);
  file.patch(0, bytes.data(), rt::FileHeader::kBytes);
  file.patch(at, &bytes[at], 1);
  bool loaded = tryFile(file.path(), nullptr);
  file.patch(at, &good[at], 1);
  return loaded;
}

// The code segment is left out: code is trusted, only its checksum guards it.
TEST(Damage, EveryByteOfTheProgramFlippedWithRightChecksums) {
  const std::vector<uint8_t> good = makeToyArtifact(toyWithTarget());
  rt::FileHeader header = rt::FileHeader::decode(good.data());
  TemporaryFile file(good);
  int loaded = 0;
  for (uint64_t at = 0; at < header.programSize; ++at)
    for (uint8_t flip : {0x01, 0x80, 0xFF})
      loaded += tryRepaired(file, good, header.programOffset + at, flip);
  EXPECT_GT(loaded, 0); // names and notes may be anything
}

TEST(Damage, EveryByteOfTheHeaderFlippedWithRightChecksums) {
  const std::vector<uint8_t> good = makeToyArtifact(toyWithTarget());
  TemporaryFile file(good);
  for (size_t at = 0; at < rt::FileHeader::kBytes; ++at)
    for (uint8_t flip : {0x01, 0x80, 0xFF})
      tryRepaired(file, good, at, flip);
}

TEST(Damage, TokenizerFlippedWithRightChecksums) {
  const std::vector<uint8_t> good = makeToyArtifact(toyWithTarget());
  const artifact::Program *program =
      artifact::GetProgram(good.data() + rt::FileHeader::kBytes);
  uint64_t offset = 0, size = 0, checksum = 0;
  for (const artifact::Segment *segment : *program->segments())
    if (segment->kind() == artifact::SegmentKind::Tokenizer) {
      offset = segment->offset();
      size = segment->size();
      checksum = segment->checksum();
    }
  // Where the program keeps that checksum.
  size_t where = 0;
  for (size_t at = rt::FileHeader::kBytes; at + 8 < offset; ++at)
    if (std::memcmp(&good[at], &checksum, 8) == 0)
      where = at;
  ASSERT_NE(where, 0u);
  TemporaryFile file(good);
  for (uint64_t at = offset; at < offset + size; ++at) {
    std::vector<uint8_t> bytes = good;
    bytes[at] ^= at % 2 ? 0x81 : 0xFF;
    uint64_t fresh = rt::checksum(&bytes[offset], size);
    std::memcpy(&bytes[where], &fresh, 8);
    repairHeader(bytes);
    file.patch(0, bytes.data(), 8192);
    file.patch(at, &bytes[at], 1);
    tryFile(file.path(), nullptr);
    file.patch(at, &good[at], 1);
  }
}
