// A model on the simulated GPU: the toy's numbers, whatever the threads; and
// what happens when one of its kernels is at fault.

#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/toy/ElfImage.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;

static const ElfImage &image() {
  static const ElfImage loaded = readElfImage(EFFC_TOY_SIM_KERNELS);
  return loaded;
}

/// The toy with a simulated target; `head` is the name of its last kernel's
/// function.
static std::vector<uint8_t>
makeSimToy(const std::string &head = "toy_head",
           std::function<void(artifact::ProgramT &)> change = {}) {
  ToyOptions options;
  options.programRoom = 16384;
  options.code = {{artifact::SegmentKind::SimCode, "sim_80", image().bytes}};
  options.changeProgram = [&](artifact::ProgramT &program) {
    artifact::TargetPlanT &target = addToyTarget(program, "sim_80", 3);
    const std::string functions[] = {"toy_embed", "toy_scan", head};
    for (size_t i = 0; i < 3; ++i)
      target.kernels[i]->code[0]->offset = image().functions.at(functions[i]);
    target.kernels[2]->shared_bytes = 16;
    if (change)
      change(program);
  };
  return makeToyArtifact(options);
}

static std::vector<int32_t> someTokens(size_t count) {
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<int32_t>(i * 37 % 250));
  return tokens;
}

TEST(SimDevice, RunsTheToy) {
  TemporaryFile file(makeSimToy());
  Model model(file.path());
  const std::vector<int32_t> tokens = someTokens(41);
  const std::vector<float> expected = ToyReference().feed(tokens);
  for (uint32_t threads : {1, 3}) {
    Device device = Device::sim(0, threads);
    device.requireAccepts(model);
    EXPECT_EQ(device.threads(), threads);
    Engine engine(model, device, 3);
    Session session(engine);
    EXPECT_EQ(engine.prefill(session, tokens, EFFC_LOGITS_ALL), expected);
    Session steps(engine), other(engine);
    std::vector<float> all;
    for (int32_t token : tokens) {
      std::vector<float> two =
          engine.decode({steps.get(), other.get()}, {token, 7});
      all.insert(all.end(), two.begin(), two.begin() + kToyVocabulary);
    }
    EXPECT_EQ(all, expected);
  }
}

// A state is the same wherever it was computed.
TEST(SimDevice, StatesMoveToTheHostAndBack) {
  TemporaryFile file(makeSimToy());
  Model model(file.path());
  const std::vector<int32_t> tokens = someTokens(20);
  const std::vector<float> expected = ToyReference().feed(tokens);
  Engine sim(model, Device::sim(80, 1), 2), host(model, Device::host(1));
  Session here(sim), there(host);
  sim.prefill(here, {tokens.begin(), tokens.begin() + 9});
  there.loadBytes(here.save());
  host.prefill(there, {tokens.begin() + 9, tokens.begin() + 15});
  here.loadBytes(there.save());
  Session fork = here.fork();
  EXPECT_EQ(
      sim.prefill(fork, {tokens.begin() + 15, tokens.end()}),
      std::vector<float>(expected.end() - kToyVocabulary, expected.end()));
}

static std::string messageOf(const std::function<void()> &action,
                             effc_status_code_t code) {
  try {
    action();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "";
}

TEST(SimDevice, NamesTheKernelAtFault) {
  TemporaryFile file(makeSimToy("toy_head_unguarded"));
  Model model(file.path());
  for (uint32_t threads : {1, 4}) {
    Engine engine(model, Device::sim(80, threads));
    Session session(engine);
    // Five rows are wanted, in pairs: the third pair is half. Of its three
    // blocks the first reports, whichever runs first.
    EXPECT_EQ(
        messageOf(
            [&] { engine.prefill(session, {1, 2, 3, 4, 5}, EFFC_LOGITS_ALL); },
            EFFC_DEVICE_ERROR),
        "sim_80: kernel 'toy_head' (launch 2 of entry 'prefill_16', 'head'), "
        "block 6, thread 0, at 'output row': reads 4 bytes at byte 20 of "
        "operand 0 (the output rows), which has 20");
    EXPECT_EQ(session.position(), 0u);
  }
}

TEST(SimDevice, LosesTheSequencesOfAFailedCall) {
  TemporaryFile file(makeSimToy("toy_head_unguarded"));
  Model model(file.path());
  Engine engine(model, Device::sim(80, 1), 3); // one for the fork
  Session lost(engine), kept(engine);
  engine.prefill(kept, {5}, EFFC_LOGITS_NONE);
  std::string state = kept.save();
  EXPECT_NE(messageOf([&] { engine.prefill(lost, {1}); }, EFFC_DEVICE_ERROR),
            "");
  EXPECT_EQ(messageOf([&] { engine.prefill(lost, {1}, EFFC_LOGITS_NONE); },
                      EFFC_DEVICE_ERROR),
            "sequence 0 was lost when the device failed while advancing it: "
            "reset it");
  EXPECT_NE(messageOf([&] { lost.fork(); }, EFFC_DEVICE_ERROR), "");
  EXPECT_NE(messageOf([&] { lost.save(); }, EFFC_DEVICE_ERROR), "");
  EXPECT_NE(messageOf([&] { kept.assign(lost); }, EFFC_DEVICE_ERROR), "");
  EXPECT_EQ(kept.save(), state);
  lost.reset();
  engine.prefill(lost, {5}, EFFC_LOGITS_NONE);
  EXPECT_EQ(lost.save(), state);
}

// A launch that nobody made: what reads its result gets no zeros.
TEST(SimDevice, NothingIsInTheArenaBefore) {
  TemporaryFile file(makeSimToy("toy_head", [](artifact::ProgramT &program) {
    for (auto &entry : program.targets[0]->entries)
      entry->launches.erase(entry->launches.begin());
  }));
  Model model(file.path());
  Engine engine(model, Device::sim(80, 1));
  Session session(engine);
  for (float logit : engine.prefill(session, {1}))
    EXPECT_TRUE(std::isnan(logit));
}

TEST(SimDevice, RefusesWhatItHasNoCodeFor) {
  TemporaryFile plain(makeToyArtifact()), simulated(makeSimToy()),
      empty(makeSimToy("toy_head", [](artifact::ProgramT &program) {
        program.targets[0]->kernels[1]->code.clear();
      }));
  auto refusal = [](const TemporaryFile &file, uint32_t architecture) {
    Model model(file.path());
    return messageOf(
        [&] { Engine engine(model, Device::sim(architecture, 1)); },
        EFFC_UNSUPPORTED);
  };
  EXPECT_EQ(refusal(plain, 0), "the file has no code for a simulated GPU: "
                               "compile it with --target sim_80");
  EXPECT_EQ(refusal(simulated, 90),
            "the file has no code for a simulated GPU of architecture 90, but "
            "for sim_80");
  EXPECT_EQ(refusal(empty, 80), "kernel 'toy_scan' has no code for sim_80");
  EXPECT_EQ(refusal(simulated, 80), "");
}

TEST(SimDevice, TakesTheNewestArchitecture) {
  TemporaryFile file(makeSimToy("toy_head", [](artifact::ProgramT &program) {
    program.targets.push_back(
        std::make_unique<artifact::TargetPlanT>(*program.targets[0]));
    program.targets[1]->name = "sim_90a";
    for (auto &kernel : program.targets[1]->kernels)
      kernel->code.clear();
  }));
  Model model(file.path());
  EXPECT_EQ(messageOf([&] { Engine engine(model, Device::sim(0, 1)); },
                      EFFC_UNSUPPORTED),
            "kernel 'toy_embed' has no code for sim_90a");
  Engine engine(model, Device::sim(80, 1));
}

TEST(SimDevice, DescribesItself) {
  EXPECT_EQ(Device::sim(0, 1).description(), "sim (a GPU, played by 1 thread)");
  EXPECT_EQ(Device::sim(90, 2).description(),
            "sim (a GPU of architecture 90, played by 2 threads)");
  EXPECT_EQ(messageOf([] { Device::sim(80, 1025); }, EFFC_INVALID_ARGUMENT),
            "'threads' is 1025, but at most 1024 are possible");
}
