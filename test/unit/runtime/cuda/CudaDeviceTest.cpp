// A model on a GPU, by a driver that plays itself (FakeCuda.h): the toy's
// numbers, the calls that are made of them, and what is said when one fails.

#include "runtime/src/devices/cuda/CudaDevice.h"
#include "runtime/include/effc/effc.hpp"
#include "runtime/src/Sampler.h"
#include "runtime/src/devices/cuda/CudaGraphs.h"
#include "test/unit/runtime/cuda/CudaToy.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace effc;
using namespace effc::test;

TEST_F(CudaDevice, RunsTheToy) { expectToyRuns(loadToy(), Device::cuda()); }

TEST_F(CudaDevice, DescribesItself) {
  EXPECT_EQ(Device::cuda().description(),
            "cuda (Fake GPU, compute capability 9.0, driver for CUDA 13.0)");
}

// A prefill goes as it is: inputs, the launches, logits.
TEST_F(CudaDevice, LaunchesWhatThePlanSays) {
  Model model = loadToy();
  Engine engine(model, Device::cuda(), 2);
  Session first(engine), second(engine);
  fake->calls.clear();
  std::vector<float> logits(4 * kToyVocabulary);
  std::vector<int32_t> tokens = toyTokens(5);
  engine.prefill({{first.get(), tokens.data(), 3, EFFC_LOGITS_ALL,
                   logits.data(), sizeof(effc_prompt_t)},
                  {second.get(), tokens.data(), 5, EFFC_LOGITS_LAST,
                   logits.data() + 3 * kToyVocabulary, sizeof(effc_prompt_t)}});
  // 8 rows in fours, two segments, four logits in pairs, times three.
  std::vector<std::string> expected = {
      "cuMemcpyHtoDAsync_v2",
      "cuLaunchKernelEx toy_embed grid 2 block 64 shared 0 counts 8 2 4",
      "cuLaunchKernelEx toy_scan grid 2 block 128 shared 0 counts 8 2 4",
      "cuLaunchKernelEx toy_head grid 6 block 64 shared 0 counts 8 2 4",
      "cuMemcpyDtoHAsync_v2 4336",
      "cuStreamSynchronize"};
  EXPECT_EQ(fake->calls, expected);
  // Without logits there is nothing to launch for them, and nothing to copy.
  fake->calls.clear();
  engine.prefill(first, tokens, EFFC_LOGITS_NONE);
  expected = {
      "cuMemcpyHtoDAsync_v2",
      "cuLaunchKernelEx toy_embed grid 2 block 64 shared 0 counts 5 1 0",
      "cuLaunchKernelEx toy_scan grid 1 block 128 shared 0 counts 5 1 0",
      "cuStreamSynchronize"};
  EXPECT_EQ(fake->calls, expected);
}

/// Boxes of the toy's embeddings: 200 rows of 4 f32.
static void addBoxes(artifact::ProgramT &program) {
  auto map = std::make_unique<artifact::BoxMapT>();
  map->operand = 2;
  map->rows = 200;
  map->columns = 4;
  map->pitch = 16;
  map->box_rows = 8;
  map->box_columns = 32;
  map->type = artifact::ElementType::F32;
  program.targets[1]->kernels[0]->box_maps.push_back(std::move(map));
}

// One for each launch, when the model is loaded; kernels are passed them behind
// the counts.
TEST_F(CudaDevice, MakesTensorMaps) {
  fake->mapsOf["toy_embed"] = 1;
  Model model = loadToy(addBoxes);
  Engine engine(model, Device::cuda());
  // Two prefill entries and three of decode.
  EXPECT_EQ(fake->count("cuTensorMapEncodeTiled type 7 of 4 x 200 every 16 box "
                        "32 x 8 swizzle 3"),
            5u);
  fake->calls.clear();
  Session session(engine);
  engine.prefill(session, toyTokens(3), EFFC_LOGITS_NONE);
  EXPECT_EQ(fake->count("cuLaunchKernelEx toy_embed grid 1 block 64 shared 0 "
                        "counts 3 1 0 map 1"),
            1u);
}

// All but the first, which follows the copy of a call's inputs.
TEST_F(CudaDevice, LaunchesOverlapWhereKernelsWait) {
  Model model = loadToy([](artifact::ProgramT &program) {
    for (auto &kernel : program.targets[1]->kernels)
      kernel->overlaps = true;
  });
  auto prefill = [&] {
    Engine engine(model, Device::cuda());
    Session session(engine);
    fake->calls.clear();
    engine.prefill(session, toyTokens(5), EFFC_LOGITS_NONE);
  };
  prefill();
  std::vector<std::string> expected = {
      "cuMemcpyHtoDAsync_v2",
      "cuLaunchKernelEx toy_embed grid 2 block 64 shared 0 counts 5 1 0",
      "cuLaunchKernelEx toy_scan grid 1 block 128 shared 0 counts 5 1 0 "
      "overlaps",
      "cuStreamSynchronize"};
  EXPECT_EQ(fake->calls, expected);
  // Behind a launch that has nothing to do there is still the copy.
  Model empty = loadToy([](artifact::ProgramT &program) {
    for (auto &kernel : program.targets[1]->kernels)
      kernel->overlaps = true;
    for (auto &entry : program.targets[1]->entries)
      *entry->launches[0]->items = {artifact::Count::Outputs, 1, 1};
  });
  {
    Engine engine(empty, Device::cuda());
    Session session(engine);
    fake->calls.clear();
    engine.prefill(session, toyTokens(5), EFFC_LOGITS_NONE);
    EXPECT_EQ(fake->calls,
              (std::vector<std::string>{
                  "cuMemcpyHtoDAsync_v2",
                  "cuLaunchKernelEx toy_scan grid 1 block 128 shared 0 counts "
                  "5 1 0",
                  "cuStreamSynchronize"}));
  }
  fake->version = 12020; // cannot record them
  prefill();
  expected[2].resize(expected[2].find(" overlaps"));
  EXPECT_EQ(fake->calls, expected);
}

TEST_F(CudaDevice, SaysWhichTensorMapIsRefused) {
  fake->failures["cuTensorMapEncodeTiled"] = 1;
  EXPECT_NE(engineMessage(EFFC_DEVICE_ERROR, addBoxes)
                .find("making a tensor map for operand 2 of kernel "
                      "'toy_embed'"),
            std::string::npos);
}

// Decoding is recorded when its shape first comes, and replayed from then on.
TEST_F(CudaDevice, RecordsDecoding) {
  Model model = loadToy();
  Engine engine(model, Device::cuda(), 3);
  Session a(engine), b(engine), c(engine);
  fake->calls.clear();
  for (int32_t i = 0; i < 3; ++i)
    engine.decode({a.get(), b.get()}, {i, i});
  EXPECT_EQ(fake->count("cuStreamBeginCapture_v2"), 1u);
  EXPECT_EQ(fake->count("cuGraphInstantiateWithFlags"), 1u);
  EXPECT_EQ(fake->count("cuLaunchKernelEx"), 3u);
  EXPECT_EQ(fake->count("cuGraphLaunch"), 3u);
  EXPECT_EQ(fake->calls.back(), "cuStreamSynchronize");
  // Three sequences go into the entry of four, as a shape of their own.
  ToyReference reference;
  for (int32_t token : {0, 1, 2})
    reference.step(token);
  std::vector<float> logits =
      engine.decode({c.get(), b.get(), a.get()}, {9, 9, 5});
  EXPECT_EQ(fake->count("cuStreamBeginCapture_v2"), 2u);
  EXPECT_EQ(std::vector<float>(logits.end() - kToyVocabulary, logits.end()),
            reference.step(5));
  engine.decode({c.get(), b.get(), a.get()}, {1, 2, 3});
  EXPECT_EQ(fake->count("cuStreamBeginCapture_v2"), 2u);
}

// Who wants the likeliest token gets eight bytes a sequence, from launches of
// their own and a recording of their own.
TEST_F(CudaDevice, ChoosesWithoutLogits) {
  ToyOptions options = cudaToy();
  options.withChoices = true;
  TemporaryFile file(makeToyArtifact(options));
  Model model(file.path());
  Engine engine(model, Device::cuda(), 2);
  Session a(engine), b(engine);
  ToyReference ofA, ofB;
  fake->calls.clear();
  for (int32_t token : {31, 7, 200}) {
    std::vector<int32_t> best =
        engine.decodeBest({a.get(), b.get()}, {token, 5});
    EXPECT_EQ(best, (std::vector<int32_t>{likeliest(ofA.step(token)),
                                          likeliest(ofB.step(5))}));
  }
  EXPECT_EQ(fake->count("cuStreamBeginCapture_v2"), 1u);
  EXPECT_EQ(fake->count("cuLaunchKernelEx toy_head"), 0u);
  EXPECT_EQ(fake->count("cuLaunchKernelEx toy_draw grid 2 block 64 shared 0 "
                        "counts 2 2 2"),
            1u);
  EXPECT_EQ(fake->count("cuMemcpyDtoHAsync_v2 16"), 1u);
  // The same shape for logits is another call.
  std::vector<float> logits = engine.decode({a.get(), b.get()}, {8, 8});
  EXPECT_EQ(std::vector<float>(logits.begin(), logits.begin() + kToyVocabulary),
            ofA.step(8));
  EXPECT_EQ(fake->count("cuStreamBeginCapture_v2"), 2u);
  EXPECT_EQ(fake->count("cuLaunchKernelEx toy_draw"), 1u);
}

// How tokens are drawn goes to the GPU with the other inputs, anew for every
// replay of a recording.
TEST_F(CudaDevice, DrawsWithoutLogits) {
  ToyOptions options = cudaToy();
  options.withChoices = true;
  TemporaryFile file(makeToyArtifact(options));
  Model model(file.path());
  Engine engine(model, Device::cuda(), 2);
  Session a(engine), b(engine);
  effc_sampler_options_t drawing = effc_sampler_options_default();
  Sampler greedy(drawing, kToyVocabulary);
  drawing.temperature = 0.5f;
  drawing.seed = 12;
  Sampler drawn(drawing, kToyVocabulary);
  ToyReference ofA, ofB;
  fake->calls.clear();
  uint64_t index = 0;
  for (int32_t token : {31, 7, 200}) {
    rt::Noise noise = rt::Noise::of(12, index++);
    int32_t expected =
        drawnByToy(ofA.step(token), 2, 1, noise.key, noise.counter);
    EXPECT_EQ(engine.decodeDraw({a.get(), b.get()}, {drawn.get(), greedy.get()},
                                {token, 5}),
              (std::vector<int32_t>{expected, likeliest(ofB.step(5))}));
  }
  EXPECT_EQ(fake->count("cuStreamBeginCapture_v2"), 1u);
  EXPECT_EQ(fake->count("cuLaunchKernelEx toy_head"), 0u);
  EXPECT_EQ(fake->count("cuLaunchKernelEx toy_draw grid 2"), 1u);
  EXPECT_EQ(fake->count("cuMemcpyDtoHAsync_v2 16"), 1u);
}

TEST_F(CudaDevice, StatesAreCopiedAndMoveToTheHost) {
  expectToyStatesMove(loadToy(), Device::cuda());
}

TEST_F(CudaDevice, TellsHowFarTheWeightsAre) {
  Model model = loadToy();
  std::vector<std::pair<uint64_t, uint64_t>> told;
  effc_engine_options_t options = effc_engine_options_default();
  options.user = &told;
  options.progress = [](void *user, uint64_t done, uint64_t total) {
    static_cast<decltype(told) *>(user)->emplace_back(done, total);
  };
  Engine engine(model, Device::cuda(), options);
  // Two matrices of 271 rows of 64 bytes.
  std::vector<std::pair<uint64_t, uint64_t>> expected = {{17344, 34688},
                                                         {34688, 34688}};
  EXPECT_EQ(told, expected);
}

// The driver that plays itself says 2 milliseconds between any two marks.
TEST_F(CudaDevice, KeepsTheTimeOfCalls) {
  Model model = loadToy();
  {
    Engine engine(model, Device::cuda());
    EXPECT_LT(engine.deviceSeconds(), 0);
    Session session(engine);
    engine.prefill(session, {1});
    EXPECT_LT(engine.deviceSeconds(), 0);
    EXPECT_EQ(fake->marks, 2); // of two weights on their way
  }
  fake->marks = 0;
  effc_engine_options_t options = effc_engine_options_default();
  options.keep_time = 1;
  Engine engine(model, Device::cuda(), options);
  EXPECT_EQ(engine.deviceSeconds(), 0);
  Session session(engine);
  fake->marks = 0;
  engine.prefill(session, {1, 2, 3});
  EXPECT_FLOAT_EQ(engine.deviceSeconds(), 0.002);
  engine.decode({session.get()}, {1});
  EXPECT_FLOAT_EQ(engine.deviceSeconds(), 0.004);
  EXPECT_EQ(fake->marks, 4);
  // Marks lie around a replayed graph, not in it.
  engine.decode({session.get()}, {2});
  EXPECT_EQ(fake->count("cuStreamBeginCapture_v2"), 1u);
  EXPECT_EQ(fake->marks, 6);
  fake->failures["cuEventElapsedTime"] = 999;
  EXPECT_EQ(messageOf([&] { engine.decode({session.get()}, {3}); },
                      EFFC_DEVICE_ERROR),
            "cuda: reading the time: CUDA_ERROR_UNKNOWN (something)");
  Engine host(model, Device::host(1), options);
  EXPECT_LT(host.deviceSeconds(), 0);
}

TEST_F(CudaDevice, MarksEachLaunchOfAProfile) {
  Model model = loadToy();
  Engine engine(model, Device::cuda());
  Session session(engine);
  engine.startProfile();
  fake->marks = 0;
  engine.decode({session.get()}, {2});
  // Before the three launches, and behind each; nothing is recorded as a graph.
  EXPECT_EQ(fake->marks, 4);
  EXPECT_EQ(fake->count("cuStreamBeginCapture_v2"), 0u);
  std::string path = testing::TempDir() + "effc-profile.json";
  engine.saveProfile(path);
  std::stringstream trace;
  trace << std::ifstream(path).rdbuf();
  EXPECT_NE(trace.str().find("\"name\":\"stream\""), std::string::npos);
  EXPECT_NE(trace.str().find("\"dur\":2000"), std::string::npos) << trace.str();
}

TEST_F(CudaDevice, TimesEachLaunch) {
  TemporaryFile file(makeToyArtifact(cudaToy({})));
  auto model = rt::Model::load(file.path());
  ASSERT_TRUE(model);
  auto device = rt::CudaDevice::create(0);
  ASSERT_TRUE(device);
  auto executor = (*device)->prepare(*model, 1, {});
  ASSERT_TRUE(executor);
  const rt::CallInputs &inputs = (*executor)->inputs();
  inputs.segments[0] = artifact::SegmentRecord(0, 0, 2, 3, 0);
  for (int32_t row = 0; row < 2; ++row) {
    inputs.tokens[row] = row;
    inputs.rowSlots[row] = 0;
    inputs.rowPositions[row] = row;
    inputs.outputRows[row] = row;
  }
  fake->calls.clear();
  fake->marks = 0;
  rt::CallTimes times;
  rt::TimingOptions options;
  options.warmUps = 1;
  options.runs = 4;
  options.flushBytes = 4096;
  rt::Check error = (*executor)->time(0, {2, 1, 2}, options, times);
  ASSERT_FALSE(error) << error->message;
  // Three launches, all of them together, and nothing, each between two marks.
  EXPECT_EQ(fake->marks, 5 * 5 * 2);
  EXPECT_EQ(fake->count("cuLaunchKernelEx"), 5u * (3 + 3));
  EXPECT_EQ(fake->count("cuStreamSynchronize"), 5u);
  ASSERT_EQ(times.launches.size(), 3u);
  for (const std::vector<double> &runs :
       {times.launches[0], times.launches[2], times.calls, times.nothing}) {
    ASSERT_EQ(runs.size(), 4u);
    EXPECT_FLOAT_EQ(runs[0], 0.002);
  }
  fake->failures["cuLaunchKernelEx toy_scan"] = 999;
  error = (*executor)->time(0, {2, 1, 2}, options, times);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message.find("cuda: kernel 'toy_scan' (launch 1"), 0u)
      << error->message;
}

TEST_F(CudaDevice, NeedsADriver) {
  setenv("EFFC_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
  EXPECT_EQ(messageOf([] { Device::cuda(); }, EFFC_UNSUPPORTED)
                .find("cuda: there is no NVIDIA driver here "
                      "(/nonexistent/libcuda.so.1: cannot open"),
            0u);
  setenv("EFFC_CUDA_DRIVER", EFFC_OLD_CUDA, 1);
  EXPECT_EQ(messageOf([] { Device::cuda(); }, EFFC_UNSUPPORTED),
            "cuda: the driver is for CUDA 11.8, but CUDA 12.0 or newer is "
            "needed");
  setenv("OLD_CUDA_VERSION", "13000", 1);
  EXPECT_EQ(messageOf([] { Device::cuda(); }, EFFC_UNSUPPORTED),
            "cuda: '" EFFC_OLD_CUDA
            "' has no function 'cuInit': a driver for CUDA 12.0 or newer is "
            "needed");
  unsetenv("OLD_CUDA_VERSION");
}

TEST_F(CudaDevice, NeedsAGpu) {
  fake->failures["cuInit"] = 100;
  EXPECT_EQ(messageOf([] { Device::cuda(); }, EFFC_UNSUPPORTED),
            "cuda: the driver finds no GPU");
  fake->failures["cuInit"] = 34;
  EXPECT_EQ(messageOf([] { Device::cuda(); }, EFFC_UNSUPPORTED),
            "cuda: the driver cannot be used: CUDA_ERROR_UNKNOWN (something)");
  fake->failures.clear();
  EXPECT_EQ(messageOf([] { Device::cuda(1); }, EFFC_INVALID_ARGUMENT),
            "cuda: GPU 1 is asked for, but there is 1");
  fake->devices = 0;
  EXPECT_EQ(messageOf([] { Device::cuda(); }, EFFC_UNSUPPORTED),
            "cuda: the driver finds no GPU");
}

// A copy is of what the sequence holds: states of a fixed size, with what little
// lies between them, and a row of two growing ones for each token.
TEST_F(CudaDevice, CopiesWhatIsHeld) {
  ToyOptions options = cudaToy();
  options.withKeys = true;
  TemporaryFile file(makeToyArtifact(options));
  Model model(file.path());
  Engine engine(model, Device::cuda(), 2);
  const std::vector<int32_t> tokens = toyTokens(90);
  const std::vector<float> expected = ToyReference().feed(tokens);
  Session session(engine);
  engine.prefill(session, {tokens.begin(), tokens.begin() + 11});
  fake->calls.clear();
  Session fork = session.fork();
  EXPECT_EQ(fake->calls, (std::vector<std::string>{"cuMemcpyDtoDAsync_v2 90240",
                                                   "cuMemcpyDtoDAsync_v2 90112",
                                                   "cuStreamSynchronize"}));
  // The host's slot is filled by the same stretches.
  Engine host(model, Device::host(1));
  Session there(host);
  there.loadBytes(fork.save());
  host.prefill(there, {tokens.begin() + 11, tokens.begin() + 80});
  session.loadBytes(there.save());
  EXPECT_EQ(
      engine.prefill(session, {tokens.begin() + 80, tokens.end()}),
      std::vector<float>(expected.end() - kToyVocabulary, expected.end()));
}

TEST_F(CudaDevice, SaysHowMuchRoomThereIs) {
  ToyOptions options = cudaToy();
  options.withKeys = true;
  TemporaryFile file(makeToyArtifact(options));
  Model model(file.path());
  // Besides states: weights, arena, logits and inputs, as below.
  const uint64_t others = 2 * 17408 + 320 + 16 * 271 * 4 + 80 * 60;
  auto advice = [&](uint64_t free, uint32_t sessions) {
    fake->free = free;
    std::string message =
        messageOf([&] { Engine engine(model, Device::cuda(), sessions); },
                  EFFC_OUT_OF_MEMORY);
    size_t at = message.find(" free of 2147483648");
    return at == message.npos ? message : message.substr(at + 19);
  };
  EXPECT_EQ(advice(others + 5 * kToyKeysSlotBytes, 5), "nothing is wrong");
  EXPECT_EQ(advice(others + 5 * kToyKeysSlotBytes - 1, 5),
            "; there is room for 4 sessions, or for more of a file that was "
            "compiled with a smaller --max-context");
  EXPECT_EQ(advice(others + kToyKeysSlotBytes, 2),
            "; there is room for 1 session, or for more of a file that was "
            "compiled with a smaller --max-context");
  // 101 rows of the table beside the window and what does not grow.
  EXPECT_EQ(advice(others + 192 + (101 + kToyWindow) * kToyRowBytes, 1),
            "; compiled with --max-context 101 or less, one session fits");
  EXPECT_EQ(advice(others + 192, 1), "");
}

TEST_F(CudaDevice, SaysWhatDoesNotFit) {
  // Two weights of 17,344 bytes at multiples of 256; a slot of 192; the arena of
  // 16 rows, 64 + 16 x 16; 16 rows of 271 logits; 80 rows of 60 bytes of inputs.
  uint64_t needed = 2 * 17408 + 192 + 320 + 16 * 271 * 4 + 80 * 60;
  fake->free = needed - 1;
  EXPECT_EQ(engineMessage(EFFC_OUT_OF_MEMORY),
            "cuda: the model takes " + std::to_string(needed) +
                " bytes (34816 of weights, 192 of states, 320 of arena, 17344 "
                "of logits, 4800 of inputs, and more for recorded calls), but "
                "the GPU has " +
                std::to_string(needed - 1) + " free of 2147483648");
  fake->free = needed;
  EXPECT_EQ(engineMessage(EFFC_OUT_OF_MEMORY), "nothing is wrong");
  // Somebody else takes it meanwhile.
  fake->failures["cuMemAlloc_v2"] = 2;
  EXPECT_EQ(engineMessage(EFFC_OUT_OF_MEMORY),
            "cuda: the weights take 34816 bytes, but the GPU has " +
                std::to_string(needed) + " free of 2147483648");
  fake->failures = {{"cuMemAllocHost_v2", 2}};
  EXPECT_EQ(
      engineMessage(EFFC_OUT_OF_MEMORY),
      "cuda: the inputs of a call take 4800 bytes of pinned memory, which "
      "the system does not have");
}

// Whatever fails while an engine is made, everything is given back.
TEST_F(CudaDevice, FailsWithoutLosingAnything) {
  for (const char *symbol :
       {"cuDeviceGetCount", "cuDeviceGet", "cuDevicePrimaryCtxRetain",
        "cuModuleLoadDataEx", "cuModuleGetFunction", "cuStreamCreate",
        "cuMemAlloc_v2", "cuMemAllocHost_v2", "cuMemcpyHtoDAsync_v2",
        "cuStreamSynchronize"}) {
    fake->failures = {{symbol, 999}};
    Model model = loadToy();
    try {
      Engine engine(model, Device::cuda());
      ADD_FAILURE() << symbol;
    } catch (const Error &error) {
      EXPECT_EQ(std::string(error.what()).find("cuda: "), 0u) << error.what();
    }
    EXPECT_EQ(fake->live, 0) << symbol;
  }
}

// Memory of the host is given back that the GPU may still read.
TEST_F(CudaDevice, WaitsForWeightsOnTheirWay) {
  Model model = loadToy();
  fake->failures["cuMemcpyHtoDAsync_v2"] = 999;
  EXPECT_EQ(messageOf([&] { Engine engine(model, Device::cuda()); },
                      EFFC_DEVICE_ERROR),
            "cuda: uploading the weights: CUDA_ERROR_UNKNOWN (something)");
  EXPECT_EQ(fake->calls.back(), "cuStreamSynchronize");
}

// Nothing is done in whatever context there is instead.
TEST_F(CudaDevice, NeedsItsContext) {
  Model model = loadToy();
  const std::string expected =
      "cuda: entering the GPU's context: CUDA_ERROR_UNKNOWN (something)";
  fake->failures["cuCtxPushCurrent_v2"] = 201;
  EXPECT_EQ(engineMessage(EFFC_DEVICE_ERROR), expected);
  EXPECT_EQ(fake->count("cuModuleLoadDataEx"), 0u);
  fake->failures.clear();
  Engine engine(model, Device::cuda(), 2);
  Session session(engine);
  fake->failures["cuCtxPushCurrent_v2"] = 201;
  fake->calls.clear();
  EXPECT_EQ(messageOf([&] { engine.prefill(session, {1}); }, EFFC_DEVICE_ERROR),
            expected);
  EXPECT_TRUE(fake->calls.empty());
}

// Of recorded calls the ones last used are kept.
TEST_F(CudaDevice, KeepsTheGraphsLastUsed) {
  auto driver = rt::CudaDriver::open();
  ASSERT_TRUE(driver);
  auto context = rt::CudaContext::open(*driver, 0);
  ASSERT_TRUE(context);
  int live = fake->live;
  {
    rt::CudaGraphs graphs(3);
    auto keyOf = [](int64_t rows) {
      return rt::CudaGraphs::Key(0, rows, rows, rows,
                                 artifact::CallResult::Logits);
    };
    auto add = [&](int64_t rows) {
      rt::cuda::Stream stream = nullptr;
      rt::cuda::Graph graph = nullptr;
      rt::cuda::GraphExec ready = nullptr;
      (*driver)->captureBegin(stream, rt::cuda::kCaptureThreadLocal);
      (*driver)->captureEnd(stream, &graph);
      (*driver)->graphInstantiate(&ready, graph, 0);
      (*driver)->graphDestroy(graph);
      graphs.add(keyOf(rows),
                 rt::CudaOwned<rt::cuda::GraphExec>(
                     *context, ready, (*driver)->graphExecDestroy));
    };
    for (int64_t rows : {1, 2, 3})
      add(rows);
    EXPECT_NE(graphs.find(keyOf(1)), nullptr);
    EXPECT_EQ(graphs.find(keyOf(4)), nullptr);
    add(4);
    EXPECT_EQ(graphs.find(keyOf(2)), nullptr);
    for (int64_t rows : {3, 1, 4})
      EXPECT_NE(graphs.find(keyOf(rows)), nullptr) << rows;
    add(5);
    EXPECT_EQ(graphs.find(keyOf(3)), nullptr);
    EXPECT_NE(graphs.find(keyOf(1)), nullptr);
    EXPECT_EQ(fake->live, live + 3);
  }
  EXPECT_EQ(fake->live, live);
}

TEST_F(CudaDevice, NamesTheLaunchThatIsRefused) {
  Model model = loadToy();
  Engine engine(model, Device::cuda(), 2);
  Session session(engine);
  const std::string expected =
      "cuda: kernel 'toy_scan' (launch 1 of entry 'ENTRY', 'scan'): "
      "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)";
  auto of = [&](const char *entry) {
    std::string text = expected;
    return text.replace(text.find("ENTRY"), 5, entry);
  };
  fake->failures["cuLaunchKernelEx toy_scan"] = 700;
  EXPECT_EQ(messageOf([&] { engine.prefill(session, {1}); }, EFFC_DEVICE_ERROR),
            of("prefill_4"));
  // What was put into the stream before reads memory of the host.
  EXPECT_EQ(fake->calls.back(), "cuStreamSynchronize");
  session.reset();
  // Also while it is recorded, which ends.
  EXPECT_EQ(messageOf([&] { engine.decode({session.get()}, {1}); },
                      EFFC_DEVICE_ERROR),
            of("decode_1"));
  EXPECT_EQ(fake->calls.back(), "cuStreamSynchronize");
  session.reset();
  fake->failures.clear();
  EXPECT_EQ(engine.decode({session.get()}, {1}), ToyReference().step(1));
}

TEST_F(CudaDevice, NamesTheLaunchThatFailsOnDemand) {
  Model model = loadToy();
  {
    Engine engine(model, Device::cuda());
    Session session(engine);
    fake->failures["cuStreamSynchronize"] = 700;
    EXPECT_EQ(messageOf([&] { engine.decode({session.get()}, {1}); },
                        EFFC_DEVICE_ERROR),
              "cuda: entry 'decode_1': CUDA_ERROR_ILLEGAL_ADDRESS (an illegal "
              "memory access was encountered); one of its launches failed: "
              "EFFC_CUDA_CHECK_LAUNCHES=1 in the environment tells which");
  }
  setenv("EFFC_CUDA_CHECK_LAUNCHES", "1", 1);
  fake->failures.clear();
  Engine engine(model, Device::cuda());
  Session session(engine);
  EXPECT_EQ(engine.decode({session.get()}, {1}), ToyReference().step(1));
  fake->failures["cuStreamSynchronize"] = 700;
  EXPECT_EQ(messageOf([&] { engine.decode({session.get()}, {1}); },
                      EFFC_DEVICE_ERROR),
            "cuda: kernel 'toy_embed' (launch 0 of entry 'decode_1', 'embed'): "
            "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was "
            "encountered)");
}
