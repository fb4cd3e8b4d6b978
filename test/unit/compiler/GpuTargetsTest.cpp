// The runtime knows no row of compiler/Target.h, but tells users what to compile
// for: for each GPU that must be the best target there is.
#include "compiler/Target.h"

#include "runtime/src/Model.h"
#include "runtime/src/devices/Architecture.h"
#include "runtime/src/devices/cuda/CudaChoice.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <gtest/gtest.h>

using namespace effc;

/// The newest target whose code a GPU of compute capability `number` / 10 can run:
/// as it is, or made anew from its text.
static std::string bestTargetFor(uint32_t number) {
  const Target *best = nullptr;
  uint32_t newest = 0;
  for (const Target &target : targets()) {
    if (!target.isForGpus())
      continue;
    uint32_t made = rt::architectureOf(std::string_view(target.code))->number();
    if (target.isForOwnChips ? made != number : made > number)
      continue;
    if (made >= newest)
      best = &target, newest = made;
  }
  return best ? best->name.str() : "";
}

// What a row says is what its names say: ptxas knows the chip by `cpu`, drivers the text
// by "compute_", and only the instructions that "a" stands for bind code to a chip.
TEST(GpuTargets, NamesAgreeWithTheirRows) {
  for (const Target &target : targets()) {
    bool isGpu = target.device == tile::Device::Nvptx;
    EXPECT_EQ(target.isForOwnChips, isGpu && target.cpu.ends_with("a"));
    EXPECT_EQ(target.simulated, target.name.starts_with("sim_"));
    EXPECT_EQ(target.ptx.str(),
              target.isForGpus() ? "compute_" + target.cpu.substr(3).str() : "")
        << target.name.str();
  }
}

TEST(GpuTargets, UsersAreToldTheBestOne) {
  test::TemporaryFile file(test::makeToyArtifact());
  rt::Result<std::shared_ptr<const rt::Model>> model =
      rt::Model::load(file.path());
  ASSERT_TRUE(bool(model)) << model.error().message;
  std::set<std::string> told;
  for (uint32_t major = 8; major <= 12; ++major)
    for (uint32_t minor = 0; minor <= 9; ++minor) {
      auto choices = rt::cudaChoices((*model)->program(),
                                     {"a GPU", major, minor, 99 * 1024});
      ASSERT_FALSE(bool(choices));
      std::string target = bestTargetFor(major * 10 + minor);
      EXPECT_EQ(choices.error().message,
                "cuda: the file has no code for a GPU: compile it with "
                "--target " +
                    target);
      told.insert(target);
    }
  // Every target is the best one of some GPU.
  for (const Target &target : targets())
    EXPECT_EQ(told.count(target.name.str()), target.isForGpus())
        << target.name.str();
}
