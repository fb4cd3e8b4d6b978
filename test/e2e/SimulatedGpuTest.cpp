// One recorded checkpoint of every other family on the simulated GPU, of every one
// where EFFC_CHECK_LONG is set, from its folder to logits, for sm_80 and sm_90a in
// turn: the code that goes to `ptxas`, run with all of the simulator's checks. What
// families differ in is seldom a kernel, and kernels have contracts of their own
// (test/unit/contract). For sm_90a weights are stored as bf16, and the logits are
// held to the host's of the same weights. Warp groups multiply where 64 channels are
// contracted, more than these models have: the sample below is for them.
//
// Products of f32 lose 2^-21 there and exponentials some units in the last
// place, in each of some layers: two parts in 10^5 of the float64 logits, or the
// host's, are allowed.
#include "test/LongCheck.h"
#include "test/e2e/Process.h"
#include "test/e2e/SafetensorsFile.h"
#include "test/e2e/TemporaryFolder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace effc::test;
using Arguments = std::vector<std::string>;

namespace {

constexpr const char *kWithin = "2e-5";

/// The relative L2 distance of logits of a file from those of another, of the
/// sequence that has the largest.
double distanceOf(const std::string &found, const std::string &expected) {
  SafetensorsFile ours = SafetensorsFile::read(found),
                  exact = SafetensorsFile::read(expected);
  double largest = 0;
  for (const auto &[name, tensor] : exact.tensors()) {
    std::vector<double> a = ours.tensor(name).values(), b = tensor.values();
    EXPECT_EQ(a.size(), b.size()) << name;
    double distance = 0, norm = 0;
    for (size_t i = 0; i < b.size() && i < a.size(); ++i) {
      distance += (a[i] - b[i]) * (a[i] - b[i]);
      norm += b[i] * b[i];
    }
    double relative = std::sqrt(distance / norm);
    largest = std::isnan(relative) ? INFINITY : std::max(largest, relative);
  }
  EXPECT_FALSE(exact.tensors().empty());
  return largest;
}

/// The first case of every family, "family/case".
std::vector<std::string> firstCases() {
  std::filesystem::path root = EFFC_GOLDENS "/families";
  std::vector<std::string> all, first;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.path().filename() == "config.json")
      all.push_back(
          std::filesystem::relative(entry.path().parent_path(), root));
  std::sort(all.begin(), all.end());
  std::string family;
  for (const std::string &name : all)
    if (std::string of = name.substr(0, name.find('/')); of != family) {
      family = of;
      first.push_back(name);
    }
  return first;
}

class SimulatedGpu : public testing::TestWithParam<size_t> {};

} // namespace

TEST_P(SimulatedGpu, FromTheFolderToLogits) {
  std::string name = firstCases().at(GetParam());
  std::string golden = EFFC_GOLDENS "/families/" + name + "/";
  TemporaryFolder folder;
  bool isNarrow = GetParam() % 2 == 1;
  Finished done =
      runProgram({EFFC_PROGRAM, "compile", golden, "-o",
                  folder.at("model.effc"), "--dtype", isNarrow ? "bf16" : "f32",
                  "--prefill-rows", "64", "--max-batch", "2", "--target",
                  isNarrow ? "host,sim_90a" : "host,sim_80", "--products",
                  "f32", "--no-optimise"});
  ASSERT_EQ(done.status, 0) << name << "\n" << done.err;
  if (isNarrow) {
    done = runProgram({EFFC_PROGRAM, "eval", folder.at("model.effc"),
                       "--device", "host", "--tokens", golden + "tokens.json",
                       "--logits", folder.at("host")});
    ASSERT_EQ(done.status, 0) << name << "\n" << done.err;
  }
  for (const char *split : {"all", "5,1,1,64"}) {
    done = runProgram({EFFC_PROGRAM, "eval", folder.at("model.effc"),
                       "--device", "sim", "--tokens", golden + "tokens.json",
                       "--split", split, "--logits", folder.at("logits")});
    ASSERT_EQ(done.status, 0) << name << "\n" << done.err;
    if (isNarrow) {
      EXPECT_LE(distanceOf(folder.at("logits"), folder.at("host")),
                std::stod(kWithin))
          << name << ", split " << split;
      continue;
    }
    done = runProgram({EFFC_COMPARE, "--within", kWithin, folder.at("logits"),
                       golden + "golden.safetensors"});
    EXPECT_EQ(done.status, 0) << name << ", split " << split << "\n"
                              << done.out << done.err;
  }
  // The tokens of the host. They could differ where the likeliest two logits lie
  // within what is tolerated; no family's do.
  auto likeliest = [&](const char *device) {
    done = runProgram({EFFC_PROGRAM, "run", folder.at("model.effc"), "--device",
                       device, "--tokens", "1,2,3,4", "-n", "4",
                       "--print-tokens", "--temperature", "0"});
    EXPECT_EQ(done.status, 0) << name << "\n" << done.err;
    return done.out;
  };
  EXPECT_EQ(likeliest("sim"), likeliest("host")) << name;
  // A text that one device has begun and saved goes on on both, to the same
  // tokens.
  auto continued = [&](const char *first, const char *second) {
    std::string state = folder.at("state");
    std::filesystem::remove(state);
    done = runProgram({EFFC_PROGRAM, "run", folder.at("model.effc"), "--device",
                       first, "--tokens", "1,2,3,4", "-n", "0",
                       "--print-tokens", "--save-state", state});
    EXPECT_EQ(done.status, 0) << name << "\n" << done.err;
    done =
        runProgram({EFFC_PROGRAM, "run", folder.at("model.effc"), "--device",
                    second, "--load-state", state, "--tokens", "5", "-n", "4",
                    "--print-tokens", "--temperature", "0", "--ignore-eos"});
    EXPECT_EQ(done.status, 0) << name << "\n" << done.err;
    EXPECT_EQ(done.err.find("goes on by code of") != std::string::npos,
              first != std::string(second))
        << name << "\n"
        << done.err;
    return done.out;
  };
  std::string here = continued("host", "host");
  EXPECT_EQ(std::count(here.begin(), here.end(), ','), 3) << name;
  EXPECT_EQ(continued("host", "sim"), here) << name;
  EXPECT_EQ(continued("sim", "host"), here) << name;
  // Tokens that entries draw, and that are drawn from logits, of which a filter
  // leaves all that can win; of every third family the likeliest.
  auto tokens = [&](const char *temperature, Arguments filter) {
    Arguments run = {EFFC_PROGRAM,     "run",      folder.at("model.effc"),
                     "--device",       "sim",      "--tokens",
                     "1,2,3",          "-n",       "4",
                     "--print-tokens", "--seed",   "7",
                     "--temperature",  temperature};
    run.insert(run.end(), filter.begin(), filter.end());
    done = runProgram(run);
    EXPECT_EQ(done.status, 0) << name << "\n" << done.err;
    return done.out;
  };
  bool isGreedy = GetParam() % 3 == 0;
  EXPECT_EQ(tokens(isGreedy ? "0" : "0.8", {}),
            isGreedy ? tokens("1", {"--top-k", "1"})
                     : tokens("0.8", {"--min-p", "1e-30"}))
      << name;
}

/// Two of four in a row, one for each architecture.
static std::vector<size_t> triedCases() {
  std::vector<size_t> tried;
  for (size_t i = 0; i < firstCases().size(); ++i)
    if (isLongCheck() || i % 4 < 2)
      tried.push_back(i);
  return tried;
}

INSTANTIATE_TEST_SUITE_P(Families, SimulatedGpu,
                         testing::ValuesIn(triedCases()), [](const auto &info) {
                           std::string name = firstCases().at(info.param);
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

// Tokens drawn without logits in memory, and from logits on the host. Those of
// the two differ in their last bits, which these draws are not near to.
TEST(SimulatedGpuSample, DrawsTheTextOfTheHost) {
  TemporaryFolder folder;
  auto text = [&](const char *target, const char *device) {
    Finished done = runProgram({EFFC_PROGRAM, "compile", EFFC_GOLDENS "/sample",
                                "-o", folder.at(target), "--target", target,
                                "--products", "exact", "--prefill-rows", "16"});
    EXPECT_EQ(done.status, 0) << done.err;
    done = runProgram({EFFC_PROGRAM, "run", folder.at(target), "--device",
                       device, "--prompt", "In the beginning", "-n", "8",
                       "--temperature", "0.8", "--seed", "7"});
    EXPECT_EQ(done.status, 0) << done.err;
    return done.out;
  };
  EXPECT_EQ(text("sim_90a", "sim"), text("host", "host"));
}

// Of a file with code for two simulated GPUs each runs by name, and what runs
// unasked is said. sm_90a alone multiplies by groups of warps, which of 64 rows
// sums in another order; "sim" gives the bits of the one that it names.
TEST(SimulatedGpuChoice, RunsWhatIsAskedFor) {
  TemporaryFolder folder;
  std::string file = folder.at("model.effc");
  Finished done = runProgram({EFFC_PROGRAM, "compile", EFFC_GOLDENS "/sample",
                              "-o", file, "--target", "sim_80,sim_90a",
                              "--prefill-rows", "64", "--max-batch", "1"});
  ASSERT_EQ(done.status, 0) << done.err;
  std::string tokens = "[[5";
  for (int i = 1; i < 64; ++i)
    tokens += "," + std::to_string((37 * i + 5) % 2000);
  std::ofstream(folder.at("tokens.json")) << tokens << "]]";
  auto logits = [&](const char *device) {
    std::string out = folder.at("logits");
    std::filesystem::remove(out);
    done = runProgram({EFFC_PROGRAM, "eval", file, "--device", device,
                       "--tokens", folder.at("tokens.json"), "--logits", out,
                       "--threads", "2"});
    EXPECT_EQ(done.status, 0) << device << ": " << done.err;
    std::ifstream stream(out, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  std::string newest = logits("sim");
  EXPECT_EQ(done.err.find("device: sim (sm_90a, played by 2 threads); the file "
                          "has code for sim:80 as well\n"),
            0u)
      << done.err;
  EXPECT_EQ(logits("sim:90"), newest);
  EXPECT_EQ(done.err.find("device:"), std::string::npos) << done.err;
  EXPECT_NE(logits("sim:80"), newest);
  done = runProgram({EFFC_PROGRAM, "bench", file, "--device", "sim:80",
                     "--prefill", "0", "--decode", "1", "--batch", "1",
                     "--repeat", "1", "--threads", "2"});
  EXPECT_NE(done.out.find(" on sim (sm_80, played by 2 threads), code of "
                          "sim_80\n"),
            std::string::npos)
      << done.out << done.err;
  EXPECT_EQ(
      runProgram({EFFC_PROGRAM, "run", file, "--device", "sim:75"}).status, 2);
}

TEST(SimulatedGpuChoice, SaysWhatTheFileHas) {
  TemporaryFolder folder;
  std::string file = folder.at("model.effc");
  Finished done = runProgram(
      {EFFC_PROGRAM, "compile", EFFC_GOLDENS "/mamba2/f32_plain", "-o", file,
       "--target", "sim_80", "--prefill-rows", "16", "--max-batch", "1"});
  ASSERT_EQ(done.status, 0) << done.err;
  for (const char *device : {"sim", "sim:80", "sim:90"}) {
    done = runProgram({EFFC_PROGRAM, "run", file, "--device", device,
                       "--tokens", "1,2", "-n", "1", "--print-tokens"});
    EXPECT_EQ(done.status, device == std::string("sim:90")) << done.err;
    EXPECT_EQ(done.err.find("device:"), std::string::npos) << done.err;
  }
  EXPECT_EQ(done.err, "effc: error: the file has no code for a simulated GPU "
                      "of architecture 90, but for sim_80\n");
}

// Stored and multiplied as 16 bits, by warp groups wherever the chip has them,
// projections, chunks and head. Those that are f32 on the host are rounded.
TEST(SimulatedGpuSample, ComputesTheLogitsOfTheHostByWarpGroups) {
  TemporaryFolder folder;
  std::string tokens = "[[";
  for (int i = 0; i < 90; ++i)
    tokens += (i ? "," : "") + std::to_string((i * 37 + 5) % 2000 + 3);
  std::ofstream(folder.at("tokens.json")) << tokens + "]]";
  auto logits = [&](Arguments compile, const char *type, const char *device) {
    std::string model = folder.at(device), out = model + ".logits";
    Arguments all = {
        EFFC_PROGRAM, "compile", EFFC_GOLDENS "/sample", "-o", model,
        "--dtype",    type,      "--prefill-rows",       "64"};
    all.insert(all.end(), compile.begin(), compile.end());
    Finished done = runProgram(all);
    EXPECT_EQ(done.status, 0) << done.err;
    done = runProgram({EFFC_PROGRAM, "eval", model, "--device", device,
                       "--tokens", folder.at("tokens.json"), "--logits", out});
    EXPECT_EQ(done.status, 0) << done.err;
    return out;
  };
  for (auto [type, most] : {std::pair("bf16", 2e-2), {"f16", 2e-2 / 8}}) {
    std::string exact = logits({}, type, "host");
    double error = distanceOf(
        logits({"--target", "sim_90a", "--products", type}, type, "sim"),
        exact);
    EXPECT_LE(error, most) << type;
    EXPECT_GE(error, most / 100) << type;
    std::printf("%s: relative distance %.1e\n", type, error);
  }
}

// Delta rules in one model, chunks of decays per key channel in another, a
// window and a selective scan in a third, windows alone in a fourth, heads that
// are joined in a fifth. What is lost shows, and is no more than bf16 loses;
// `effc verify` holds it to what the reference loses then. Of each some rows lie in
// memory as bf16. f16 and tf32 lose an eighth of it.
TEST(SimulatedGpuProducts, AreRoundedWhereAskedFor) {
  struct {
    const char *name, *target, *products, *most, *least;
  } cases[] = {{"gated_deltanet/plain", "sim_90a", "bf16", "2e-2", "1e-4"},
               {"gla/plain", "sim_80", "bf16", "2e-2", "1e-4"},
               {"samba/plain", "sim_90a", "bf16", "2e-2", "1e-4"},
               {"qwen2/windows_above", "sim_80", "bf16", "2e-2", "1e-4"},
               {"srm/mixed", "sim_90a", "bf16", "2e-2", "1e-4"},
               {"qwen2/windows_above", "sim_90a", "f16", "25e-4", "1e-5"},
               {"gla/plain", "sim_80", "tf32", "25e-4", "1e-5"}};
  for (auto [name, target, products, most, least] : cases) {
    SCOPED_TRACE(std::string(name) + " " + products);
    std::string golden = EFFC_GOLDENS "/families/" + std::string(name) + "/";
    TemporaryFolder folder;
    std::string model = folder.at("model.effc");
    Finished done =
        runProgram({EFFC_PROGRAM, "compile", golden, "-o", model, "--dtype",
                    "f32", "--products", products, "--prefill-rows", "64",
                    "--max-batch", "2", "--target", target, "--remarks", "-"});
    ASSERT_EQ(done.status, 0) << done.err;
    bool isNarrow = std::string(products) != "tf32";
    EXPECT_EQ((done.out + done.err)
                      .find("hands on result 0 as " + std::string(products)) !=
                  std::string::npos,
              isNarrow);
    done =
        runProgram({EFFC_PROGRAM, "eval", model, "--device", "sim", "--tokens",
                    golden + "tokens.json", "--logits", folder.at("logits")});
    ASSERT_EQ(done.status, 0) << done.err;
    for (auto [within, status] : {std::pair(most, 0), {least, 1}}) {
      done = runProgram({EFFC_COMPARE, "--within", within, folder.at("logits"),
                         golden + "golden.safetensors"});
      EXPECT_EQ(done.status, status) << done.out << done.err;
    }
    done = runProgram(
        {EFFC_PROGRAM, "verify", model, "--device", "sim", "--tokens", "12"});
    EXPECT_EQ(done.status, 0) << done.out << done.err;
    EXPECT_NE(done.out.find("where the device's products round to " +
                            std::string(products)),
              std::string::npos)
        << done.out;
    EXPECT_EQ(done.out.find("round their operands"), std::string::npos)
        << done.out;
  }
}

// An empty list would run no test and say nothing.
TEST(SimulatedGpuCases, AreThere) { EXPECT_GE(triedCases().size(), 20u); }
