// Loading whole files: what is no artifact at all, versions, checksums. Each
// damage gives a code and one line that says what is wrong.

#include "runtime/abi/FileHeader.h"
#include "runtime/src/Limits.h"
#include "runtime/src/Model.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace effc;
using namespace effc::rt;
using namespace effc::test;

/// "ok", or the code and the message without the path.
static std::string load(const std::string &path) {
  Result<std::shared_ptr<const Model>> model = Model::load(path);
  if (model)
    return "ok";
  std::string message = model.error().message;
  if (size_t at = message.find(path); at != std::string::npos)
    message.replace(at, path.size(), "FILE");
  return std::to_string(model.error().code) + ": " + message;
}

static std::string loadBytes(const std::vector<uint8_t> &bytes) {
  TemporaryFile file(bytes);
  return load(file.path());
}

TEST(FileHeader, LiesInTheFileAsDocumented) {
  FileHeader header;
  header.fileSize = 0x1122334455667788;
  header.programOffset = 64;
  header.headerChecksum = 0xA1;
  FileHeader::Bytes bytes = header.encode();
  EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + 4), "EFFC");
  EXPECT_EQ(bytes[4], 1);
  EXPECT_EQ(bytes[8], 0x88);
  EXPECT_EQ(bytes[15], 0x11);
  EXPECT_EQ(bytes[16], 64);
  EXPECT_EQ(bytes[40], 0xA1);
  FileHeader back = FileHeader::decode(bytes.data());
  EXPECT_EQ(back.fileSize, header.fileSize);
  EXPECT_EQ(back.encode(), bytes);
}

TEST(Loader, LoadsTheToy) { EXPECT_EQ(loadBytes(makeToyArtifact()), "ok"); }

TEST(Loader, RefusesWhatIsNoRegularFile) {
  EXPECT_EQ(load("/nonexistent/x.effc"),
            "2: cannot open 'FILE': No such file or directory");
  EXPECT_EQ(load("/tmp"), "2: 'FILE' is not a regular file");
  EXPECT_EQ(load("/dev/zero"), "2: 'FILE' is not a regular file");
  TemporaryFile place({});
  std::string pipe = place.path() + ".fifo", loop = place.path() + ".loop";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(load(pipe), "2: 'FILE' is not a regular file");
  unlink(pipe.c_str());
  ASSERT_EQ(symlink(loop.c_str(), loop.c_str()), 0);
  EXPECT_EQ(load(loop),
            "2: cannot open 'FILE': Too many levels of symbolic links");
  unlink(loop.c_str());
}

TEST(Loader, RefusesWhatIsNoArtifact) {
  EXPECT_EQ(loadBytes({}), "3: 'FILE' is empty");
  EXPECT_EQ(loadBytes({'E', 'F'}),
            "3: 'FILE': not an effc artifact: it does not start with \"EFFC\"");
  EXPECT_EQ(loadBytes(std::vector<uint8_t>(5000, 'x')),
            "3: 'FILE': not an effc artifact: it does not start with \"EFFC\"");
  EXPECT_EQ(loadBytes({'E', 'F', 'F', 'C', 1, 0}),
            "3: 'FILE': cut short: 6 bytes cannot hold the header of 64");
}

TEST(Loader, NamesBothVersions) {
  std::vector<uint8_t> bytes = makeToyArtifact();
  for (auto [major, minor] : {std::pair(2, 7), {1, 1}, {0, 0}}) {
    bytes[4] = uint8_t(major);
    bytes[6] = uint8_t(minor);
    EXPECT_EQ(loadBytes(bytes),
              "4: 'FILE': written in format " + std::to_string(major) + "." +
                  std::to_string(minor) +
                  ", but this runtime reads 1.0: compile the model again with "
                  "the effc of this runtime, or run the file with the one that "
                  "wrote it");
  }
}

TEST(Loader, NoticesEachChecksum) {
  const std::vector<uint8_t> good = makeToyArtifact();
  auto flipped = [&](size_t at) {
    std::vector<uint8_t> bytes = good;
    bytes[at] ^= 1;
    return loadBytes(bytes);
  };
  EXPECT_EQ(flipped(20),
            "3: 'FILE': the header is damaged: its checksum differs");
  EXPECT_EQ(flipped(100),
            "3: 'FILE': the program is damaged: its checksum differs");
  EXPECT_EQ(flipped(8192),
            "3: 'FILE': segment 0 (HostCode) is damaged: its checksum differs");
}

TEST(Loader, RefusesASizeThatIsNotTheFiles) {
  std::vector<uint8_t> bytes = makeToyArtifact();
  std::string size = std::to_string(bytes.size());
  bytes.push_back(0);
  EXPECT_EQ(loadBytes(bytes), "3: 'FILE': the header states a size of " + size +
                                  " bytes, but the file has " +
                                  std::to_string(bytes.size()));
}

TEST(Loader, RefusesAProgramOutsideTheFile) {
  std::vector<uint8_t> bytes = makeToyArtifact();
  FileHeader header = FileHeader::decode(bytes.data());
  header.programOffset = UINT64_MAX - 8; // wraps around when the size is added
  auto encoded = header.encode();
  std::memcpy(bytes.data(), encoded.data(), encoded.size());
  repairHeader(bytes);
  EXPECT_NE(loadBytes(bytes).find("3: 'FILE': the program lies at byte"),
            std::string::npos);
}

TEST(Loader, RefusesAProgramOfNoBytes) {
  for (uint64_t size : {0, 7}) {
    std::vector<uint8_t> bytes = makeToyArtifact();
    FileHeader header = FileHeader::decode(bytes.data());
    header.programSize = size;
    FileHeader::Bytes encoded = header.encode();
    std::memcpy(bytes.data(), encoded.data(), encoded.size());
    repairHeader(bytes);
    EXPECT_EQ(loadBytes(bytes), "3: 'FILE': the program lies at byte 64 with " +
                                    std::to_string(size) +
                                    " bytes in a file of " +
                                    std::to_string(bytes.size()));
  }
}

// A name may hold anything; a message is one line.
TEST(Loader, SaysItOnOneLine) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &program) {
    program.weights[0]->name = std::string("a\nb\x7f\0c", 6);
    program.weights[0]->size += 64;
  };
  std::string found = loadBytes(makeToyArtifact(options));
  EXPECT_NE(found.find("weight 'a\\x0ab\\x7f\\x00c' has 271 rows"),
            std::string::npos)
      << found;
}

TEST(Loader, RefusesAProgramOfAnotherKind) {
  std::vector<uint8_t> bytes = makeToyArtifact();
  std::memcpy(&bytes[FileHeader::kBytes + 4], "EFFX", 4); // the identifier
  repairHeader(bytes);
  EXPECT_EQ(loadBytes(bytes),
            "3: 'FILE': the program is not a well-formed flatbuffer \"EFFP\"");
}

// Flatbuffer bombs with right checksums: an offset that points at itself, a
// table of tables nested by pointing back, a vector longer than the buffer.
TEST(Loader, RefusesLoopsInTheFlatbuffer) {
  const std::vector<uint8_t> good = makeToyArtifact();
  FileHeader header = FileHeader::decode(good.data());
  for (uint64_t at = 0; at + 4 <= header.programSize; at += 4)
    for (uint32_t value : {0u, 4u, 0x7fffffffu, 0xfffffffcu}) {
      std::vector<uint8_t> bytes = good;
      std::memcpy(&bytes[header.programOffset + at], &value, 4);
      repairHeader(bytes);
      loadBytes(bytes); // refused or not: it returns
    }
}

// One table, named a million times over: four bytes each, and each is visited.
TEST(Loader, RefusesMoreTablesThanAProgramHas) {
  for (bool tooMany : {false, true}) {
    flatbuffers::FlatBufferBuilder builder;
    // Beside them there are the program and its provenance.
    std::vector<flatbuffers::Offset<artifact::SourceFile>> sources(
        tooMany ? kMaxTables + 1 : kMaxTables / 2,
        artifact::CreateSourceFileDirect(builder, "s"));
    auto list = builder.CreateVector(sources);
    artifact::ProvenanceBuilder provenance(builder);
    provenance.add_sources(list);
    auto madeBy = provenance.Finish();
    using flatbuffers::Offset;
    auto segments =
        builder.CreateVector(std::vector<Offset<artifact::Segment>>());
    auto weights =
        builder.CreateVector(std::vector<Offset<artifact::Weight>>());
    auto states = builder.CreateVector(std::vector<Offset<artifact::State>>());
    auto kernels =
        builder.CreateVector(std::vector<Offset<artifact::Kernel>>());
    auto entries = builder.CreateVector(std::vector<Offset<artifact::Entry>>());
    artifact::ProgramBuilder program(builder);
    program.add_segments(segments);
    program.add_weights(weights);
    program.add_states(states);
    program.add_kernels(kernels);
    program.add_entries(entries);
    program.add_provenance(madeBy);
    artifact::FinishProgramBuffer(builder, program.Finish());
    FileHeader header;
    header.programOffset = FileHeader::kBytes;
    header.programSize = builder.GetSize();
    header.fileSize = header.programOffset + header.programSize;
    FileHeader::Bytes encoded = header.encode();
    std::vector<uint8_t> bytes(encoded.begin(), encoded.end());
    bytes.insert(bytes.end(), builder.GetBufferPointer(),
                 builder.GetBufferPointer() + builder.GetSize());
    repairHeader(bytes);
    EXPECT_EQ(loadBytes(bytes),
              tooMany ? "3: 'FILE': the program is not a well-formed "
                        "flatbuffer \"EFFP\""
                      : "3: 'FILE': the vocabulary has 0 tokens, but 1 to "
                        "16777216 are expected");
  }
}

// For timing a model of shapes alone: no weight is 0, and what pads rows is.
TEST(Loader, DrawsWeightsWhereThereAreNone) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &program) {
    program.segments.erase(program.segments.begin() + 1);
    program.weights[1]->type = artifact::ElementType::BF16;
    program.weights[1]->shape = {271, 6};
  };
  TemporaryFile file(makeToyArtifact(options));
  LoadOptions draw;
  draw.drawSeed = 7;
  auto model = Model::load(file.path(), draw),
       same = Model::load(file.path(), draw);
  ASSERT_TRUE(model && same);
  EXPECT_TRUE((*model)->hasWeights());
  draw.drawSeed = 8;
  auto other = Model::load(file.path(), draw);
  ASSERT_TRUE(other);
  for (uint32_t i : {0u, 1u}) {
    const auto &weight = *(*model)->program().weights()->Get(i);
    const uint8_t *bytes = (*model)->weight(i);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % 64, 0u);
    EXPECT_EQ(std::memcmp(bytes, (*same)->weight(i), weight.size()), 0);
    EXPECT_NE(std::memcmp(bytes, (*other)->weight(i), weight.size()), 0);
    size_t negative = 0;
    for (size_t row = 0; row < 271; ++row)
      for (size_t at = 0; at < 64; at += i ? 2 : 4) {
        // Rows of 12 bytes, three elements of f32 or six of bf16.
        uint32_t bits = 0;
        std::memcpy(reinterpret_cast<uint8_t *>(&bits) + (i ? 2 : 0),
                    bytes + row * 64 + at, i ? 2 : 4);
        if (at >= 12) {
          ASSERT_EQ(bits, 0u) << row;
          continue;
        }
        float number;
        std::memcpy(&number, &bits, 4);
        ASSERT_GE(std::fabs(number), 0x1p-7f);
        ASSERT_LT(std::fabs(number), 0x1p-5f);
        negative += number < 0;
      }
    size_t count = 271 * (i ? 6 : 3);
    EXPECT_GT(negative, count / 3);
    EXPECT_LT(negative, 2 * count / 3);
  }
  // A file that has weights keeps them.
  TemporaryFile whole(makeToyArtifact());
  auto plain = Model::load(whole.path()),
       drawn = Model::load(whole.path(), draw);
  ASSERT_TRUE(plain && drawn);
  EXPECT_EQ(std::memcmp((*plain)->weight(0), (*drawn)->weight(0), 271 * 64), 0);
}

// Where a type has no numbers of that size, nothing stands in for it.
TEST(Loader, DrawsNoIntegers) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &program) {
    program.segments.erase(program.segments.begin() + 1);
    program.weights[1]->type = artifact::ElementType::I32;
  };
  TemporaryFile file(makeToyArtifact(options));
  LoadOptions draw;
  draw.drawSeed = 7;
  auto model = Model::load(file.path(), draw);
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find(
                "is of i32, but only floating-point weights can be drawn"),
            std::string::npos);
}

TEST(Loader, ChecksWeightsOnDemand) {
  std::vector<uint8_t> bytes = makeToyArtifact();
  std::vector<uint8_t> weights(271 * 64);
  Result<std::shared_ptr<const Model>> model = [&] {
    TemporaryFile file(bytes);
    return Model::load(file.path());
  }();
  ASSERT_TRUE(bool(model));
  EXPECT_FALSE((*model)->checkSegmentsAndWeights(nullptr, nullptr));

  // The last byte of the last weight, in the middle of its padding.
  uint64_t at = 0;
  for (const artifact::Segment *segment : *(*model)->program().segments())
    if (segment->kind() == artifact::SegmentKind::Weights)
      at = segment->offset() + segment->size() - 1;
  bytes[at] ^= 0x80;
  TemporaryFile file(bytes);
  Result<std::shared_ptr<const Model>> damaged = Model::load(file.path());
  ASSERT_TRUE(bool(damaged));
  Check error = (*damaged)->checkSegmentsAndWeights(nullptr, nullptr);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message,
            "weight 'lm_head' is damaged: its checksum differs");
}
