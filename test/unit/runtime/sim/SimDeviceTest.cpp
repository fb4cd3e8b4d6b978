// A model on the simulated GPU: the toy's numbers, whatever the threads; and
// what happens when one of its kernels is at fault.

#include "runtime/abi/FileHeader.h"
#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/toy/ElfImage.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

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

TEST(SimDevice, RunsTheToy) {
  TemporaryFile file(makeSimToy());
  Model model(file.path());
  for (uint32_t threads : {1, 3}) {
    Device device = Device::sim(0, threads);
    device.requireAccepts(model);
    EXPECT_EQ(device.threads(), threads);
    expectToyRuns(model, device);
  }
}

// A state is the same wherever it was computed.
TEST(SimDevice, StatesMoveToTheHostAndBack) {
  TemporaryFile file(makeSimToy());
  Model model(file.path());
  expectToyStatesMove(model, Device::sim(80, 1));
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

// What follows in the arena is another buffer's: the toy's rows begin at 64 and
// have 16 bytes each, of which room for two is said to be there.
TEST(SimDevice, BuffersOfTheArenaEnd) {
  TemporaryFile file(makeSimToy("toy_head", [](artifact::ProgramT &program) {
    artifact::TargetPlanT &target = *program.targets[0];
    target.entries[0]->launches[0]->operand_bytes = {0, 0, 0, 32};
    // The kernel states less than it does: one row.
    artifact::OperandExtent &x = target.kernels[0]->extents[3];
    x = {0, 16, 16, x.kinds()};
  }));
  Model model(file.path());
  Engine engine(model, Device::sim(80, 1));
  Session session(engine);
  engine.prefill(session, {1, 2});
  EXPECT_EQ(
      messageOf([&] { engine.prefill(session, {3, 4, 5}); }, EFFC_DEVICE_ERROR),
      "sim_80: kernel 'toy_embed' (launch 0 of entry 'prefill_4', 'embed'), "
      "block 0, thread 8, at 'store': writes 4 bytes at byte 32 of operand 3 "
      "(a "
      "buffer of the arena), which has 32");
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
    // The embeddings go where nobody looks for them.
    for (auto &entry : program.targets[0]->entries)
      entry->launches[0]->operands[3] = {artifact::OperandKind::Arena, 0, 0};
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
  Model sound(simulated.path());
  EXPECT_NO_THROW(Engine(sound, Device::sim(80, 1)));
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
            "sim (sm_90a, played by 2 threads)");
  EXPECT_EQ(Device::sim(80, 1).description(),
            "sim (sm_80, played by 1 thread)");
  EXPECT_EQ(messageOf([] { Device::sim(80, 1025); }, EFFC_INVALID_ARGUMENT),
            "'threads' is 1025, but at most 1024 are possible");
}
