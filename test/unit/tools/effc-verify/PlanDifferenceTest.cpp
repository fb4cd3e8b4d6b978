// The first field of a plan that differs is named; what is no plan is not.
#include "tools/effc-verify/PlanDifference.h"
#include "runtime/schema/program_generated.h"
#include "test/e2e/TemporaryFolder.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <fstream>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using artifact::ProgramT;
using Change = std::function<void(ProgramT &)>;

namespace {
class PlanDifference : public testing::Test {
protected:
  std::string write(const char *name, const Change &change) {
    std::string path = folder.at(name);
    ToyOptions toy;
    toy.changeProgram = change;
    std::vector<uint8_t> bytes = makeToyArtifact(toy);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  /// What is said of a file that was changed.
  std::string differs(const Change &change) {
    std::string anew = write("anew.effc", [](ProgramT &) {});
    return verify::findPlanDifference(write("file.effc", change), anew)
        .value_or("none");
  }

  TemporaryFolder folder;
};
} // namespace

TEST_F(PlanDifference, IsNoneOfWhatIsNoPlan) {
  EXPECT_EQ(differs([](ProgramT &) {}), "none");
  EXPECT_EQ(differs([](ProgramT &program) {
              program.provenance = std::make_unique<artifact::ProvenanceT>();
              program.provenance->commit = "another";
              program.generation = std::make_unique<artifact::GenerationT>();
              program.generation->temperature = 3;
              program.weights[0]->source = "another";
              program.weights[0]->checksum = 5;
              program.parameters = 77;
            }),
            "none");
  // The code is the same kind's first, whatever stands before it.
  EXPECT_EQ(differs([](ProgramT &program) {
              auto module = std::make_unique<artifact::SegmentT>();
              module->kind = artifact::SegmentKind::SeqModule;
              program.segments.insert(program.segments.begin(),
                                      std::move(module));
              for (auto &kernel : program.kernels)
                ++kernel->code[0]->segment;
            }),
            "none");
}

TEST_F(PlanDifference, NamesAFieldOfEachTable) {
  std::string kernel, state, weight, entry, note;
  EXPECT_EQ(differs([&](ProgramT &program) {
              kernel = program.kernels[1]->name;
              program.kernels[1]->stack_bytes = 123456;
            }).find("kernel " + kernel + ", stack_bytes: 123456 in the file, "),
            0u);
  EXPECT_EQ(differs([&](ProgramT &program) {
              state = program.states[0]->name;
              program.states[0]->slot_offset = 1234;
            }).find("state " + state + ", slot_offset: 1234 in the file, "),
            0u);
  EXPECT_EQ(
      differs([&](ProgramT &program) {
        weight = program.weights[1]->name;
        program.weights[1]->row_stride_bytes = 77;
      }).find("weight " + weight + ", row_stride_bytes: 77 in the file, "),
      0u);
  EXPECT_EQ(differs([&](ProgramT &program) {
              entry = program.entries[1]->name;
              program.entries[1]->chunk = 55;
            }).find("entry " + entry + ", chunk: 55 in the file, "),
            0u);
  EXPECT_EQ(differs([&](ProgramT &program) {
              auto &launch = *program.entries[1]->launches[0];
              note = launch.note.empty() ? "" : " (" + launch.note + ")";
              *launch.items = artifact::Items(launch.items->count(),
                                              launch.items->tile(), 99);
            })
                .find("entry " + entry + ", launch 0" + note +
                      ", items.times: 99 in the file, "),
            0u);
  EXPECT_EQ(differs([](ProgramT &program) {
              program.flops_per_token = 31;
            }).find("flops_per_token: 31 in the file, "),
            0u);
}

// A launch more or less is one, not a difference of the launch behind it.
TEST_F(PlanDifference, NamesWhatOneOfTheTwoLacks) {
  std::string entry;
  std::string less = differs([&](ProgramT &program) {
    entry = program.entries[0]->name;
    program.entries[0]->launches.pop_back();
  });
  EXPECT_EQ(less.find("entry " + entry + ", launch "), 0u) << less;
  EXPECT_NE(less.find(": nothing in the file, "), std::string::npos) << less;
  std::string more = differs([&](ProgramT &program) {
    program.entries[0]->launches.push_back(
        std::make_unique<artifact::LaunchT>(*program.entries[0]->launches[0]));
  });
  EXPECT_EQ(more.find("entry " + entry + ", launch "), 0u) << more;
  EXPECT_NE(more.find(" in the file, nothing compiled again"),
            std::string::npos)
      << more;
}
