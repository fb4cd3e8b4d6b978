#include "test/unit/runtime/cuda/CudaToy.h"

#include <algorithm>
#include <cstdlib>

using namespace effc;
using namespace effc::test;

namespace {

/// Unsets what a test has set.
class CudaSwitches : public CudaDevice {
protected:
  void TearDown() override {
    unsetenv("EFFC_CUDA_OVERLAP");
    unsetenv("EFFC_CUDA_GRAPHS");
    CudaDevice::TearDown();
  }

  static void waitInAll(artifact::ProgramT &program) {
    for (auto &kernel : program.targets[1]->kernels)
      kernel->overlaps = true;
  }
};

} // namespace

TEST_F(CudaSwitches, KeepLaunchesFromOverlapping) {
  Model model = loadToy(waitInAll);
  auto overlapping = [&] {
    Engine engine(model, Device::cuda());
    Session session(engine);
    fake->calls.clear();
    engine.prefill(session, toyTokens(5), EFFC_LOGITS_NONE);
    return std::count_if(
        fake->calls.begin(), fake->calls.end(),
        [](const std::string &call) { return call.ends_with(" overlaps"); });
  };
  EXPECT_EQ(overlapping(), 1);
  setenv("EFFC_CUDA_OVERLAP", "0", 1);
  EXPECT_EQ(overlapping(), 0);
  setenv("EFFC_CUDA_OVERLAP", "1", 1);
  EXPECT_EQ(overlapping(), 1);
}

TEST_F(CudaSwitches, LaunchStepsInsteadOfReplayingThem) {
  Model model = loadToy();
  auto graphs = [&] {
    Engine engine(model, Device::cuda());
    Session session(engine);
    fake->calls.clear();
    EXPECT_EQ(engine.decode({session.get()}, {1}), ToyReference().step(1));
    return fake->count("cuGraphLaunch");
  };
  EXPECT_EQ(graphs(), 1u);
  setenv("EFFC_CUDA_GRAPHS", "0", 1);
  EXPECT_EQ(graphs(), 0u);
}

TEST_F(CudaSwitches, AreZeroOrOne) {
  Model model = loadToy();
  setenv("EFFC_CUDA_GRAPHS", "off", 1);
  EXPECT_EQ(
      messageOf([&] { Engine(model, Device::cuda()); }, EFFC_INVALID_ARGUMENT),
      "cuda: EFFC_CUDA_GRAPHS is 'off', but 0 or 1 is expected");
  setenv("EFFC_CUDA_GRAPHS", "", 1);
  setenv("EFFC_CUDA_OVERLAP", "2", 1);
  EXPECT_EQ(
      messageOf([&] { Engine(model, Device::cuda()); }, EFFC_INVALID_ARGUMENT),
      "cuda: EFFC_CUDA_OVERLAP is '2', but 0 or 1 is expected");
}
