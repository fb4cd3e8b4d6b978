// Where a kept state gives the bits of a cold run, from what a file says of itself.

#include "runtime/src/Exactness.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::rt;
using Kind = Exactness::Kind;

namespace {
struct File {
  std::vector<std::string> options = {};
  std::vector<uint32_t> chunks = {1, 1};
  artifact::ElementType state = artifact::ElementType::F32;
  artifact::Growth growth = artifact::Growth::Fixed;
  bool hasProvenance = true;

  Exactness exactness(bool isHost = true) const {
    artifact::ProgramT program;
    auto made = std::make_unique<artifact::StateT>();
    made->name = "s";
    made->type = state;
    made->growth = growth;
    made->shape = {1};
    program.states.push_back(std::move(made));
    for (uint32_t chunk : chunks) {
      auto entry = std::make_unique<artifact::EntryT>();
      entry->name = "prefill";
      entry->chunk = chunk;
      program.entries.push_back(std::move(entry));
    }
    auto decode = std::make_unique<artifact::EntryT>();
    decode->name = "decode";
    decode->kind = artifact::EntryKind::Decode;
    decode->chunk = 1;
    program.entries.push_back(std::move(decode));
    if (hasProvenance) {
      program.provenance = std::make_unique<artifact::ProvenanceT>();
      program.provenance->options = options;
    }
    flatbuffers::FlatBufferBuilder builder;
    artifact::FinishProgramBuffer(builder,
                                  artifact::Program::Pack(builder, &program));
    const auto &read = *artifact::GetProgram(builder.GetBufferPointer());
    Plan plan = hostPlan(read);
    plan.isHost = isHost;
    return exactnessOf(read, plan);
  }
};
} // namespace

TEST(Exactness, OfStepsIsAnywhere) {
  EXPECT_EQ(File{.options = {"--target=x86-64-v3"}}.exactness().kind,
            Kind::Anywhere);
  EXPECT_EQ(File{.options = {"--force-form=step"}}.exactness().kind,
            Kind::Anywhere);
  EXPECT_TRUE(File{}.exactness().holds(7, false));
}

TEST(Exactness, OfChunksIsOnTheirGrid) {
  File file = {.options = {"--force-form=chunkwise:16"}, .chunks = {16, 16}};
  Exactness found = file.exactness();
  EXPECT_EQ(found.kind, Kind::OnGrid);
  EXPECT_TRUE(found.holds(32, true));
  EXPECT_FALSE(found.holds(32, false));
  EXPECT_FALSE(found.holds(33, true));
  // Which entry takes the rest of a prompt depends on how much is left.
  file.chunks = {8, 16};
  EXPECT_EQ(file.exactness().kind, Kind::Nowhere);
  // Nothing took chunks: which form runs is not known.
  file.chunks = {1, 1};
  EXPECT_EQ(file.exactness().kind, Kind::Nowhere);
}

TEST(Exactness, OfGpusIsAskedFor) {
  EXPECT_EQ(File{}.exactness(false).kind, Kind::Nowhere);
  EXPECT_EQ(File{.options = {"--bit-stable=true"}}.exactness(false).kind,
            Kind::Anywhere);
  EXPECT_EQ(File{.options = {"--bit-stable=false"}}.exactness().kind,
            Kind::Nowhere);
}

TEST(Exactness, OfRoundedStatesIsNowhere) {
  File file = {.options = {"--state-dtype=bf16"},
               .state = artifact::ElementType::BF16};
  EXPECT_EQ(file.exactness().kind, Kind::Nowhere);
  // The host rounds keys and values when they are made.
  file.growth = artifact::Growth::MaxContext;
  EXPECT_EQ(file.exactness().kind, Kind::Anywhere);
  file.options.push_back("--bit-stable=true");
  EXPECT_EQ(file.exactness(false).kind, Kind::Nowhere);
}

TEST(Exactness, OfWhatNobodyKnowsIsNowhere) {
  EXPECT_EQ(File{.hasProvenance = false}.exactness().kind, Kind::Nowhere);
  EXPECT_EQ(File{.options = {"--force-form=quadratic"}}.exactness().kind,
            Kind::Nowhere);
}
