// Which of a file's code a GPU runs, by a driver that plays itself
// (FakeCuda.h): what fits the chip, what the driver refuses, and what is said.

#include "runtime/abi/FileHeader.h"
#include "test/unit/runtime/cuda/CudaToy.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;

TEST_F(CudaDevice, AsksForLargeSharedMemory) {
  auto large = [](artifact::ProgramT &program) {
    program.targets[1]->kernels[2]->shared_bytes = 100000;
    program.targets[1]->kernels[1]->shared_bytes = 20000;
  };
  fake->staticSharedBytes = 4000;
  Model model = loadToy(large);
  Engine engine(model, Device::cuda());
  EXPECT_EQ(fake->count("cuFuncSetAttribute"), 1u);
  EXPECT_EQ(fake->count("cuFuncSetAttribute toy_head 8 100000"), 1u);
  Session session(engine);
  fake->calls.clear();
  engine.prefill(session, {1});
  EXPECT_EQ(
      fake->calls[2],
      "cuLaunchKernelEx toy_scan grid 1 block 128 shared 20000 counts 1 1 1");
  EXPECT_EQ(
      fake->calls[3],
      "cuLaunchKernelEx toy_head grid 3 block 64 shared 100000 counts 1 1 1");
  // What a module sets aside by itself the driver alone knows.
  fake->mostSharedBytes = 103999;
  EXPECT_EQ(engineMessage(EFFC_UNSUPPORTED, large),
            "cuda: kernel 'toy_head' needs 104000 bytes of shared memory, but "
            "this GPU (Fake GPU) grants 103999");
}

// Chips of one generation differ in it: 163 KiB of an 8.0, 99 KiB of an 8.9 and
// of a 12.0. Before anything is taken of the GPU, so that another device can
// be.
TEST_F(CudaDevice, NeedsTheSharedMemoryOfAllKernels) {
  auto large = [](artifact::ProgramT &program) {
    program.targets[0]->kernels[1]->shared_bytes = 126720;
    program.targets[0]->kernels[2]->shared_bytes = 147456;
  };
  Model model = loadToy(large);
  auto said = [&](int major, int minor, int bytes) {
    fake->major = major;
    fake->minor = minor;
    fake->mostSharedBytes = bytes;
    return messageOf([&] { Device::cuda().requireAccepts(model); },
                     EFFC_UNSUPPORTED);
  };
  EXPECT_EQ(said(8, 0, 166912), "nothing is wrong");
  EXPECT_EQ(said(8, 9, 101376),
            "cuda: kernel 'toy_head' for sm_80 needs 147456 bytes of shared "
            "memory, but this GPU (Fake GPU) grants 101376");
  EXPECT_EQ(said(8, 9, 147456), "nothing is wrong");
  EXPECT_EQ(said(12, 0, 101376),
            "cuda: kernel 'toy_head' for compute_80 needs 147456 bytes of "
            "shared memory, but this GPU (Fake GPU) grants 101376");
  EXPECT_EQ(engineMessage(EFFC_UNSUPPORTED, large), said(12, 0, 101376));
  EXPECT_TRUE(fake->images.empty());
}

// Other code of the file that fits is taken, and it is said.
TEST_F(CudaDevice, TakesCodeThatFitsTheSharedMemory) {
  Model model = loadToy([](artifact::ProgramT &program) {
    program.targets[1]->kernels[2]->shared_bytes = 232448;
  });
  fake->mostSharedBytes = 101376;
  Engine engine(model, Device::cuda());
  EXPECT_EQ(fake->images.front(), "text 80");
  EXPECT_EQ(engine.note(),
            "its code for compute_80 runs, since better code does not: kernel "
            "'toy_head' for sm_90a needs 232448 bytes of shared memory, but "
            "this GPU (Fake GPU) grants 101376");
}

TEST_F(CudaDevice, TakesTheCodeThatFits) {
  auto loaded = [&](int major, int minor) {
    fake->major = major;
    fake->minor = minor;
    fake->images.clear();
    std::string message = engineMessage(EFFC_UNSUPPORTED);
    return fake->images.empty() ? message : fake->images.front();
  };
  EXPECT_EQ(loaded(9, 0), kHopperModule);
  EXPECT_EQ(loaded(8, 0), "module 80");
  EXPECT_EQ(loaded(8, 9), "module 80");
  // What no module fits is compiled by the driver.
  EXPECT_EQ(loaded(12, 0), "text 80");
  // As everything is where it is asked for.
  setenv("EFFC_CUDA_CODE", "ptx", 1);
  EXPECT_EQ(loaded(9, 0), "text 80");
  EXPECT_EQ(loaded(7, 5),
            "cuda: EFFC_CUDA_CODE=ptx asks for PTX that runs on this GPU (Fake "
            "GPU, compute capability 7.5), but the file has code for sm_80, "
            "sm_90a, compute_80");
  setenv("EFFC_CUDA_CODE", "PTX", 1);
  fake->major = 9;
  EXPECT_EQ(engineMessage(EFFC_INVALID_ARGUMENT),
            "cuda: EFFC_CUDA_CODE is 'PTX', but only 'ptx' is known");
  unsetenv("EFFC_CUDA_CODE");
  EXPECT_EQ(loaded(7, 5),
            "cuda: the file has code for sm_80, sm_90a, compute_80, but this "
            "GPU (Fake GPU) has compute capability 7.5");
  TemporaryFile plain(makeToyArtifact());
  Model model(plain.path());
  for (auto [major, minor, target] : {std::tuple(9, 0, "sm_90a"),
                                      {8, 0, "sm_80"},
                                      {8, 7, "sm_86"},
                                      {8, 9, "sm_89"},
                                      {10, 3, "sm_100"},
                                      {12, 1, "sm_120"}}) {
    fake->major = major;
    fake->minor = minor;
    EXPECT_EQ(messageOf([&] { Device::cuda().requireAccepts(model); },
                        EFFC_UNSUPPORTED),
              std::string("cuda: the file has no code for a GPU: compile it "
                          "with --target ") +
                  target);
  }
  fake->major = 7;
  fake->minor = 5;
  EXPECT_EQ(messageOf([&] { Device::cuda().requireAccepts(model); },
                      EFFC_UNSUPPORTED),
            "cuda: the file has no code for a GPU, and none can be made for "
            "this one (Fake GPU): it has compute capability 7.5, but 8.0 or "
            "newer is needed");
}

TEST_F(CudaDevice, RefusesABadModule) {
  auto withoutText = [](artifact::ProgramT &program) {
    for (auto &kernel : program.targets[0]->kernels)
      kernel->code.pop_back();
  };
  fake->failures["cuModuleLoadDataEx"] = 200;
  const std::string reason =
      "loading the code for sm_90a (segment 4): CUDA_ERROR_INVALID_IMAGE "
      "(device kernel image is invalid); bad\\x0aimage";
  EXPECT_EQ(engineMessage(EFFC_BAD_DATA, withoutText),
            "cuda: " + reason +
                "; the file has no PTX for this GPU in its place");
  // With PTX that is refused too, both reasons are said.
  fake->failures = {{std::string("cuModuleLoadDataEx ") + kHopperModule, 200},
                    {"cuModuleLoadDataEx text 80", 222}};
  EXPECT_EQ(engineMessage(EFFC_BAD_DATA),
            "cuda: " + reason +
                "; loading the code for compute_80 (segment 5): "
                "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (something); "
                "bad\\x0aimage");
  // Of a newer assembler than the driver's.
  fake->version = 12040;
  EXPECT_NE(engineMessage(EFFC_BAD_DATA)
                .find("ptxas of CUDA 13 made it, for drivers of CUDA 13.0 and "
                      "newer, but this one is for CUDA 12.4: update the "
                      "driver, or compile with an older ptxas; loading the "
                      "code for compute_80"),
            std::string::npos);
  // What has another cause is not put down to it, and nothing else is tried.
  fake->failures = {{std::string("cuModuleLoadDataEx ") + kHopperModule, 999}};
  std::string other = engineMessage(EFFC_BAD_DATA);
  EXPECT_EQ(other.find("ptxas"), std::string::npos);
  EXPECT_EQ(other.find("compute_80"), std::string::npos);
  EXPECT_TRUE(fake->images.empty());
  fake->version = 13000;
  fake->failures = {{"cuModuleGetFunction", 500}};
  EXPECT_EQ(engineMessage(EFFC_BAD_DATA),
            "cuda: finding kernel 'toy_embed': CUDA_ERROR_NOT_FOUND "
            "(something)");
}

// Modules of a newer assembler, or for whatever reason no code to the driver.
TEST_F(CudaDevice, TakesPtxWhereAModuleIsRefused) {
  Model model = loadToy();
  {
    Engine engine(model, Device::cuda());
    EXPECT_EQ(engine.note(), "");
  }
  for (int result : {200, 209}) {
    fake->images.clear();
    fake->failures = {
        {std::string("cuModuleLoadDataEx ") + kHopperModule, result}};
    expectToyRuns(model, Device::cuda());
    EXPECT_EQ(fake->images.front(), "text 80");
  }
  fake->version = 12040;
  Engine engine(model, Device::cuda());
  EXPECT_EQ(engine.note(),
            "its code for compute_80 runs, since better code does not: loading "
            "the code for sm_90a (segment 4): CUDA_ERROR_NO_BINARY_FOR_GPU "
            "(something); bad\\x0aimage; ptxas of CUDA 13 made it, for drivers "
            "of CUDA 13.0 and newer, but this one is for CUDA 12.4: update the "
            "driver, or compile with an older ptxas");
}
