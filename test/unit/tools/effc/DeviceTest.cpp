// `--device`: which is taken, what is said of it, and that the tokens are the
// same. The GPU is the driver that plays itself (FakeCuda.h).

#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "tools/effc/Evaluation.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;

/// The toy with a module for a GPU, and without code for the host if so wanted.
static std::vector<uint8_t> makeCudaToy(bool forHost) {
  ToyOptions options;
  options.code = {
      {artifact::SegmentKind::Cubin, "sm_90a", std::vector<uint8_t>(16, 'x')}};
  options.changeProgram = [&](artifact::ProgramT &program) {
    addToyTarget(program, "sm_90a", 3);
    if (forHost)
      return;
    program.kernels.clear();
    program.entries.clear();
  };
  return makeToyArtifact(options);
}

static Finished run(const TemporaryFile &file, const char *device,
                    const char *driver) {
  setenv("EFFC_CUDA_DRIVER", driver, 1);
  Finished done =
      runProgram({EFFC_PROGRAM, "run", file.path(), "--tokens", "1,2,3", "-n",
                  "8", "--print-tokens", "--device", device});
  unsetenv("EFFC_CUDA_DRIVER");
  return done;
}

static constexpr const char *kNone = "/nonexistent/libcuda.so.1";

TEST(Device, AutoPrefersAGpuThatHasCode) {
  TemporaryFile file(makeCudaToy(true));
  Finished gpu = run(file, "auto", EFFC_FAKE_CUDA);
  EXPECT_EQ(gpu.status, 0) << gpu.err;
  EXPECT_EQ(gpu.err.find("device: cuda (Fake GPU, compute capability 9.0, "
                         "driver for CUDA 13.0); the file has code for this "
                         "GPU\n"),
            0u)
      << gpu.err;
  Finished host = run(file, "auto", kNone);
  EXPECT_EQ(host.err.find("device: host ("), 0u) << host.err;
  EXPECT_NE(host.err.find("; cuda: there is no NVIDIA driver here ("),
            std::string::npos)
      << host.err;
  EXPECT_EQ(host.out, gpu.out);
  EXPECT_EQ(run(file, "host", EFFC_FAKE_CUDA).out, gpu.out);
  EXPECT_EQ(run(file, "cuda", EFFC_FAKE_CUDA).out, gpu.out);
}

TEST(Device, AutoSaysWhyTheGpuIsNotTaken) {
  TemporaryFile file(makeToyArtifact());
  // The file alone says it: no driver is opened.
  Finished done = run(file, "auto", kNone);
  EXPECT_NE(done.err.find("; cuda: the file has no code for a GPU: compile it "
                          "with --target host,sm_80,sm_90a\n"),
            std::string::npos)
      << done.err;
}

TEST(Device, NothingToRunOn) {
  TemporaryFile file(makeCudaToy(false));
  Finished done = run(file, "auto", kNone);
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.err.find("effc: error: the file has no code for the host; "
                          "cuda: there is no NVIDIA driver here"),
            0u)
      << done.err;
  EXPECT_EQ(run(file, "auto", EFFC_FAKE_CUDA).status, 0);
  EXPECT_EQ(run(file, "cuda", kNone).status, 1);
}

// Where a prompt is cut that is fed in parts: on the chunks of every target.
TEST(Device, PartsEndOnEveryTargetsChunks) {
  auto strideOf = [](uint32_t chunk) {
    ToyOptions options;
    options.code = {{artifact::SegmentKind::Cubin, "sm_90a", {1}}};
    options.changeProgram = [chunk](artifact::ProgramT &program) {
      for (auto &entry : addToyTarget(program, "sm_90a", 3).entries)
        if (entry->kind == artifact::EntryKind::Prefill)
          entry->chunk = chunk;
    };
    TemporaryFile file(makeToyArtifact(options));
    return cli::callStride(Model(file.path()));
  };
  // The host's largest entry has 16 rows and chunks of 4.
  EXPECT_EQ(strideOf(8), 16u);
  EXPECT_EQ(strideOf(3), 12u);
  EXPECT_EQ(strideOf(5), 20u);
}
