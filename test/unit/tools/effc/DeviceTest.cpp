// `--device`: which is taken, what is said of it, and that the tokens are the
// same. The GPU is the driver that plays itself (FakeCuda.h).

#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "tools/effc/Evaluation.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc;
using namespace effc::test;

/// What a module holds.
static constexpr const char *kModule = "xxxxxxxxxxxxxxxx";

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

// A GPU that would take the file, but has no room for it or does not take its
// code after all.
TEST(Device, AutoTakesTheHostWhereTheGpuFails) {
  TemporaryFile file(makeCudaToy(true));
  std::string expected = run(file, "host", kNone).out;
  struct {
    const char *variable, *value, *reason;
  } cases[] = {{"FAKE_CUDA_FREE", "200", "; cuda: the model takes "},
               {"FAKE_CUDA_REFUSES", kModule,
                "; cuda: loading the code for sm_90a (segment 3): "
                "CUDA_ERROR_INVALID_IMAGE"}};
  for (auto [variable, value, reason] : cases) {
    setenv(variable, value, 1);
    Finished host = run(file, "auto", EFFC_FAKE_CUDA);
    Finished gpu = run(file, "cuda", EFFC_FAKE_CUDA);
    unsetenv(variable);
    EXPECT_EQ(host.status, 0) << host.err;
    EXPECT_EQ(host.err.find("device: host ("), 0u) << host.err;
    EXPECT_NE(host.err.find(reason), std::string::npos) << host.err;
    EXPECT_EQ(host.out, expected);
    // Who asks for the GPU is told.
    EXPECT_EQ(gpu.status, 1);
    EXPECT_EQ(gpu.err.find("effc: error: cuda: "), 0u) << gpu.err;
  }
}

// PTX that runs in place of a module is said, whoever chose the GPU.
TEST(Device, SaysWhereOtherCodeRuns) {
  ToyOptions options;
  options.code = {
      {artifact::SegmentKind::Cubin, "sm_80", std::vector<uint8_t>(16, 'x')},
      {artifact::SegmentKind::Ptx, "compute_80", {'t', 0}}};
  options.changeProgram = [](artifact::ProgramT &program) {
    for (auto &kernel : addToyTarget(program, "sm_80", 3).kernels) {
      kernel->code.push_back(
          std::make_unique<artifact::KernelCodeT>(*kernel->code[0]));
      kernel->code[1]->segment = 4;
    }
  };
  TemporaryFile file(makeToyArtifact(options));
  setenv("FAKE_CUDA_CAPABILITY", "80", 1);
  setenv("FAKE_CUDA_REFUSES", kModule, 1);
  Finished chosen = run(file, "auto", EFFC_FAKE_CUDA);
  Finished wanted = run(file, "cuda", EFFC_FAKE_CUDA);
  setenv("EFFC_CUDA_DRIVER", EFFC_FAKE_CUDA, 1);
  Finished timed =
      runProgram({EFFC_DEVICE_CHECK, "time", file.path(), "--tokens", "3"});
  unsetenv("EFFC_CUDA_DRIVER");
  unsetenv("FAKE_CUDA_CAPABILITY");
  unsetenv("FAKE_CUDA_REFUSES");
  const std::string note =
      "its code for compute_80 runs, since better code does not: loading the "
      "code for sm_80 (segment 3): CUDA_ERROR_INVALID_IMAGE";
  EXPECT_EQ(chosen.status, 0) << chosen.err;
  EXPECT_NE(chosen.err.find("; the file has code for this GPU; " + note),
            std::string::npos)
      << chosen.err;
  EXPECT_EQ(wanted.status, 0) << wanted.err;
  EXPECT_EQ(wanted.err.find("effc: note: " + note), 0u) << wanted.err;
  // Nobody measures one for the other.
  EXPECT_EQ(timed.status, 1);
  EXPECT_NE(timed.err.find(": " + note), std::string::npos) << timed.err;
}

// The file alone says it: no driver is opened.
TEST(Device, AutoOpensNoDriverWithoutCodeForAGpu) {
  TemporaryFile file(makeToyArtifact());
  for (const char *driver : {kNone, EFFC_FAKE_CUDA}) {
    Finished done = run(file, "auto", driver);
    EXPECT_EQ(done.err.find("device: host ("), 0u) << done.err;
    EXPECT_NE(done.err.find("); the file has no code for a GPU\n"),
              std::string::npos)
        << done.err;
    EXPECT_EQ(done.err.find("cuda"), std::string::npos) << done.err;
  }
}

TEST(Device, TheHostNamesTheGpuThatHasCode) {
  TemporaryFile file(makeCudaToy(false));
  Finished done = run(file, "host", kNone);
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.err.find("effc: error: the file has no code for the host; it "
                          "has code for GPUs: --device cuda\n"),
            0u)
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

// The driver that plays itself says 2 milliseconds of every call.
TEST(Device, BenchmarksByTheDevicesClock) {
  TemporaryFile file(makeCudaToy(true));
  setenv("EFFC_CUDA_DRIVER", EFFC_FAKE_CUDA, 1);
  std::vector<std::string> arguments = {
      EFFC_PROGRAM, "bench",     file.path(), "--device", "cuda",
      "--chip",     "h200",      "--decode",  "5",        "--batch",
      "2",          "--prefill", "16,40",     "--repeat", "3"};
  Finished table = runProgram(arguments);
  arguments.push_back("--json");
  Finished done = runProgram(arguments);
  unsetenv("EFFC_CUDA_DRIVER");
  ASSERT_EQ(done.status, 0) << done.err;
  auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json["machine"]["cache_bytes"], 60 << 20);
  // Two prompts of 16 are two calls of the largest entry, two of 40 are five.
  const double calls[] = {2, 5, 5};
  for (size_t i = 0; i < 3; ++i) {
    const auto &result = json["results"][i];
    EXPECT_EQ(result["clock"], "device");
    EXPECT_FLOAT_EQ(result["seconds_median"], 0.002 * calls[i]) << i;
    EXPECT_GT(result["host_seconds_median"], 0);
    EXPECT_EQ(result["read_bytes_per_second"], 4.3e12);
    EXPECT_GT(result["fraction"], 0);
  }
  EXPECT_NE(table.out.find("  ceilings of h200 (measured on one, SXM): 4300 "
                           "GB/s, products 790000 GFLOP/s\n"),
            std::string::npos)
      << table.out;
}

// What a machine with a GPU runs, on the driver that plays itself.
TEST(Device, TimesLaunchesAlone) {
  TemporaryFile file(makeCudaToy(true)), outputs({}), weights({});
  setenv("EFFC_CUDA_DRIVER", EFFC_FAKE_CUDA, 1);
  Finished done = runProgram({EFFC_DEVICE_CHECK, "time", file.path(),
                              "--sequences", "2", "--tokens", "3", "--runs",
                              "4", "--flush", "1000", "--outputs",
                              outputs.path(), "--weights-out", weights.path()});
  Finished missing =
      runProgram({EFFC_DEVICE_CHECK, "time", file.path(), "--tokens", "1000"});
  unsetenv("EFFC_CUDA_DRIVER");
  ASSERT_EQ(done.status, 0) << done.err;
  auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json["target"], "sm_90a");
  ASSERT_EQ(json["launches"].size(), 3u);
  for (const auto &launch : json["launches"])
    EXPECT_FLOAT_EQ(launch["seconds"]["median"], 0.002);
  EXPECT_FLOAT_EQ(json["call_seconds"]["p90"], 0.002);
  EXPECT_FLOAT_EQ(json["nothing_seconds"]["p10"], 0.002);
  // Rows in fours; the head's rows in pairs, times three; 271 rows of 64 bytes;
  // states of 12 and 8 bytes, read and written for both sequences.
  EXPECT_EQ(json["launches"][0]["blocks"], 2);
  EXPECT_EQ(json["launches"][2]["blocks"], 9);
  EXPECT_EQ(json["launches"][0]["weight_bytes"], 0);
  EXPECT_EQ(json["launches"][2]["weight_bytes"], 271 * 64);
  EXPECT_EQ(json["launches"][1]["state_bytes"], 2 * 2 * (12 + 8));
  EXPECT_EQ(std::filesystem::file_size(outputs.path()), 2 * 3 * 271 * 4u);
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.err,
            "effc-device-check: error: no prefill entry has 1000 rows\n");
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
