#include "test/e2e/Process.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc;
using namespace effc::test;

static Finished inspect(const std::string &path,
                        std::vector<std::string> arguments) {
  std::vector<std::string> all = {EFFC_PROGRAM, "inspect", path};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return runProgram(all);
}

static bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(Inspect, ShowsWhatIsInTheFile) {
  TemporaryFile file(makeToyArtifact());
  Finished done = inspect(file.path(), {});
  EXPECT_EQ(done.status, 0) << done.err;
  // The head is the only matrix that every token meets whole: 2 * 271 * 3.
  EXPECT_TRUE(contains(done.out,
                       "1,626 parameters, 1,626 FLOPs per token, 1,626 of "
                       "them for its logits"))
      << done.out;
  EXPECT_TRUE(contains(done.out, "vocabulary 271, width 3, with a tokenizer"));
  EXPECT_TRUE(contains(done.out, "prefill_16  16    4      320 B  3"));
  EXPECT_TRUE(contains(done.out, "host  x86-64-v3"));
  EXPECT_TRUE(contains(done.out, "per sequence\n"));
  EXPECT_FALSE(contains(done.out, "toy_scan"));
  EXPECT_FALSE(contains(done.out, "tally"));
  EXPECT_FALSE(contains(done.out, "ptxas"));
}

/// The toy with a module for sm_90a and PTX for sm_80, of whose kernels ptxas has
/// said a little.
static ToyOptions toyForGpus() {
  ToyOptions options;
  options.programRoom = 16384;
  options.code = {
      {artifact::SegmentKind::Cubin, "sm_90a", std::vector<uint8_t>(100)},
      {artifact::SegmentKind::Ptx, "compute_80", std::vector<uint8_t>(2048)}};
  options.changeProgram = [](artifact::ProgramT &program) {
    addToyTarget(program, "sm_90a", 3);
    artifact::KernelT &scan =
        *addToyTarget(program, "sm_80", 4).kernels[1]; // PTX alone
    scan.threads = 128;
    program.provenance->ptxas = "13.0.88";
    program.targets[0]->kernels[1]->registers = 72;
    program.targets[0]->kernels[1]->spill_bytes = 4;
    program.targets[0]->kernels[2]->registers = 255; // and no spills
    program.targets[0]->kernels[1]->shared_bytes = 20480;
    program.targets[0]->kernels[1]->overlaps = true;
    for (auto [name, count] : {std::pair("ex2", 3u), {"mma", 12u}}) {
      auto one = std::make_unique<artifact::InstructionCountT>();
      one->name = name;
      one->count = count;
      program.targets[0]->kernels[1]->instructions.push_back(std::move(one));
    }
  };
  return options;
}

TEST(Inspect, ListsTheKernelsOfTargets) {
  TemporaryFile file(makeToyArtifact(toyForGpus()));
  Finished done = inspect(file.path(), {"--kernels"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(contains(done.out, "compiled by toy, ptxas 13.0.88\n"))
      << done.out;
  EXPECT_TRUE(contains(done.out, "sm_90a  sm_90a      100 B")) << done.out;
  EXPECT_TRUE(contains(done.out, "sm_80   compute_80  2.0 KiB")) << done.out;
  EXPECT_TRUE(contains(done.out, "entry points of sm_80")) << done.out;
  EXPECT_TRUE(contains(done.out,
                       "toy_scan   4         64       20.0 KiB  72         4"))
      << done.out;
  EXPECT_TRUE(contains(done.out, "kernels of sm_90a; spills in bytes of a "
                                 "thread, floors in microseconds on h200"))
      << done.out;
  EXPECT_TRUE(contains(done.out, "ex2 3, mma 12")) << done.out;
  auto json = nlohmann::json::parse(inspect(file.path(), {"--json"}).out);
  // The head's 271 rows of 64 bytes at 4.3 and 2.039 TB/s.
  EXPECT_EQ(json["provenance"]["ptxas"], "13.0.88");
  const auto &head = json["targets"][0]["kernels"][2];
  EXPECT_DOUBLE_EQ(head["step_floor_seconds"], 271 * 64 / 4.3e12);
  EXPECT_EQ(json["targets"][1]["chip"]["name"], "a100");
  EXPECT_DOUBLE_EQ(json["targets"][1]["kernels"][2]["step_floor_seconds"],
                   271 * 64 / 2.039e12);
  EXPECT_EQ(json["targets"][0]["kernels"][1]["instructions"],
            (nlohmann::json{{"ex2", 3}, {"mma", 12}}));
  EXPECT_FALSE(json["targets"][1]["kernels"][1].contains("instructions"));
  EXPECT_EQ(json["targets"][0]["kernels"][1]["overlaps"], true);
  EXPECT_EQ(json["targets"][1]["kernels"][1]["overlaps"], false);
  EXPECT_EQ(json["targets"][0]["kernels"][1]["box_maps"], 0);
  auto on = nlohmann::json::parse(
      inspect(file.path(), {"--json", "--chip", "h100"}).out);
  EXPECT_DOUBLE_EQ(on["targets"][0]["kernels"][2]["step_floor_seconds"],
                   271 * 64 / 3.35e12);
  EXPECT_EQ(inspect(file.path(), {"--chip", "h201"}).status, 2);
  // Nothing else shows a floor.
  done = inspect(file.path(), {"--chip", "h100", "--state"});
  EXPECT_EQ(done.status, 2);
  EXPECT_TRUE(contains(done.err, "--chip needs --kernels or --json"))
      << done.err;
  EXPECT_EQ(json["targets"][0]["name"], "sm_90a");
  EXPECT_EQ(json["targets"][0]["kernels"][1]["threads"], 64);
  EXPECT_EQ(json["targets"][1]["entries"].size(), 5u);
  EXPECT_EQ(json["targets"][1]["memory"]["arena"], 320);
}

// ptxas alone knows, and no registers are those of no kernel: that there are no
// spills is not said of what is unknown.
TEST(Inspect, LeavesOutRegistersThatNobodyKnows) {
  TemporaryFile file(makeToyArtifact(toyForGpus()));
  Finished done = inspect(file.path(), {"--kernels"});
  EXPECT_TRUE(contains(done.out,
                       "toy_head   4         64       0 B       255        0"))
      << done.out;
  EXPECT_TRUE(
      contains(done.out, "toy_scan   4         128      0 B     -          -"))
      << done.out;
  auto json = nlohmann::json::parse(inspect(file.path(), {"--json"}).out);
  EXPECT_EQ(json["targets"][0]["kernels"][1]["registers"], 72);
  EXPECT_EQ(json["targets"][0]["kernels"][1]["spill_bytes"], 4);
  EXPECT_EQ(json["targets"][0]["kernels"][2]["spill_bytes"], 0);
  for (const char *key : {"registers", "spill_bytes"}) {
    EXPECT_FALSE(json["targets"][0]["kernels"][0].contains(key));
    EXPECT_FALSE(json["targets"][1]["kernels"][1].contains(key));
    EXPECT_FALSE(json["kernels"][1].contains(key));
  }
}

TEST(Inspect, ListsKernelsAndStatesOnDemand) {
  TemporaryFile file(makeToyArtifact());
  Finished done = inspect(file.path(), {"--kernels", "--state"});
  EXPECT_TRUE(contains(done.out, "toy_scan   4         512 B  5         "))
      << done.out;
  // A step reads and writes the states of 12 and 8 bytes, and reads the head's
  // 271 rows of 64; the embeddings are looked up.
  auto json =
      nlohmann::json::parse(inspect(file.path(), {"--kernels", "--json"}).out);
  EXPECT_FALSE(json["provenance"].contains("ptxas"));
  const auto &kernels = json["kernels"];
  EXPECT_EQ(kernels[0]["step_bytes"], 0);
  EXPECT_EQ(kernels[1]["step_bytes"], 2 * (12 + 8));
  EXPECT_EQ(kernels[2]["step_bytes"], 271 * 64);
  // The kernels lie one after another and fill their segment.
  uint64_t code = 0;
  for (const auto &kernel : kernels)
    code += kernel["code"][0]["bytes"].get<uint64_t>();
  EXPECT_LE(code, json["segments"][0]["bytes"].get<uint64_t>());
  EXPECT_GT(code, 0u);
  EXPECT_TRUE(contains(done.out, "tally  scalar  fixed   i64   1      8"))
      << done.out;
  EXPECT_TRUE(contains(done.out, "layout 0123456789abcdef"));
}

// A window of 3 rows is read whole by one launch, and the launch behind it
// writes a row; first tokens are told from all keys.
TEST(Inspect, CountsARowForWhatIsAppended) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) {
    ASSERT_EQ(p.states[0]->size, 12u);
    ASSERT_EQ(p.states[0]->shape, std::vector<uint64_t>{3});
    p.states[0]->kind = artifact::StateKind::Growing;
    p.states[0]->growth = artifact::Growth::Fixed;
    for (auto &entry : p.entries)
      entry->launches.back()->operands.emplace_back(
          artifact::OperandKind::State, 0, 0);
    p.kernels[2]->operands += 1;
    stateExtents(p);
  };
  TemporaryFile file(makeToyArtifact(options));
  Finished done = inspect(file.path(), {"--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json["kernels"][1]["step_bytes"], 12 + 2 * 8);
  EXPECT_EQ(json["kernels"][2]["step_bytes"], 271 * 64 + 4);
  EXPECT_EQ(json["states"][0]["kind"], "first");
}

// FLOPs are those of the launches of one decode step; a file that states none
// shows none.
TEST(Inspect, AddsUpTheFlopsOfAStep) {
  auto kernelTable = [](const ToyOptions &options) {
    TemporaryFile file(makeToyArtifact(options));
    std::string text = inspect(file.path(), {"--kernels"}).out;
    return text.substr(text.find("\nkernels\n"));
  };
  EXPECT_FALSE(contains(kernelTable({}), "1,626"));
  EXPECT_TRUE(contains(kernelTable({}), "  -  "));
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) {
    for (auto &entry : p.entries)
      entry->launches.back()->flops_per_row = 2 * 271 * 3;
  };
  EXPECT_TRUE(contains(kernelTable(options), "1,626")) << kernelTable(options);
  TemporaryFile file(makeToyArtifact(options));
  auto json = nlohmann::json::parse(inspect(file.path(), {"--json"}).out);
  EXPECT_EQ(json["kernels"][0]["step_flops"], 0);
  EXPECT_EQ(json["kernels"][2]["step_flops"], 2 * 271 * 3);
}

/// A kernel like the toy's kernel `of`, which launch `launch` of an entry takes
/// instead.
static void giveOwnKernel(artifact::ProgramT &program, size_t of,
                          const char *name,
                          std::initializer_list<const char *> entries) {
  auto own = std::make_unique<artifact::KernelT>(*program.kernels[of]);
  own->name = name;
  program.kernels.push_back(std::move(own));
  for (auto &entry : program.entries)
    for (const char *wanted : entries)
      if (entry->name == wanted)
        entry->launches[of]->kernel = uint32_t(program.kernels.size() - 1);
}

// What no decode step of one sequence launches is described by the smallest call
// that does: a prefill of 4 rows of one sequence, of which the last has logits,
// or a step of 2 sequences. FLOPs of a scan's row: 5; of the head's: 7.
TEST(Inspect, DescribesALaunchOfEveryKernel) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) {
    for (auto &entry : p.entries) {
      entry->launches[1]->flops_per_row = 5;
      entry->launches[2]->flops_per_row = 7;
    }
    giveOwnKernel(p, 0, "embed_rows", {"prefill_16"});
    giveOwnKernel(p, 1, "scan_rows", {"prefill_16", "prefill_4"});
    giveOwnKernel(p, 1, "scan_steps", {"decode_4", "decode_2"});
    giveOwnKernel(p, 2, "head_rows", {"prefill_4"});
    giveOwnKernel(p, 2, "head_steps", {"decode_2"});
    giveOwnKernel(p, 2, "idle", {});
    addToyTarget(p, "sm_90a", 3);
  };
  options.programRoom = 16384;
  options.code = {
      {artifact::SegmentKind::Cubin, "sm_90a", std::vector<uint8_t>(100)}};
  TemporaryFile file(makeToyArtifact(options));
  Finished done = inspect(file.path(), {"--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  auto json = nlohmann::json::parse(done.out);
  const uint64_t head = 271 * 64, states = 2 * (12 + 8);
  struct {
    const char *entry;
    uint64_t bytes, flops;             // 0: unknown
  } expected[] = {{"decode_1", 64, 0}, // a row is looked up
                  {"decode_1", states, 5},
                  {"decode_1", head, 7},
                  {"prefill_16", 16 * 64, 0},
                  {"prefill_4", states, 4 * 5},
                  {"decode_2", 2 * states, 2 * 5},
                  {"prefill_4", head, 7},
                  {"decode_2", head, 2 * 7},
                  {nullptr, 0, 0}};
  auto orNull = [](uint64_t number) {
    return number ? nlohmann::json(number) : nlohmann::json();
  };
  for (size_t i = 0; i < std::size(expected); ++i) {
    const auto &wanted = expected[i];
    for (const auto &plan : {json, json["targets"][0]}) {
      const auto &kernel = plan["kernels"][i];
      SCOPED_TRACE(kernel["name"]);
      EXPECT_EQ(kernel["entry"],
                wanted.entry ? nlohmann::json(wanted.entry) : nlohmann::json());
      EXPECT_EQ(kernel["launch_bytes"], orNull(wanted.bytes));
      EXPECT_EQ(kernel["launch_flops"], orNull(wanted.flops));
    }
    const auto &floor =
        json["targets"][0]["kernels"][i]["launch_floor_seconds"];
    if (wanted.entry)
      EXPECT_DOUBLE_EQ(floor, wanted.bytes / 4.3e12) << i;
    else
      EXPECT_TRUE(floor.is_null()) << i;
  }
  // A step of one sequence has nothing of them.
  EXPECT_EQ(json["kernels"][4]["step_bytes"], 0);
  std::string text = inspect(file.path(), {"--kernels"}).out;
  EXPECT_TRUE(contains(text, "prefill_4   40 B      20     ")) << text;
  EXPECT_TRUE(contains(text, "16.9 KiB  14     0.004 ")) << text;
  EXPECT_TRUE(contains(text, "20     <0.001 ")) << text;
  EXPECT_TRUE(contains(text, "-           -         -      -       sm_90a"))
      << text;
  EXPECT_FALSE(contains(text, " 0.000")) << text;
}

// A step gives logits or choices: both heads read the same weight, and each of
// two kinds of calls has three launches.
TEST(Inspect, CountsWhatAStepRuns) {
  ToyOptions options;
  options.withChoices = true;
  TemporaryFile file(makeToyArtifact(options));
  auto json = nlohmann::json::parse(inspect(file.path(), {"--json"}).out);
  for (const auto &entry : json["entries"]) {
    EXPECT_EQ(entry["launches"], 3);
    EXPECT_EQ(entry["library_products"], 0);
    EXPECT_EQ(entry["chooses"], entry["kind"] == "decode");
  }
  EXPECT_EQ(json["kernels"][1]["step_bytes"], 2 * (12 + 8));
  EXPECT_EQ(json["kernels"][2]["step_bytes"], 271 * 64);
  EXPECT_EQ(json["kernels"][3]["name"], "toy_draw");
  EXPECT_EQ(json["kernels"][3]["step_bytes"], 271 * 64);
}

TEST(Inspect, PrintsOneJsonDocument) {
  TemporaryFile file(makeToyArtifact());
  Finished done = inspect(file.path(), {"--json", "--check", "--budget", "1M"});
  auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json["flops_per_token"], 1626);
  EXPECT_EQ(json["check"], "ok");
  EXPECT_EQ(json["budget"]["bytes"], 1 << 20);
  EXPECT_EQ(json["states"][0]["bytes"], 12);
}

TEST(Inspect, SaysHowManySequencesFit) {
  TemporaryFile file(makeToyArtifact());
  auto json = nlohmann::json::parse(inspect(file.path(), {"--json"}).out);
  const auto &memory = json["memory"];
  uint64_t fixed =
      memory["weights"].get<uint64_t>() + memory["arena"].get<uint64_t>() +
      memory["logits"].get<uint64_t>() + memory["tables"].get<uint64_t>();
  // Slots of 192 bytes for three sequences; then one byte
  // less.
  auto fits = [&](uint64_t bytes) {
    return inspect(file.path(), {"--budget", std::to_string(bytes)}).out;
  };
  EXPECT_TRUE(
      contains(fits(fixed + 3 * 192), "  3 sequences of full length fit in "));
  EXPECT_TRUE(contains(fits(fixed + 3 * 192 - 1),
                       "  2 sequences of full length fit in "));
  EXPECT_TRUE(contains(fits(fixed), "  0 sequences of full length fit in "));
}

TEST(Inspect, ChecksWeightsOnDemand) {
  std::vector<uint8_t> bytes = makeToyArtifact();
  TemporaryFile file(bytes);
  EXPECT_TRUE(
      contains(inspect(file.path(), {"--check"}).out, "all checksums match"));
  auto json = nlohmann::json::parse(inspect(file.path(), {"--json"}).out);
  uint64_t at = json["segments"][1]["offset"].get<uint64_t>() + 3;
  uint8_t flipped = bytes[at] ^ 4;
  file.patch(at, &flipped, 1);
  EXPECT_EQ(inspect(file.path(), {}).status, 0);
  Finished done = inspect(file.path(), {"--check"});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.err,
            "effc: error: weight 'embeddings' is damaged: its checksum "
            "differs\n");
}

TEST(Inspect, ShowsAModelWithoutWeights) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) {
    p.segments.erase(p.segments.begin() + 1);
  };
  std::vector<uint8_t> bytes = makeToyArtifact(options);
  // What no segment covers must be zero.
  TemporaryFile whole(makeToyArtifact());
  auto json = nlohmann::json::parse(inspect(whole.path(), {"--json"}).out);
  const auto &weights = json["segments"][1];
  std::fill_n(bytes.begin() + weights["offset"].get<ptrdiff_t>(),
              weights["bytes"].get<size_t>(), uint8_t(0));
  TemporaryFile file(bytes);
  Finished done = inspect(file.path(), {"--kernels", "--state", "--check"});
  EXPECT_EQ(done.status, 0) << done.err;
}

// What published FLOPs are counted by is no option of anything else, but named.
TEST(Inspect, CountsBySequencesInPublishedFlopsAlone) {
  std::string help = runProgram({EFFC_PROGRAM, "inspect", "--help"}).out;
  for (const char *option : {"--sequence", "--chunk"}) {
    EXPECT_NE(help.find(option), std::string::npos) << help;
    Finished done =
        runProgram({EFFC_PROGRAM, "inspect", "a.effc", option, "16"});
    EXPECT_EQ(done.status, 2);
    EXPECT_EQ(done.err, "effc: error: " + std::string(option) +
                            " needs --flops published, which counts by it\n"
                            "effc: note: see effc inspect --help\n");
  }
}

/// Of this file, by sha256sum(1).
static std::string sha256Of(const std::string &path) {
  return runProgram({"/bin/sh", "-c", "sha256sum '" + path + "'"})
      .out.substr(0, 64);
}

TEST(Inspect, PrintsTheSha256) {
  TemporaryFile file(makeToyArtifact());
  std::string digits = sha256Of(file.path());
  ASSERT_EQ(digits.size(), 64u);
  EXPECT_TRUE(
      contains(inspect(file.path(), {}).out, "\n  SHA-256 " + digits + "\n"));
  Finished json = inspect(file.path(), {"--json"});
  EXPECT_EQ(nlohmann::json::parse(json.out)["sha256"], digits);
}

// Every command that takes the option has it checked.
TEST(Inspect, CommandsDemandTheSha256) {
  TemporaryFile file(makeToyArtifact());
  std::string digits = sha256Of(file.path()), wrong(64, '0');
  const std::vector<std::vector<std::string>> commands = {
      {"inspect", file.path()},
      {"tokenize", file.path(), "a"},
      {"run", file.path(), "--tokens", "1,2", "-n", "1", "--print-tokens"},
      {"eval", file.path(), "--tokens", "-"},
      {"bench", file.path()}};
  for (std::vector<std::string> command : commands) {
    command.insert(command.begin(), EFFC_PROGRAM);
    command.insert(command.end(), {"--sha256", wrong});
    Finished done = runProgram(command, "[[1,2,3]]");
    EXPECT_EQ(done.status, 1) << command[1];
    EXPECT_EQ(done.out, "") << command[1];
    EXPECT_TRUE(contains(done.err, "its SHA-256 is " + digits + ", but " +
                                       wrong + " is expected"))
        << command[1] << ": " << done.err;
    command.back() = digits.substr(1);
    done = runProgram(command, "[[1,2,3]]");
    EXPECT_EQ(done.status, 2) << command[1];
    EXPECT_TRUE(contains(done.err, "expects 64 hexadecimal digits, but got '" +
                                       digits.substr(1) + "'"))
        << done.err;
    if (command[1] == "bench") // which takes its time
      continue;
    command.back() = digits;
    EXPECT_EQ(runProgram(command, "[[1,2,3]]").status, 0) << command[1];
  }
}
