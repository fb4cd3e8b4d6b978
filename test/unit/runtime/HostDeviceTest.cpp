// The pool of threads, the choice of code for a machine, and what an engine
// refuses before it runs.

#include "runtime/src/devices/host/HostDevice.h"
#include "runtime/src/Engine.h"
#include "runtime/src/devices/host/Isa.h"
#include "runtime/src/devices/host/ThreadPool.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <chrono>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

using namespace effc;
using namespace effc::rt;
using namespace effc::test;

namespace {
/// Phase p computes row p + 1 of a table from all of row p, so that an item
/// which starts early or is done twice or never shows. Phase p has p % 7 * 5
/// items.
class Relay : public ThreadPool::Job {
public:
  Relay() : table(kPhases + 1) {
    table[0] = {1};
    for (uint32_t phase = 0; phase < kPhases; ++phase)
      table[phase + 1].resize(static_cast<size_t>(items(phase)) + 1, 0);
  }
  uint32_t phases() const override { return kPhases; }
  int64_t items(uint32_t phase) const override { return phase % 7 * 5; }
  void run(uint32_t phase, int64_t begin, int64_t end) const override {
    uint64_t sum =
        std::accumulate(table[phase].begin(), table[phase].end(), uint64_t(1));
    for (int64_t i = begin; i < end; ++i)
      table[phase + 1][static_cast<size_t>(i)] +=
          sum * 31 + static_cast<uint64_t>(i);
  }
  mutable std::vector<std::vector<uint64_t>> table;

private:
  static constexpr uint32_t kPhases = 200;
};
} // namespace

static std::vector<std::vector<uint64_t>> expectedRelay() {
  Relay relay;
  for (uint32_t phase = 0; phase < relay.phases(); ++phase)
    relay.run(phase, 0, relay.items(phase));
  return relay.table;
}

TEST(ThreadPool, PhasesFollowOneAnother) {
  const auto expected = expectedRelay();
  for (unsigned threads : {1u, 2u, 5u, 16u, 40u})
    for (bool onCaller : {true, false}) {
      std::unique_ptr<ThreadPool> pool =
          std::move(*ThreadPool::create(threads));
      EXPECT_FALSE(pool->startSpareWorker());
      for (int i = 0; i < 20; ++i) {
        Relay relay;
        pool->run(relay, onCaller);
        EXPECT_EQ(relay.table, expected);
      }
    }
}

TEST(ThreadPool, CallersTakeTurns) {
  const auto expected = expectedRelay();
  std::unique_ptr<ThreadPool> pool = std::move(*ThreadPool::create(3));
  EXPECT_FALSE(pool->startSpareWorker());
  auto drive = [&](bool onCaller) {
    for (int i = 0; i < 30; ++i) {
      Relay relay;
      pool->run(relay, onCaller);
      EXPECT_EQ(relay.table, expected);
    }
  };
  std::thread other(drive, false);
  drive(true);
  other.join();
}

TEST(ThreadPool, SleepsBetweenJobs) {
  const auto expected = expectedRelay();
  std::unique_ptr<ThreadPool> pool = std::move(*ThreadPool::create(4));
  for (int i = 0; i < 10; ++i) {
    Relay relay;
    pool->run(relay, true);
    EXPECT_EQ(relay.table, expected);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
}

TEST(ThreadPool, StopsWithoutHavingRun) {
  std::unique_ptr<ThreadPool> pool = std::move(*ThreadPool::create(4));
  EXPECT_FALSE(pool->startSpareWorker());
}

TEST(ThreadPool, CountsUsableCores) { EXPECT_GE(usableCores(), 1u); }

TEST(HostDevice, RefusesTooManyThreads) {
  Result<std::shared_ptr<Device>> device = HostDevice::create(1025);
  ASSERT_FALSE(bool(device));
  EXPECT_EQ(device.error().message,
            "'threads' is 1025, but at most 1024 are possible");
}

TEST(Isa, NamesWhatIsMissing) {
  EXPECT_EQ(missingFor({{"avx2", true}, {"fma", false}, {"bmi2", false}}),
            "fma, bmi2");
  EXPECT_EQ(missingFor({{"avx2", true}}), "");
}

/// The message with which an engine for the changed toy is refused.
static std::string refusal(std::function<void(artifact::ProgramT &)> change,
                           uint32_t sessions = 1) {
  ToyOptions options;
  options.changeProgram = std::move(change);
  TemporaryFile file(makeToyArtifact(options));
  auto model = Model::load(file.path());
  if (!model)
    return "not loaded: " + model.error().message;
  auto engine = Engine::create(*model, *HostDevice::create(1), sessions);
  return engine ? ""
                : std::to_string(engine.error().code) + ": " +
                      engine.error().message;
}

TEST(HostDevice, RefusesCodeForAnotherMachine) {
  std::string here = bestIsaHere()->name;
  EXPECT_EQ(
      refusal([](artifact::ProgramT &p) { p.segments[0]->isa = "x86-64-v9"; }),
      "4: the file's code does not run here (x86-64-v9: not an ISA of this "
      "machine); this machine runs " +
          here + ": effc compile --target " + here + " makes code for it");
}

TEST(HostDevice, RefusesAKernelWithoutCode) {
  EXPECT_EQ(refusal([](artifact::ProgramT &p) { p.kernels[2]->code.clear(); }),
            std::string("4: the file's code does not run here (") + kToyIsa +
                ": some kernels have no code for it)");
}

TEST(HostDevice, RefusesAFileWithoutCode) {
  EXPECT_EQ(refusal([](artifact::ProgramT &p) {
              for (auto &kernel : p.kernels)
                kernel->code.clear();
              p.segments.erase(p.segments.begin());
            }),
            "4: the file has no code for the host");
}

TEST(HostDevice, RefusesAFileWithoutWeights) {
  EXPECT_EQ(
      refusal([](artifact::ProgramT &p) {
        p.segments.erase(p.segments.begin() + 1);
      }),
      "4: the file has no weights: it was compiled from shapes alone; compile "
      "it without --weights none, or time it with bench --draw-weights");
}

TEST(HostDevice, RefusesStatesThatNoMemoryHolds) {
  // 2^40 bytes in each of 2^20 slots is 2^60.
  std::string message = refusal(
      [](artifact::ProgramT &p) {
        p.slot_bytes = uint64_t(1) << 40;
        stateExtents(p);
      },
      1 << 20);
  EXPECT_EQ(message,
            "5: cannot reserve 1152921504606846976 bytes for the states of all "
            "sessions, 1099511627776 each: fewer sessions, or a file that was "
            "compiled with a smaller --max-context, need less");
}

TEST(HostDevice, RefusesNoSessions) {
  EXPECT_EQ(refusal([](artifact::ProgramT &) {}, 0),
            "1: 'max_sessions' is 0, but 1 to 1048576 are possible");
}
