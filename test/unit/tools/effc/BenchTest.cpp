// `effc bench`: its arithmetic by hand, and the whole command on the toy model.

#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "tools/effc/Benchmark.h"
#include "tools/effc/ServeLoad.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/resource.h>

using namespace effc;
using namespace effc::cli;
using namespace effc::test;
using Json = nlohmann::ordered_json;

TEST(Benchmark, SummarisesByInterpolation) {
  // Five runs: the median is the third; p10 lies 0.4 of the way from the first
  // to the second, p90 0.6 of the way from the fourth to the fifth.
  Timing timing = summarise({5, 1, 2, 10, 3});
  EXPECT_DOUBLE_EQ(timing.median, 3);
  EXPECT_DOUBLE_EQ(timing.p10, 1.4);
  EXPECT_DOUBLE_EQ(timing.p90, 8);
  EXPECT_DOUBLE_EQ(summarise({7}).p10, 7);
  EXPECT_DOUBLE_EQ(summarise({2, 4}).median, 3);
}

// Eight times the cache, where that is no more than a quarter of the memory.
TEST(MachineProbes, StreamWhatNoCacheHolds) {
  constexpr uint64_t kMiB = 1 << 20;
  EXPECT_EQ(streamSize(32 * kMiB, 20000 * kMiB).bytes, 256 * kMiB);
  EXPECT_EQ(streamSize(3 * kMiB, 96 * kMiB).bytes, 24 * kMiB);
  EXPECT_EQ(streamSize(3 * kMiB, 96 * kMiB - 1).bytes, 0u);
  EXPECT_EQ(streamSize(0, 20000 * kMiB).bytes, 256 * kMiB);
  StreamSize none = streamSize(32 * kMiB, 100 * kMiB);
  EXPECT_EQ(none.bytes, 0u);
  EXPECT_EQ(none.whyNone,
            "a stream of 8 times the last cache takes 256.0 MiB, but no more "
            "than a quarter of the memory that is left (100.0 MiB) is taken "
            "for it");
  EXPECT_LE(freeBytes(), uint64_t(1) << 50);
}

// 30 FLOPs of a token and 12 of the head; 100 bytes of weights, 8 of state.
static Json description() {
  return {{"flops_per_token", 42},
          {"head_flops_per_row", 12},
          {"entries", {{{"weight_bytes", 100}}, {{"weight_bytes", 70}}}},
          {"states", {{{"bytes", 5}}, {{"bytes", 3}}}}};
}

// 8 bytes of fixed states; rows of 10 bytes of the last 6 tokens, of 7 of all 20.
TEST(ModelWork, KnowsWhatASequenceHolds) {
  Json growing = description();
  EXPECT_EQ(ModelWork(growing).heldBytes(1000), 8u);
  growing["states"].push_back(
      {{"bytes", 60}, {"growth", "window"}, {"shape", {6, 5, 1}}});
  growing["states"].push_back(
      {{"bytes", 140}, {"growth", "max_context"}, {"shape", {20, 7}}});
  ModelWork work(growing);
  EXPECT_EQ(work.heldBytes(0), 8u);
  EXPECT_EQ(work.heldBytes(4), 8u + 4 * 10 + 4 * 7);
  EXPECT_EQ(work.heldBytes(9), 8u + 6 * 10 + 9 * 7);
  EXPECT_EQ(work.sequencesIn(3 * (8 + 6 * 10 + 9 * 7) + 130, 9), 3u);
  EXPECT_EQ(work.sequencesIn(7, 0), 0u);
  // No engine takes more.
  EXPECT_EQ(work.sequencesIn(uint64_t(1) << 40, 0), uint64_t(1) << 20);
}

TEST(ModelWork, CountsCalls) {
  ModelWork work(description());
  // 2 prompts of 10 tokens, a head each: 2 * (300 + 12).
  EXPECT_EQ(work.prefill(10, 2).flops, 624u);
  EXPECT_EQ(work.prefill(10, 2).bytes, 100u + 2 * 2 * 8);
  EXPECT_EQ(work.decode(3).flops, 126u);
  EXPECT_EQ(work.decode(3).bytes, 100u + 2 * 3 * 8);
}

// A ring of 6 rows of 10 bytes and a table of 20 rows of 7: a row of each for
// every token, as long as there are rows.
TEST(ModelWork, CountsTheRowsThatAreWritten) {
  Json grown = description();
  grown["states"].push_back(
      {{"bytes", 60}, {"growth", "window"}, {"shape", {6, 5, 1}}});
  grown["states"].push_back(
      {{"bytes", 140}, {"growth", "max_context"}, {"shape", {20, 7}}});
  grown["key_work"] = {
      {{"window", 6}, {"flops_per_key", 1}, {"counted_keys", 6}}};
  ModelWork work(grown);
  EXPECT_EQ(work.decode(3).bytes, 100u + 3 * (2 * 8 + 10 + 7));
  EXPECT_EQ(work.prefill(10, 2).bytes, 100u + 2 * (2 * 8 + 60 + 70));
  // Those of 4 tokens before are read: the ring's last rows and the table's.
  EXPECT_EQ(work.prefill(10, 2, 4).bytes,
            100u + 2 * (2 * 8 + 4 * (10 + 7) + 60 + 70));
  // Nine steps behind 8 tokens have 12 before them in the mean, of which the
  // ring keeps 6.
  EXPECT_EQ(work.decode(3, 8, 9).bytes,
            100u + 3 * (2 * 8 + 6 * 10 + 12 * 7 + 10 + 7));
}

// A window of 3 and a layer that sees all, 5 and 2 FLOPs for each token seen; of
// 330 for a token without its head 3 x 5 and 100 x 2 are those of a full context.
TEST(ModelWork, CountsTheTokensThatAreSeen) {
  Json seeing = description();
  seeing["key_work"] = {
      {{"window", 3}, {"flops_per_key", 5}, {"counted_keys", 3}},
      {{"window", 0}, {"flops_per_key", 2}, {"counted_keys", 100}}};
  seeing["flops_per_token"] = 342;
  ModelWork work(seeing);
  constexpr uint64_t fixed = 330 - 15 - 200, kHead = 12;
  // Tokens at places 0 to 4 see 1, 2, 3, 3, 3 and 1, 2, 3, 4, 5.
  EXPECT_EQ(work.prefill(5, 1).flops, 5 * fixed + 12 * 5 + 15 * 2 + kHead);
  // Two behind four: 3, 3 and 5, 6.
  EXPECT_EQ(work.prefill(2, 3, 4).flops,
            3 * (2 * fixed + 6 * 5 + 11 * 2 + kHead));
  // Of three steps behind 10 the second sees 12.
  EXPECT_EQ(work.decode(1, 10, 3).flops, fixed + 3 * 5 + 12 * 2 + kHead);
}

static Measurement measured(const BenchCase &one, const Timing &seconds,
                            const Work &work, const Rates &rates) {
  Measurement measurement;
  static_cast<BenchCase &>(measurement) = one;
  measurement.seconds = seconds;
  measurement.work = work;
  measurement.rates = rates;
  return measurement;
}

TEST(Measurement, IsMeasuredAgainstTheHigherFloor) {
  Rates machine = {100, 1000};
  // Four decode steps of 50 bytes and 200 FLOPs each: 0.5 s to read, 0.2 s to
  // compute; they took 4 s.
  Measurement step = measured({true, 4, 3}, {4, 4, 4}, {200, 50}, machine);
  bool byBandwidth = false;
  EXPECT_DOUBLE_EQ(step.floorSeconds(&byBandwidth), 2);
  EXPECT_TRUE(byBandwidth);
  EXPECT_DOUBLE_EQ(step.fraction(), 0.5);
  EXPECT_DOUBLE_EQ(step.tokensPerSecond(), 3);
  // A prefill of 8000 FLOPs and 50 bytes, 8 s of work in 10 s.
  Measurement prompt =
      measured({false, 6, 2}, {10, 9, 11}, {8000, 50}, machine);
  EXPECT_DOUBLE_EQ(prompt.fraction(), 0.8);
  prompt.floorSeconds(&byBandwidth);
  EXPECT_FALSE(byBandwidth);
  EXPECT_DOUBLE_EQ(prompt.tokensPerSecond(), 1.2);
}

// Four steps of 50 bytes at 100 a second take 2 s from memory: in 1.6 s they
// came from a cache, if there is one of 50 bytes. Faster than 8 s of products
// is not a cache's doing, nor is what was no faster than memory.
TEST(Measurement, KnowsWhatCameFromACache) {
  Rates machine = {100, 1000};
  Measurement step =
      measured({true, 4, 3}, {1.6, 1.6, 1.6}, {200, 50}, machine);
  EXPECT_DOUBLE_EQ(step.fraction(), 1.25);
  EXPECT_TRUE(step.isFromCache(50));
  EXPECT_FALSE(step.isFromCache(49));
  EXPECT_FALSE(step.isFromCache(0));
  step.seconds.median = 2.5;
  EXPECT_FALSE(step.isFromCache(50));
  Measurement prompt = measured({false, 6, 2}, {7, 7, 7}, {8000, 50}, machine);
  EXPECT_FALSE(prompt.isFromCache(50));
}

TEST(Rates, AreMediansEachByItself) {
  Rates median = medianOf({{5, 70}, {1, 90}, {3, 80}});
  EXPECT_EQ(median.readBytesPerSecond, 3);
  EXPECT_EQ(median.gemmFlopsPerSecond, 80);
}

// Any machine that runs this reads and multiplies within these bounds.
TEST(MachineProbes, GivePlausibleNumbers) {
  MachineProbes probes(2, uint64_t(32) << 20);
  EXPECT_EQ(probes.bytes(), uint64_t(32) << 20);
  EXPECT_EQ(probes.threads(), 2u);
  Rates machine = probes.sample();
  EXPECT_GT(machine.readBytesPerSecond, 1e8);
  EXPECT_LT(machine.readBytesPerSecond, 1e13);
  EXPECT_GT(machine.gemmFlopsPerSecond, 1e8);
  EXPECT_LT(machine.gemmFlopsPerSecond, 1e14);
}

// From 128 KiB to what no machine has yet.
TEST(MachineProbes, KnowTheLastCache) {
  uint64_t bytes = lastCacheBytes();
  if (bytes == 0)
    GTEST_SKIP() << "the system does not say";
  EXPECT_GE(bytes, uint64_t(1) << 17);
  EXPECT_LE(bytes, uint64_t(1) << 36);
  EXPECT_EQ(bytes % 1024, 0u);
}

static Finished bench(std::vector<std::string> arguments) {
  static TemporaryFile file(makeToyArtifact());
  std::vector<std::string> all = {EFFC_PROGRAM, "bench", file.path()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return runProgram(all);
}

TEST(Bench, PrintsOneJsonDocument) {
  Finished done = bench({"--prefill", "5,33", "--decode", "7", "--batch", "1,3",
                         "--repeat", "2", "--threads", "1", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  Json json = Json::parse(done.out);
  EXPECT_EQ(json["threads"], 1);
  EXPECT_EQ(json["repeat"], 2);
  for (const char *key :
       {"load_seconds", "engine_seconds", "first_token_seconds", "peak_bytes"})
    EXPECT_GT(json[key].get<double>(), 0) << key;
  EXPECT_GT(json["machine"]["read_bytes_per_second"].get<double>(), 0);
  EXPECT_GT(json["machine"]["gemm_flops_per_second"].get<double>(), 0);
  ASSERT_EQ(json["room"].size(), 1u);
  const Json &room = json["room"][0];
  EXPECT_EQ(room["tokens"], 33);
  // What is left is not known here; that the toy's states fit thousands of times is.
  EXPECT_GT(room["bytes"].get<uint64_t>(), 0u);
  EXPECT_GT(room["sequences"].get<uint64_t>(), 1000u);
  ASSERT_EQ(json["results"].size(), 6u);
  const Json &second = json["results"][1], &last = json["results"][5];
  EXPECT_EQ(second["call"], "prefill");
  EXPECT_EQ(second["tokens"], 5);
  EXPECT_EQ(second["batch"], 3);
  EXPECT_EQ(last["call"], "decode");
  EXPECT_EQ(last["tokens"], 7);
  EXPECT_EQ(last["batch"], 3);
  // The toy has no matrix but its head of 271 x 3 and states of 12 + 8 bytes;
  // head rows take 64 bytes.
  EXPECT_EQ(last["flops"], 3 * 2 * 271 * 3);
  EXPECT_EQ(last["bytes"], 271 * 64 + 2 * 3 * 20);
  EXPECT_EQ(last["depth"], 0);
  EXPECT_EQ(last["runs"], 2);
  for (const Json &result : json["results"]) {
    EXPECT_LE(result["seconds_p10"], result["seconds_median"]);
    EXPECT_LE(result["seconds_median"], result["seconds_p90"]);
    EXPECT_GT(result["fraction"].get<double>(), 0);
    // The toy moves some 20 kB in a call, less than any last cache.
    bool passes = json["machine"]["cache_bytes"] > 0 &&
                  result["bound_by"] == "bandwidth" && result["fraction"] > 1;
    EXPECT_EQ(result["in_cache"], passes);
  }
}

// The toy has some kilobytes: what a run takes is the program's own and the
// stream's.
TEST(Percentiles, AreThoseOfTheNearestRank) {
  std::vector<double> times;
  for (int i = 100; i > 0; --i)
    times.push_back(i);
  Percentiles found = Percentiles::of(times);
  EXPECT_EQ(found.count, 100u);
  EXPECT_EQ(found.mean, 50.5);
  EXPECT_EQ(found.p50, 50);
  EXPECT_EQ(found.p90, 90);
  EXPECT_EQ(found.p99, 99);
  EXPECT_EQ(found.most, 100);
  EXPECT_EQ(Percentiles::of({7}).p99, 7);
  EXPECT_EQ(Percentiles::of({}).count, 0u);
}

TEST(Bench, TimesWhatManyClientsWaitFor) {
  Finished done = bench({"--serve", "1,5", "-p", "9", "-n", "4", "--seconds",
                         "0.2", "--threads", "1", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  Json json = Json::parse(done.out);
  ASSERT_EQ(json["cases"].size(), 2u);
  for (const Json &one : json["cases"]) {
    uint64_t requests = one["requests"];
    EXPECT_GE(requests, one["clients"].get<uint64_t>());
    EXPECT_EQ(one["tokens"], 4 * requests);
    EXPECT_EQ(one["first_token_seconds"]["count"], requests);
    EXPECT_EQ(one["between_tokens_seconds"]["count"], 3 * requests);
    EXPECT_GE(one["request_seconds"]["p50"], one["first_token_seconds"]["p50"]);
    EXPECT_LE(one["request_seconds"]["p99"], one["request_seconds"]["most"]);
  }
  EXPECT_EQ(json["cases"][1]["clients"], 5);
  EXPECT_EQ(bench({"--serve", "2", "-o", "csv"}).status, 2);
  EXPECT_EQ(bench({"--serve", "2", "-n", "0"}).status, 2);
}

TEST(Bench, TakesLittleMemoryOfItsOwn) {
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
  GTEST_SKIP() << "sanitizers take several times as much";
#endif
  if (lastCacheBytes() == 0)
    GTEST_SKIP() << "the system does not say how large its caches are";
  Finished done = bench({"--prefill", "5", "--decode", "0", "--repeat", "1"});
  ASSERT_EQ(done.status, 0) << done.err;
  uint64_t most = 8 * lastCacheBytes() + (uint64_t(64) << 20);
  rusage used = {}; // ru_maxrss: KiB of the largest program so far
  getrusage(RUSAGE_CHILDREN, &used);
  EXPECT_LT(uint64_t(used.ru_maxrss) * 1024, most);
}

TEST(Bench, DrawsTokensInPlaceOfLogits) {
  std::vector<std::string> options = {"--prefill", "0",        "--decode",
                                      "3",         "--repeat", "1"};
  std::vector<std::string> drawing = options;
  drawing.insert(drawing.end(), {"--temperature", "0.5"});
  EXPECT_NE(bench(drawing).out.find("decode gives tokens, drawn at temperature "
                                    "0.500, in place of logits"),
            std::string::npos);
  drawing.push_back("--json");
  EXPECT_EQ(Json::parse(bench(drawing).out)["temperature"], 0.5);
  options.push_back("--json");
  EXPECT_TRUE(Json::parse(bench(options).out)["temperature"].is_null());
  EXPECT_EQ(bench({"--temperature", "-1"}).status, 2);
}

TEST(Bench, PrintsATable) {
  Finished done = bench(
      {"--prefill", "0", "--decode", "3", "--batch", "2", "--repeat", "1"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_NE(done.out.find("  decode  2      0      "), std::string::npos)
      << done.out;
  EXPECT_NE(done.out.find("ms/call"), std::string::npos);
  EXPECT_NE(
      done.out.find("a call takes all sequences together, in decode by one"),
      std::string::npos);
  EXPECT_EQ(done.out.find("prefill"), std::string::npos);
  EXPECT_NE(done.out.find("peak memory"), std::string::npos);
  EXPECT_NE(done.out.find(" sequences of 3 tokens ("), std::string::npos);
  EXPECT_NE(done.out.find("left beside the weights; not tried"),
            std::string::npos);
  EXPECT_NE(done.out.find("GB/s, f32 products"), std::string::npos);
}

// A heading and a line each, with as many columns.
TEST(Bench, PrintsTheFormatThatIsAskedFor) {
  std::vector<std::string> options = {"-p", "5", "-n", "3", "-d", "0,7",
                                      "-r", "1", "-t", "1", "-o"};
  auto inFormat = [&](const char *format) {
    std::vector<std::string> all = options;
    all.push_back(format);
    Finished done = bench(all);
    EXPECT_EQ(done.status, 0) << done.err;
    std::vector<std::string> lines;
    std::istringstream text(done.out);
    for (std::string line; std::getline(text, line);)
      lines.push_back(line);
    return lines;
  };
  auto columns = [](const std::string &line, char between) {
    return std::count(line.begin(), line.end(), between);
  };
  std::vector<std::string> csv = inFormat("csv");
  ASSERT_EQ(csv.size(), 5u);
  EXPECT_EQ(csv[0].rfind("call,tokens,batch,depth,runs,", 0), 0u) << csv[0];
  EXPECT_EQ(csv[1].rfind("prefill,5,1,0,1,", 0), 0u) << csv[1];
  EXPECT_EQ(csv[4].rfind("decode,3,1,7,1,", 0), 0u) << csv[4];
  for (const std::string &line : csv)
    EXPECT_EQ(columns(line, ','), columns(csv[0], ',')) << line;
  std::vector<std::string> jsonLines = inFormat("jsonl");
  ASSERT_EQ(jsonLines.size(), 4u);
  for (const std::string &line : jsonLines)
    EXPECT_EQ(Json::parse(line)["threads"], 1);
  EXPECT_EQ(Json::parse(jsonLines[3])["depth"], 7);
  std::vector<std::string> markdown = inFormat("md");
  ASSERT_GE(markdown.size(), 6u);
  EXPECT_EQ(markdown[0].rfind("| call | batch | depth |", 0), 0u);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(columns(markdown[i], '|'), columns(markdown[0], '|'));
  EXPECT_EQ(bench({"-o", "xml"}).status, 2);
}

// A time that is over before the second case: it is named.
TEST(Bench, NamesWhatItHadNoTimeFor) {
  Finished done = bench({"-p", "4096", "-n", "0", "-b", "3,64", "-d", "8000",
                         "--seconds", "0.001", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  Json json = Json::parse(done.out);
  EXPECT_EQ(json["results"].size() + json["left_out"].size(), 2u);
  ASSERT_GE(json["left_out"].size(), 1u);
  EXPECT_EQ(json["left_out"].back()["batch"], 64);
  EXPECT_EQ(json["left_out"].back()["depth"], 8000);
}

// On the host the machine is measured, not looked up.
TEST(Bench, TakesAChipForGpusAlone) {
  Finished done = bench({"--device", "host", "--chip", "h200"});
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(done.err.find("effc: error: --chip is for GPUs: on the host the "
                          "machine itself is measured\n"),
            0u)
      << done.err;
  EXPECT_EQ(bench({"--chip", "h201"}).status, 2);
}

TEST(Bench, RefusesWhatCannotBe) {
  EXPECT_EQ(bench({"--repeat", "0"}).status, 2);
  EXPECT_EQ(bench({"--batch", "0"}).status, 2);
  EXPECT_EQ(bench({"--prefill", "x"}).status, 2);
  Finished nothing = bench({"--prefill", "0", "--decode", "0"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_EQ(nothing.out, "");
  EXPECT_EQ(nothing.err.find("effc: error: --prefill 0 and --decode 0 leave "
                             "nothing to measure\n"),
            0u)
      << nothing.err;
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) { p.max_context = 100; };
  TemporaryFile file(makeToyArtifact(options));
  Finished done = runProgram({EFFC_PROGRAM, "bench", file.path()});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.err, "effc: error: the model's context is 100 tokens, but 512 "
                      "are to be measured\n");
}
