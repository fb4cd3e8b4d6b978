// The pool of threads, the choice of code for a machine, and what an engine
// refuses before it runs.

#include "runtime/src/Engine.h"
#include "runtime/src/devices/host/HostDevice.h"
#include "runtime/src/devices/host/Isa.h"
#include "runtime/src/devices/host/ThreadPool.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace effc;
using namespace effc::rt;
using namespace effc::test;

namespace {
/// A job of many phases: in each, every thread adds what the others left before.
struct Relay {
  ThreadPool *pool;
  std::vector<long> values; // one per thread
  std::vector<long> sums;

  static void run(void *context, unsigned thread, unsigned threads) {
    auto &relay = *static_cast<Relay *>(context);
    for (int phase = 0; phase < 200; ++phase) {
      relay.sums[thread] =
          std::accumulate(relay.values.begin(), relay.values.end(), 0L) % 1000003;
      relay.pool->barrier();
      relay.values[thread] = relay.sums[thread] + thread;
      relay.pool->barrier();
    }
  }
};
} // namespace

static std::vector<long> relay(unsigned threads, bool onCaller, int jobs) {
  std::unique_ptr<ThreadPool> pool = std::move(*ThreadPool::create(threads));
  if (!onCaller)
    EXPECT_FALSE(pool->startSpareWorker());
  Relay relay{pool.get(), std::vector<long>(threads, 1), std::vector<long>(threads)};
  for (int i = 0; i < jobs; ++i)
    pool->run(Relay::run, &relay, onCaller);
  return relay.values;
}

TEST(ThreadPool, BarriersKeepPhasesApart) {
  for (unsigned threads : {1u, 2u, 5u, 16u}) {
    std::vector<long> expected = relay(threads, true, 20);
    for (unsigned i = 1; i < threads; ++i)
      EXPECT_EQ(expected[i] - expected[0], long(i)); // all saw one sum
    EXPECT_EQ(relay(threads, false, 20), expected);
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
  EXPECT_EQ(device.error().message, "'threads' is 1025, but at most 1024 are possible");
}

TEST(Isa, NamesWhatIsMissing) {
  EXPECT_EQ(missingFor({{"avx2", true}, {"fma", false}, {"bmi2", false}}), "fma, bmi2");
  EXPECT_EQ(missingFor({{"avx2", true}}), "");
  EXPECT_FALSE(featuresOf("x86-64-v9"));
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
  return engine ? "" : std::to_string(engine.error().code) + ": " + engine.error().message;
}

TEST(HostDevice, RefusesCodeForAnotherMachine) {
  EXPECT_EQ(refusal([](artifact::ProgramT &p) { p.segments[0]->isa = "x86-64-v9"; }),
            "4: the file's code does not run here (x86-64-v9: not an ISA of this "
            "machine)");
}

TEST(HostDevice, RefusesAKernelWithoutCode) {
  EXPECT_EQ(refusal([](artifact::ProgramT &p) { p.kernels[2]->code.clear(); }),
            "4: the file's code does not run here (x86-64-v3: some kernels have no code "
            "for it)");
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
  EXPECT_EQ(refusal([](artifact::ProgramT &p) {
              p.segments.erase(p.segments.begin() + 1);
            }),
            "4: the file has no weights: it was compiled from shapes alone");
}

TEST(HostDevice, RefusesStatesThatNoMemoryHolds) {
  // 2^40 bytes in each of 2^20 slots is 2^60.
  std::string message = refusal(
      [](artifact::ProgramT &p) { p.slot_bytes = uint64_t(1) << 40; }, 1 << 20);
  EXPECT_NE(message.find("5: cannot reserve"), std::string::npos) << message;
  EXPECT_NE(message.find("for the states of all sessions"), std::string::npos);
}

TEST(HostDevice, RefusesNoSessions) {
  EXPECT_EQ(refusal([](artifact::ProgramT &) {}, 0),
            "1: 'max_sessions' is 0, but 1 to 1048576 are possible");
}
