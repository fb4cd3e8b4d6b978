// Each list of a program, and each text that is only shown, has a limit: what is
// just allowed passes, one more is named.

#include "runtime/src/Limits.h"
#include "runtime/src/ModelChecks.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::rt;
using artifact::ProgramT;

/// "" or why a program of nothing but what `fill` adds is refused.
template <typename Fill>
static std::string refusal(Check (*check)(const artifact::Program &),
                           Fill fill) {
  ProgramT program;
  program.vocabulary_size = 9;
  program.generation = std::make_unique<artifact::GenerationT>();
  program.provenance = std::make_unique<artifact::ProvenanceT>();
  fill(program);
  flatbuffers::FlatBufferBuilder packed;
  artifact::FinishProgramBuffer(packed,
                                artifact::Program::Pack(packed, &program));
  Check error = check(*artifact::GetProgram(packed.GetBufferPointer()));
  return error ? error->message : "";
}

TEST(ListLimits, OfInnerValues) {
  auto taps = [](uint32_t count) {
    return refusal(checkTaps, [&](ProgramT &p) {
      p.hidden_width = count;
      for (uint32_t i = 0; i < count; ++i) {
        p.taps.push_back(std::make_unique<artifact::TapT>());
        p.taps.back()->name = "v";
        p.taps.back()->shape = {1};
      }
    });
  };
  EXPECT_EQ(taps(16384), "");
  EXPECT_EQ(taps(16385), "the file lists 16385 inner values, but at most 16384 "
                         "are expected");
}

TEST(ListLimits, OfWhatIsOnlyShown) {
  auto options = [](size_t count, size_t bytes) {
    return refusal(checkProvenance, [&](ProgramT &p) {
      p.provenance->options.assign(count, std::string(bytes, 'x'));
    });
  };
  EXPECT_EQ(options(1024, 4096), "");
  EXPECT_EQ(options(1025, 3), "the file lists 1025 options, but at most 1024 "
                              "are expected");
  EXPECT_EQ(options(2, 4097), "the text of an option has 4097 bytes, but at "
                              "most 4096 are expected");
  EXPECT_EQ(refusal(checkProvenance,
                    [](ProgramT &p) {
                      p.provenance->family = std::string(4098, 'f');
                    }),
            "the family's name has 4098 bytes, but at most 4096 are expected");
  EXPECT_EQ(refusal(checkProvenance,
                    [](ProgramT &p) {
                      p.provenance->sources.push_back(
                          std::make_unique<artifact::SourceFileT>());
                    }),
            "the name of a source has 0 bytes, but 1 to 4096 are expected");
  EXPECT_EQ(refusal(checkProvenance,
                    [](ProgramT &p) {
                      for (int i = 0; i < 65537; ++i) {
                        p.provenance->sources.push_back(
                            std::make_unique<artifact::SourceFileT>());
                        p.provenance->sources.back()->name = "s";
                      }
                    }),
            "the file lists 65537 sources, but at most 65536 are expected");
  auto keys = [](size_t count) {
    return refusal(checkProvenance,
                   [&](ProgramT &p) { p.key_work.resize(count); });
  };
  EXPECT_EQ(keys(65536), "");
  EXPECT_EQ(keys(65537), "the file lists 65537 counts of work for keys, but at "
                         "most 65536 are expected");
}

TEST(ListLimits, OfEndsOfAGeneration) {
  auto ends = [](size_t count) {
    return refusal(checkGeneration,
                   [&](ProgramT &p) { p.generation->eos.assign(count, 8); });
  };
  EXPECT_EQ(ends(1024), "");
  EXPECT_EQ(ends(1025), "the file lists 1025 tokens that end a generation, but "
                        "at most 1024 are expected");
}

TEST(ListLimits, OfStatesAndWeights) {
  EXPECT_EQ(refusal(checkStates,
                    [](ProgramT &p) {
                      for (int i = 0; i < 65537; ++i) {
                        p.states.push_back(
                            std::make_unique<artifact::StateT>());
                        p.states.back()->name = "s";
                      }
                    }),
            "the file lists 65537 states, but at most 65536 are expected");
  EXPECT_EQ(refusal(checkWeights,
                    [](ProgramT &p) {
                      for (int i = 0; i < 262145; ++i) {
                        p.weights.push_back(
                            std::make_unique<artifact::WeightT>());
                        p.weights.back()->name = "w";
                      }
                    }),
            "the file lists 262145 weights, but at most 262144 are expected");
  EXPECT_EQ(refusal(checkWeights,
                    [](ProgramT &p) {
                      p.weights.push_back(
                          std::make_unique<artifact::WeightT>());
                      p.weights[0]->name = "w";
                      p.weights[0]->source = std::string(4099, 's');
                    }),
            "the source of a weight has 4099 bytes, but at most 4096 are "
            "expected");
}

TEST(ListLimits, OfKindsOfInstructions) {
  auto kinds = [](size_t count) {
    ProgramT program;
    program.kernels.push_back(std::make_unique<artifact::KernelT>());
    program.kernels[0]->name = "k";
    for (size_t i = 0; i < count; ++i) {
      program.kernels[0]->instructions.push_back(
          std::make_unique<artifact::InstructionCountT>());
      program.kernels[0]->instructions.back()->name = "mma";
    }
    flatbuffers::FlatBufferBuilder packed;
    artifact::FinishProgramBuffer(packed,
                                  artifact::Program::Pack(packed, &program));
    const auto &made = *artifact::GetProgram(packed.GetBufferPointer());
    Check error = checkKernels(made, hostPlan(made));
    return error ? error->message : "";
  };
  EXPECT_EQ(kinds(4096), "");
  EXPECT_EQ(kinds(4097), "kernel 'k' counts 4097 kinds of instructions, but at "
                         "most 4096 are expected");
}
