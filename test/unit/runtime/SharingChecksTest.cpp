// Programs whose flatbuffers name one part again and again, which no packer writes.

#include "runtime/src/Model.h"
#include "runtime/src/ModelChecks.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <functional>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::rt;
namespace art = effc::artifact;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

namespace {
/// What a case puts into a program.
struct Parts {
  Offset<flatbuffers::Vector<Offset<art::Weight>>> weights = {};
  Offset<flatbuffers::Vector<Offset<art::Kernel>>> kernels = {};
  Offset<flatbuffers::Vector<Offset<art::Entry>>> entries = {};
  Offset<art::Provenance> provenance = {};
};
using Fill = std::function<Parts(FlatBufferBuilder &)>;
} // namespace

/// "" or why the program is refused.
static std::string sharing(const Fill &fill) {
  FlatBufferBuilder builder;
  Parts parts = fill(builder);
  auto orNone = [&]<typename T>(Offset<flatbuffers::Vector<Offset<T>>> given) {
    return given.IsNull() ? builder.CreateVector(std::vector<Offset<T>>())
                          : given;
  };
  auto segments = builder.CreateVector(std::vector<Offset<art::Segment>>());
  auto weights = orNone(parts.weights);
  auto states = builder.CreateVector(std::vector<Offset<art::State>>());
  auto kernels = orNone(parts.kernels);
  auto entries = orNone(parts.entries);
  art::ProgramBuilder program(builder);
  program.add_segments(segments);
  program.add_weights(weights);
  program.add_states(states);
  program.add_kernels(kernels);
  program.add_entries(entries);
  if (!parts.provenance.IsNull())
    program.add_provenance(parts.provenance);
  art::FinishProgramBuffer(builder, program.Finish());
  Check error = checkSharing(*art::GetProgram(builder.GetBufferPointer()),
                             builder.GetSize());
  return error ? error->message : "";
}

TEST(SharingChecks, CountTextsAsOftenAsTheyAreNamed) {
  // 100 bytes for each of 100,000 offsets of 4 bytes; 4 * 400,000 and 4 MiB may be.
  auto options = [](uint32_t count, size_t bytes) -> Fill {
    return [=](FlatBufferBuilder &b) {
      auto text = b.CreateString(std::string(bytes, 'x'));
      Parts parts;
      parts.provenance = art::CreateProvenance(
          b, 0, 0, 0, 0, b.CreateVector(std::vector(count, text)));
      return parts;
    };
  };
  EXPECT_EQ(sharing(options(100000, 100))
                .find("the program names its parts so often that they would "
                      "take 10400000 bytes if each"),
            0u);
  EXPECT_EQ(sharing(options(10000, 100)), "");
}

TEST(SharingChecks, CountTablesAsOftenAsTheyAreNamed) {
  // Of a launch 64 operands of 16 bytes, in a list that each entry has.
  auto launches = [](uint32_t entries, uint32_t count) -> Fill {
    return [=](FlatBufferBuilder &b) {
      std::vector<art::Operand> operands(64);
      auto list = b.CreateVectorOfStructs(operands);
      art::Items items(art::Count::Rows, 1, 1);
      auto launch = art::CreateLaunch(b, 0, &items, list);
      auto all = b.CreateVector(std::vector(count, launch));
      auto entry = art::CreateEntry(b, b.CreateString("e"),
                                    art::EntryKind::Decode, 1, 1, 64, all);
      Parts parts;
      parts.entries = b.CreateVector(std::vector(entries, entry));
      return parts;
    };
  };
  EXPECT_NE(sharing(launches(100, 1000)), "");
  EXPECT_EQ(sharing(launches(3, 1000)), "");
  // And codes of kernels.
  auto codes = [](uint32_t kernels, uint32_t count) -> Fill {
    return [=](FlatBufferBuilder &b) {
      auto code = art::CreateKernelCode(b, 0u, uint64_t(0));
      auto all = b.CreateVector(std::vector(count, code));
      auto kernel = art::CreateKernel(b, b.CreateString("k"), 0, 0, all);
      Parts parts;
      parts.kernels = b.CreateVector(std::vector(kernels, kernel));
      return parts;
    };
  };
  EXPECT_NE(sharing(codes(4000, 200)), "");
  EXPECT_EQ(sharing(codes(400, 20)), "");
  auto sources = [](uint32_t count, size_t bytes) -> Fill {
    return [=](FlatBufferBuilder &b) {
      auto text = b.CreateString(std::string(bytes, 'y'));
      auto weight =
          art::CreateWeight(b, text, text, art::ElementType::F32,
                            b.CreateVector(std::vector<uint64_t>{16}));
      Parts parts;
      parts.weights = b.CreateVector(std::vector(count, weight));
      return parts;
    };
  };
  EXPECT_NE(sharing(sources(20000, 300)), "");
  EXPECT_EQ(sharing(sources(2000, 300)), "");
}

TEST(SharingChecks, DescriptionIsMadeOnDemand) {
  test::TemporaryFile file(test::makeToyArtifact());
  auto model = Model::load(file.path());
  ASSERT_TRUE(bool(model));
  const std::string &first = (*model)->description();
  EXPECT_EQ(first.front(), '{');
  EXPECT_EQ(&first, &(*model)->description());
}
