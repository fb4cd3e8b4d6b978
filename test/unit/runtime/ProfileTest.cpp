// Timelines of what an engine runs, on the toy model.

#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace effc;
using namespace effc::test;
using Json = nlohmann::json;

namespace {
/// A toy, and where its timelines go.
class ProfileTest : public testing::Test {
protected:
  ProfileTest()
      : file(makeToyArtifact()), model(file.path()),
        engine(model, Device::host(2)), session(engine),
        path(file.path() + ".json") {}
  ~ProfileTest() override { std::filesystem::remove(path); }

  Json saved() {
    engine.saveProfile(path);
    return Json::parse(std::ifstream(path));
  }
  static std::vector<Json> eventsOf(const Json &trace, const char *category) {
    std::vector<Json> events;
    for (const Json &event : trace["traceEvents"])
      if (event.value("cat", "") == category)
        events.push_back(event);
    return events;
  }

  TemporaryFile file;
  Model model;
  Engine engine;
  Session session;
  std::string path;
};
} // namespace

TEST_F(ProfileTest, HasEachCallAndItsLaunches) {
  engine.prefill(session, {1, 2, 3}); // before the start: not in it
  session.reset();
  engine.startProfile();
  engine.prefill(session, std::vector<int32_t>(18, 5)); // 16 rows, then 2
  engine.decode({session.get()}, {7});
  Json trace = saved();
  std::vector<Json> calls = eventsOf(trace, "call");
  ASSERT_EQ(calls.size(), 3u);
  std::vector<std::pair<std::string, int>> found;
  for (const Json &call : calls)
    found.emplace_back(call["name"], call["args"]["rows"]);
  EXPECT_EQ(found, (std::vector<std::pair<std::string, int>>{
                       {"prefill_16", 16}, {"prefill_4", 2}, {"decode_1", 1}}));
  EXPECT_EQ(calls[0]["args"]["outputs"], 0);
  EXPECT_EQ(calls[1]["args"]["outputs"], 1);

  // Each launch lies within its call, and all of its items are there.
  std::vector<Json> launches = eventsOf(trace, "launch");
  Json about = Json::parse(model.describe());
  std::map<std::string, std::set<int>> seen;
  for (const Json &launch : launches) {
    double begin = launch["ts"], end = begin + launch["dur"].get<double>();
    bool isWithin = false;
    for (const Json &call : calls) {
      double from = call["ts"], to = from + call["dur"].get<double>();
      if (begin < from - 1e-3 || end > to + 1e-3)
        continue;
      isWithin = true;
      seen[call["name"]].insert(launch["args"]["launch"].get<int>());
    }
    EXPECT_TRUE(isWithin) << launch;
    EXPECT_GE(launch["dur"].get<double>() + 1e-3,
              launch["args"]["busy_us"].get<double>());
    EXPECT_GT(launch["args"]["items"], 0);
    EXPECT_FALSE(launch["args"]["kernel"].get<std::string>().empty());
  }
  // Of the first call nobody wants logits, so that the last launch has no items.
  for (const Json &entry : about["entries"])
    if (seen.count(entry["name"]))
      EXPECT_EQ(seen[entry["name"]].size(),
                entry["launches"].get<size_t>() -
                    (entry["name"] == "prefill_16" ? 1 : 0))
          << entry["name"];
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_EQ(trace["otherData"]["lost_parts"], 0);
}

TEST_F(ProfileTest, ChangesNoResult) {
  std::vector<float> plain = engine.prefill(session, {1, 2, 3});
  session.reset();
  engine.startProfile();
  EXPECT_EQ(engine.prefill(session, {1, 2, 3}), plain);
}

TEST_F(ProfileTest, CountsWhatItHasNoRoomFor) {
  effc_profile_options_t options = effc_profile_options_default();
  options.max_parts = 2;
  check(effc_profile_start(engine.get(), &options));
  engine.prefill(session, std::vector<int32_t>(64, 5));
  Json trace = saved();
  EXPECT_LE(eventsOf(trace, "launch").size(), 2u);
  EXPECT_GT(trace["otherData"]["lost_parts"], 0);
  EXPECT_EQ(eventsOf(trace, "call").size(), 4u);
}

TEST_F(ProfileTest, EndsWhenItIsSaved) {
  engine.startProfile();
  engine.startProfile(); // in place of the first
  saved();
  try {
    engine.saveProfile(path);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), EFFC_INVALID_ARGUMENT);
    EXPECT_STREQ(error.what(), "the engine keeps no profile: call "
                               "effc_profile_start() first");
  }
  engine.startProfile();
  EXPECT_THROW(engine.saveProfile("/nowhere/at/all"), Error);
  effc_profile_options_t options = effc_profile_options_default();
  options.max_parts = 0;
  EXPECT_THROW(check(effc_profile_start(engine.get(), &options)), Error);
}
