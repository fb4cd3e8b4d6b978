// A process of its own raises each signal.
#include "tools/terminal/Signals.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <unistd.h>

using namespace effc::cli;

namespace {
class Signals : public testing::TestWithParam<int> {
protected:
  Signals() {
    char name[] = "/tmp/effc-signals-XXXXXX";
    close(mkstemp(name));
    path = name;
  }
  ~Signals() override { unlink(path.c_str()); }
  bool exists() const { return access(path.c_str(), F_OK) == 0; }

  std::string path;
};
} // namespace

TEST_P(Signals, RemoveAFile) {
  EXPECT_EXIT(
      {
        RemoveOnSignal removal(path);
        raise(GetParam());
      },
      testing::KilledBySignal(GetParam()), "");
  EXPECT_FALSE(exists());
}

TEST_P(Signals, SpareAFinishedFile) {
  EXPECT_EXIT(
      {
        {
          RemoveOnSignal removal(path);
        }
        raise(GetParam());
      },
      testing::KilledBySignal(GetParam()), "");
  EXPECT_TRUE(exists());
}

TEST_P(Signals, WaitWhileTheyAreHeld) {
  EXPECT_EXIT(
      {
        HoldSignals held;
        raise(GetParam());
        unlink(path.c_str()); // what is being done is done to its end
      },
      testing::KilledBySignal(GetParam()), "");
  EXPECT_FALSE(exists());
}

// Those of several threads need not end in the order in which they began.
TEST_P(Signals, WaitForTheLastWhoHoldsThem) {
  EXPECT_EXIT(
      {
        std::optional<HoldSignals> first(std::in_place);
        std::optional<HoldSignals> last(std::in_place);
        raise(GetParam());
        first.reset();
        unlink(path.c_str());
        last.reset();
        _exit(7);
      },
      testing::KilledBySignal(GetParam()), "");
  EXPECT_FALSE(exists());
}

TEST_P(Signals, EndTheProcessWhenNobodyHoldsThem) {
  EXPECT_EXIT(
      {
        std::optional<HoldSignals> first(std::in_place);
        std::optional<HoldSignals> last(std::in_place);
        first.reset();
        last.reset();
        raise(GetParam());
        _exit(7);
      },
      testing::KilledBySignal(GetParam()), "");
}

TEST_P(Signals, AreNotForgottenByOneWithinAnother) {
  EXPECT_EXIT(
      {
        std::optional<HoldSignals> outer(std::in_place);
        raise(GetParam());
        {
          HoldSignals inner;
        }
        unlink(path.c_str());
        outer.reset();
        _exit(7);
      },
      testing::KilledBySignal(GetParam()), "");
  EXPECT_FALSE(exists());
}

TEST_P(Signals, StayIgnored) {
  EXPECT_EXIT(
      {
        std::signal(GetParam(), SIG_IGN);
        RemoveOnSignal removal(path);
        raise(GetParam());
        _exit(7);
      },
      testing::ExitedWithCode(7), "");
  EXPECT_TRUE(exists());
}

INSTANTIATE_TEST_SUITE_P(Each, Signals,
                         testing::Values(SIGINT, SIGTERM, SIGHUP));
