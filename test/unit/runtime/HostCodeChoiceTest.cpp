// Which of a file's codes runs on the host: the highest level that the machine
// has, or the one asked for. The toy's code is the same for both levels, so
// that all of it runs on any machine of the lower one.
#include "runtime/include/effc/effc.h"
#include "runtime/src/Engine.h"
#include "runtime/src/devices/host/HostDevice.h"
#include "runtime/src/devices/host/Isa.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::rt;
using namespace effc::test;

static constexpr const char *kLow = kToyIsa, *kHigh = kHigherIsa;

/// Of this architecture, as messages list them.
static std::string known() {
  std::string names;
  for (const HostIsa *isa : isasHere())
    names += (names.empty() ? "" : ", ") + std::string(isa->name);
  return names;
}

/// Sets EFFC_HOST_ISA while it lives.
class AskedInEnvironment {
public:
  explicit AskedInEnvironment(const char *isa) {
    setenv("EFFC_HOST_ISA", isa, 1);
  }
  ~AskedInEnvironment() { unsetenv("EFFC_HOST_ISA"); }
};

/// A toy with code for both levels, that of the higher one in segment 3; the
/// host's kernels lie at the same offsets in either.
static ToyOptions withBothLevels() {
  ToyOptions options;
  options.code = {{artifact::SegmentKind::HostCode, kHigh, toyHostCode()}};
  options.changeProgram = [](artifact::ProgramT &program) {
    for (auto &kernel : program.kernels) {
      auto code = std::make_unique<artifact::KernelCodeT>(*kernel->code[0]);
      code->segment = 3;
      kernel->code.push_back(std::move(code));
    }
  };
  return options;
}

/// A toy whose first code is of another architecture: bytes that are never run.
static ToyOptions withForeignCode(bool alone) {
  ToyOptions options = alone ? ToyOptions() : withBothLevels();
  if (!alone)
    options.code[0].isa = kLow;
  auto addLevels = options.changeProgram;
  options.changeProgram = [=](artifact::ProgramT &program) {
    if (addLevels)
      addLevels(program);
    program.segments[0]->isa = kForeignIsa;
  };
  return options;
}

/// A toy whose code is of the higher level alone.
static ToyOptions withHighLevel() {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &program) {
    program.segments[0]->isa = kHigh;
  };
  return options;
}

/// The ISA of the code that an engine runs, or the message that refuses it.
static std::string outcome(const ToyOptions &options, std::string_view isa) {
  TemporaryFile file(makeToyArtifact(options));
  auto model = Model::load(file.path());
  if (!model)
    return "not loaded: " + model.error().message;
  auto device = HostDevice::create(1, isa);
  if (!device)
    return std::to_string(device.error().code) + ": " + device.error().message;
  auto engine = Engine::create(*model, *device, 1);
  if (!engine)
    return std::to_string(engine.error().code) + ": " + engine.error().message;
  return (*engine)->isa();
}

/// What the machine lacks for the higher level; empty where it has all.
static std::string missing() {
  return missingFor(featuresOf(*findHostIsa(kHigh)));
}

TEST(HostCodeChoice, TakesTheHighestLevelThatRuns) {
  EXPECT_EQ(outcome(withBothLevels(), ""), missing().empty() ? kHigh : kLow);
  EXPECT_EQ(outcome({}, ""), kLow);
}

TEST(HostCodeChoice, TakesTheLevelThatIsAskedFor) {
  EXPECT_EQ(outcome(withBothLevels(), kLow), kLow);
  AskedInEnvironment asked(kLow);
  EXPECT_EQ(outcome(withBothLevels(), ""), kLow);
}

TEST(HostCodeChoice, TheOptionGoesBeforeTheEnvironment) {
  AskedInEnvironment asked("x86-64-v9");
  EXPECT_EQ(outcome(withBothLevels(), kLow), kLow);
  EXPECT_EQ(outcome(withBothLevels(), ""),
            "1: EFFC_HOST_ISA is 'x86-64-v9', but this library knows " +
                known());
}

TEST(HostCodeChoice, AnEmptyEnvironmentAsksForNothing) {
  AskedInEnvironment asked("");
  EXPECT_EQ(outcome({}, ""), kLow);
}

TEST(HostCodeChoice, SaysWhatAFileHasAndWhatItNeeds) {
  std::string low = kLow, high = kHigh;
  EXPECT_EQ(outcome({}, missing().empty() ? kHigh : "x86-64-v9"),
            missing().empty()
                ? "4: the file's code does not run here (" + low +
                      ": is not what was asked for); what was asked for is " +
                      high + ": effc compile --target " + high +
                      " makes code for it"
                : "1: 'isa' is 'x86-64-v9', but this library knows " + known());
  EXPECT_EQ(outcome(withHighLevel(), kLow),
            "4: the file's code does not run here (" + high + ": " +
                (missing().empty() ? "is not what was asked for"
                                   : "this machine lacks " + missing()) +
                "); what was asked for is " + low + ": effc compile --target " +
                low + " makes code for it");
}

TEST(HostCodeChoice, RefusesALevelThatTheMachineLacks) {
  if (missing().empty())
    GTEST_SKIP() << "this machine has all of " << kHigh;
  std::string low = kLow, high = kHigh;
  EXPECT_EQ(outcome(withHighLevel(), ""),
            "4: the file's code does not run here (" + high +
                ": this machine lacks " + missing() + "); this machine runs " +
                low + ": effc compile --target " + low + " makes code for it");
  EXPECT_EQ(outcome(withBothLevels(), kHigh),
            "4: 'isa' is " + high + ", but this machine lacks " + missing());
}

// Files may hold code of several architectures, of which a machine has one.
TEST(HostCodeChoice, PassesOverOtherArchitectures) {
  EXPECT_EQ(outcome(withForeignCode(/*alone=*/false), ""), kLow);
  std::string best = bestIsaHere()->name, foreign = kForeignIsa;
  EXPECT_EQ(outcome(withForeignCode(/*alone=*/true), ""),
            "4: the file's code does not run here (" + foreign +
                ": not an ISA of this machine); this machine runs " + best +
                ": effc compile --target " + best + " makes code for it");
  EXPECT_EQ(outcome({}, kForeignIsa),
            "1: 'isa' is '" + foreign + "', but this library knows " + known());
}

TEST(HostCodeChoice, ADeviceIsCalledByItsLevel) {
  EXPECT_EQ((*HostDevice::create(1, kLow))->description(),
            std::string("host (") + kLow + ", 1 thread)");
  EXPECT_EQ((*HostDevice::create(3))->description(),
            std::string("host (") + bestIsaHere()->name + ", 3 threads)");
}

TEST(HostCodeChoice, TheBorderPassesIt) {
  effc_host_options_t options = effc_host_options_default();
  EXPECT_EQ(options.isa, nullptr);
  options.isa = kLow;
  options.threads = 1;
  effc_device_t *device = nullptr;
  ASSERT_EQ(effc_device_create_host(&options, &device), nullptr);
  EXPECT_EQ(effc_device_description(device),
            std::string("host (") + kLow + ", 1 thread)");
  effc_device_free(device);
  // A caller that was compiled before there were levels.
  options.size = offsetof(effc_host_options_t, isa);
  options.isa = "nothing";
  ASSERT_EQ(effc_device_create_host(&options, &device), nullptr);
  effc_device_free(device);
  EXPECT_STREQ(effc_engine_isa(nullptr), "");
}
