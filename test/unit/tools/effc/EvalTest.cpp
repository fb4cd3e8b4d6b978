// `effc eval` on the toy model: scores against a direct computation, logits bit
// by bit for every split, batch and number of threads.

#include "test/e2e/Process.h"
#include "test/e2e/SafetensorsFile.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;

namespace {
/// A folder of its own, with the toy and some sequences.
class Eval : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/effc-eval-XXXXXX";
    folder = mkdtemp(name);
    for (size_t length : {7, 1, 33, 0, 16}) {
      Tokens tokens(length);
      for (size_t i = 0; i < length; ++i)
        tokens[i] =
            static_cast<int32_t>((i * i * 31 + length * 7) % kToyVocabulary);
      sequences.push_back(tokens);
    }
    std::ofstream(at("tokens.json")) << nlohmann::json(sequences).dump();
    write("toy.effc", makeToyArtifact());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string at(const std::string &name) const { return folder + "/" + name; }
  void write(const std::string &name, const std::vector<uint8_t> &bytes) const {
    std::ofstream(at(name), std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<long>(bytes.size()));
  }
  Finished eval(std::vector<std::string> arguments,
                const std::string &input = "") {
    std::vector<std::string> all = {EFFC_PROGRAM, "eval", at("toy.effc")};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return runProgram(all, input);
  }

  std::string folder;
  std::vector<Tokens> sequences;
};

/// Where the weights of the toy's head lie in its file.
uint64_t headOffset(const std::vector<uint8_t> &file) {
  const auto *program = artifact::GetProgram(file.data() + 64);
  uint64_t offset = program->weights()->Get(1)->offset();
  for (const artifact::Segment *segment : *program->segments())
    if (segment->kind() == artifact::SegmentKind::Weights)
      offset += segment->offset();
  return offset;
}
} // namespace

TEST_F(Eval, WritesTheSameLogitsForEverySplitAndBatch) {
  for (const char *split : {"all", "1", "5,1,1,64", "3", "16"})
    for (const char *batch : {"1", "2", "5", "100"})
      for (const char *threads : {"1", "2"}) {
        Finished done =
            eval({"--tokens", at("tokens.json"), "--logits", at("out"),
                  "--split", split, "--batch", batch, "--threads", threads});
        ASSERT_EQ(done.status, 0) << done.err;
        SafetensorsFile file = SafetensorsFile::read(at("out"));
        ASSERT_EQ(file.tensors().size(), sequences.size());
        for (size_t i = 0; i < sequences.size(); ++i) {
          const auto &tensor = file.tensor("logits." + std::to_string(i));
          EXPECT_EQ(tensor.dtype, "F32");
          EXPECT_EQ(tensor.shape, (std::vector<uint64_t>{sequences[i].size(),
                                                         kToyVocabulary}));
          std::vector<float> expected = ToyReference().feed(sequences[i]);
          ASSERT_EQ(tensor.bytes.size(), expected.size() * 4);
          EXPECT_TRUE(expected.empty() ||
                      !std::memcmp(tensor.bytes.data(), expected.data(),
                                   tensor.bytes.size()))
              << split << " " << batch << " " << threads << " " << i;
        }
      }
}

// Of a toy whose rows are said to be hidden states; nothing else takes such a file.
TEST_F(Eval, WritesHiddenStates) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &program) {
    program.hidden_width = kToyVocabulary;
  };
  Finished refused =
      eval({"--tokens", at("tokens.json"), "--hidden", at("out")});
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("gives logits: effc compile --hidden"),
            std::string::npos);
  write("toy.effc", makeToyArtifact(options));
  for (bool isLast : {false, true}) {
    std::vector<std::string> arguments = {"--tokens", at("tokens.json"),
                                          "--hidden", at("out"),
                                          "--batch",  isLast ? "1" : "3"};
    if (isLast)
      arguments.push_back("--last");
    Finished done = eval(arguments);
    ASSERT_EQ(done.status, 0) << done.err;
    SafetensorsFile file = SafetensorsFile::read(at("out"));
    for (size_t i = 0; i < sequences.size(); ++i) {
      std::vector<float> rows = ToyReference().feed(sequences[i]);
      if (isLast && !rows.empty())
        rows.erase(rows.begin(), rows.end() - kToyVocabulary);
      const auto &tensor = file.tensor("hidden." + std::to_string(i));
      ASSERT_EQ(tensor.bytes.size(), rows.size() * 4);
      EXPECT_TRUE(rows.empty() || !std::memcmp(tensor.bytes.data(), rows.data(),
                                               tensor.bytes.size()));
    }
  }
  EXPECT_EQ(eval({"--tokens", at("tokens.json"), "--hidden", at("out"),
                  "--split", "1"})
                .status,
            2);
  for (const char *command : {"eval", "bench"}) {
    std::vector<std::string> all = {EFFC_PROGRAM, command, at("toy.effc")};
    if (std::string(command) == "eval")
      all.insert(all.end(), {"--tokens", at("tokens.json")});
    Finished done = runProgram(all);
    EXPECT_EQ(done.status, 1);
    EXPECT_NE(done.err.find("from which nothing is predicted"),
              std::string::npos)
        << done.err;
  }
}

// Of a toy whose rows are said to be inner values: whatever predicts refuses it, also
// where it could talk.
TEST_F(Eval, PredictsNothingFromInnerValues) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &program) {
    program.hidden_width = kToyVocabulary;
    program.taps.push_back(std::make_unique<artifact::TapT>());
    program.taps.back()->name = "layers.0.mixer";
    program.taps.back()->shape = {kToyVocabulary};
  };
  options.changeTokenizer = [](artifact::TokenizerT &table) {
    addChatTemplate(table, "default", "{{ messages[0].content }}");
  };
  write("toy.effc", makeToyArtifact(options));
  std::ofstream(at("prompts.jsonl")) << "{\"prompt\": \"hello\"}\n";
  const std::vector<std::string> kCommands[] = {
      {"run", at("toy.effc"), "--tokens", "1,2", "-n", "1"},
      {"chat", at("toy.effc"), "hello", "-n", "1"},
      {"sample", at("toy.effc"), "--prompts", at("prompts.jsonl"), "-n", "1"},
      {"eval", at("toy.effc"), "--tokens", at("tokens.json")},
      {"bench", at("toy.effc")}};
  for (std::vector<std::string> command : kCommands) {
    command.insert(command.begin(), EFFC_PROGRAM);
    Finished done = runProgram(command);
    EXPECT_EQ(done.status, 1) << command[1];
    EXPECT_NE(done.err.find("the file was compiled with --tap: it gives inner "
                            "values, from which nothing is predicted"),
              std::string::npos)
        << command[1] << ": " << done.err;
  }
}

TEST_F(Eval, ScoresAllTokensButTheFirst) {
  double sum = 0;
  uint64_t predicted = 0, tokens = 0;
  for (const Tokens &sequence : sequences) {
    std::vector<float> logits = ToyReference().feed(sequence);
    tokens += sequence.size();
    for (size_t t = 0; t + 1 < sequence.size(); ++t) {
      const float *row = logits.data() + t * kToyVocabulary;
      double total = 0;
      for (uint32_t v = 0; v < kToyVocabulary; ++v)
        total += std::exp(double(row[v]) - row[sequence[t + 1]]);
      sum += std::log(total);
      ++predicted;
    }
  }
  double mean = sum / double(predicted);
  Finished done =
      eval({"--tokens", at("tokens.json"), "--json", "--batch", "3"});
  ASSERT_EQ(done.status, 0) << done.err;
  auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json["tokens"], tokens);
  EXPECT_EQ(json["predicted"], predicted);
  EXPECT_NEAR(json["mean_nll"].get<double>(), mean, 1e-9);
  EXPECT_NEAR(json["perplexity"].get<double>(), std::exp(mean),
              1e-6 * std::exp(mean));
  EXPECT_EQ(json["sequences"].size(), sequences.size());
  EXPECT_EQ(json["sequences"][2]["predicted"], 32);
  EXPECT_TRUE(json["sequences"][1]["mean_nll"]
                  .is_null()); // one token: nothing to score

  std::string text = eval({"--tokens", at("tokens.json")}).out;
  EXPECT_EQ(text.find("tokens      57\npredicted   " +
                      std::to_string(predicted) + "\nmean NLL    "),
            0u)
      << text;
  EXPECT_NE(text.find("\nperplexity  "), std::string::npos);
}

TEST_F(Eval, ReadsStandardInputAndText) {
  Finished fromFile = eval({"--tokens", at("tokens.json"), "--json"});
  Finished fromInput =
      eval({"--tokens", "-", "--json"}, nlohmann::json(sequences).dump());
  EXPECT_EQ(fromInput.out, fromFile.out);
  // "hello world" is 259, 262, l, d.
  Finished text = eval({"--text", "-", "--json"}, "hello world");
  Finished tokens = eval({"--tokens", "-", "--json"}, "[[259, 262, 108, 100]]");
  EXPECT_EQ(text.out, tokens.out);
}

TEST_F(Eval, TakesNoSequencesAtAll) {
  Finished done =
      eval({"--tokens", "-", "--json", "--logits", at("out")}, "[]");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(SafetensorsFile::read(at("out")).tensors().empty());
}

TEST_F(Eval, LeavesNothingHalfWritten) {
  auto onlyInputs = [&] {
    size_t count = 0;
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
      (void)entry;
      ++count;
    }
    return count == 2;
  };
  Finished done =
      eval({"--tokens", "-", "--logits", at("out")}, "[[1, 2], [3, 271]]");
  EXPECT_EQ(done.status, 1);
  EXPECT_TRUE(onlyInputs());
  // A directory stands where the file should go: renaming fails at the end.
  mkdir(at("out").c_str(), 0700);
  done = eval({"--tokens", at("tokens.json"), "--logits", at("out")});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("effc: error: cannot write '" + at("out") + "': "),
            std::string::npos)
      << done.err;
  rmdir(at("out").c_str());
  EXPECT_TRUE(onlyInputs());
  done = eval({"--tokens", at("tokens.json"), "--logits", at("no/such/out")});
  EXPECT_EQ(done.status, 1);
  EXPECT_TRUE(onlyInputs());
}

TEST_F(Eval, KeepsWhatItReadsFrom) {
  Finished done =
      eval({"--tokens", at("tokens.json"), "--logits", at("./toy.effc")});
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(done.err.find("--logits would overwrite"), std::string::npos);
  EXPECT_EQ(eval({"--tokens", at("tokens.json"), "--logits", "-"}).status, 2);
  // What is predicted, by another name.
  std::filesystem::create_hard_link(at("tokens.json"), at("link"));
  done = eval({"--tokens", at("tokens.json"), "--logits", at("link")});
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(done.err.find("--logits would overwrite '" + at("tokens.json")),
            std::string::npos)
      << done.err;
  done = eval({"--text", at("tokens.json"), "--logits", at("tokens.json")});
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(eval({"--tokens", at("tokens.json")}).status, 0);
}

// The head lies in a file of its own, which the model names: behind a start of
// the same bytes, whose checksum the toy has.
TEST_F(Eval, KeepsTheFilesOfWeights) {
  std::vector<uint8_t> whole = makeToyArtifact();
  ToyOptions options;
  options.changeProgram = [&](artifact::ProgramT &program) {
    artifact::WeightT &weight = *program.weights[1];
    uint64_t offset = weight.offset;
    const auto *original = artifact::GetProgram(whole.data() + 64);
    for (const artifact::Segment *segment : *original->segments())
      if (segment->kind() == artifact::SegmentKind::Weights)
        offset += segment->offset();
    for (const char *folder : {"", "other"}) {
      std::filesystem::create_directory(at("other"));
      std::ofstream head(at(folder) + "/head", std::ios::binary);
      for (int copy = 0; copy < 2; ++copy)
        head.write(reinterpret_cast<char *>(whole.data() + offset),
                   static_cast<long>(weight.size));
    }
    auto file = std::make_unique<artifact::WeightFileT>();
    file->name = "head";
    file->size = 2 * weight.size;
    file->start_checksum = weight.checksum;
    file->start_size = weight.size;
    program.weight_files.push_back(std::move(file));
    weight.offset = 0;
    weight.file = 1;
    weight.file_offset = weight.size;
  };
  std::vector<uint8_t> bytes = makeToyArtifact(options);
  write("toy.effc", bytes);
  Finished done =
      eval({"--tokens", at("tokens.json"), "--logits", at("./head")});
  EXPECT_EQ(done.status, 2) << done.err;
  EXPECT_NE(done.err.find("--logits would overwrite '" + at("head")),
            std::string::npos)
      << done.err;
  done = eval({"--tokens", at("tokens.json"), "--weights-folder", at("other"),
               "--logits", at("other/head")});
  EXPECT_EQ(done.status, 2) << done.err;
  EXPECT_EQ(eval({"--tokens", at("tokens.json")}).status, 0);
}

// A sequence long enough to be interrupted on its way.
TEST_F(Eval, LeavesNothingWhenASignalEndsIt) {
  std::ofstream(at("long.json"))
      << nlohmann::json(std::vector<Tokens>{Tokens(1 << 20, 1)});
  for (const char *signal : {"TERM", "INT", "HUP"}) {
    Finished done = runProgram(
        {"/bin/bash", "-c",
         "cd " + folder +
             "; set -m; " EFFC_PROGRAM
             " eval toy.effc --tokens long.json --split 1 --logits out & "
             "pid=$!; while ! ls out.* >/dev/null 2>&1; do kill -0 $pid || "
             "exit 9; "
             "sleep 0.01; done; kill -" +
             signal + " $pid; wait $pid"});
    EXPECT_EQ(done.status, 128 + (*signal == 'T'   ? SIGTERM
                                  : *signal == 'I' ? SIGINT
                                                   : SIGHUP))
        << done.err;
    std::vector<std::string> left;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      left.push_back(entry.path().filename());
    EXPECT_EQ(left.size(), 3u) << signal;
  }
}

// The first element of the head is no number, so that of token 0 is in no row.
TEST_F(Eval, FailsOnLogitsThatAreNoNumbers) {
  std::vector<uint8_t> bytes = makeToyArtifact();
  uint64_t offset = headOffset(bytes);
  const float nan = std::nanf("");
  std::memcpy(bytes.data() + offset, &nan, sizeof nan);
  write("toy.effc", bytes);
  Finished done =
      eval({"--tokens", "-", "--logits", at("out")}, "[[], [3, 4, 5]]");
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.out, "");
  EXPECT_NE(
      done.err.find("effc: error: the logits of token 0 of sequence 1 are "
                    "no numbers: that of token id 0 is NaN\n"),
      std::string::npos)
      << done.err;
  EXPECT_FALSE(std::filesystem::exists(at("out")));
}

// Targets that are the largest logits, and others, at positions in any order.
TEST_F(Eval, CountsTargetsForEverySplitAndBatch) {
  ASSERT_EQ(
      eval({"--tokens", at("tokens.json"), "--logits", at("logits")}).status,
      0);
  SafetensorsFile logits = SafetensorsFile::read(at("logits"));
  nlohmann::json targets;
  uint64_t all = 0, right = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    nlohmann::json one = {{"positions", nlohmann::json::array()},
                          {"ids", nlohmann::json::array()}};
    std::vector<double> rows;
    if (!sequences[i].empty())
      rows = logits.tensor("logits." + std::to_string(i)).values();
    for (size_t p = sequences[i].size(); p-- > 0;) {
      auto row = rows.begin() + static_cast<long>(p * kToyVocabulary);
      auto most = std::max_element(row, row + kToyVocabulary) - row;
      bool wrong = p % 4 == 1;
      one["positions"].push_back(p);
      one["ids"].push_back((most + wrong) % kToyVocabulary);
      ++all;
      right += !wrong;
    }
    targets.push_back(one);
  }
  std::ofstream(at("targets.json")) << targets.dump();
  ASSERT_GT(right, 0u);
  ASSERT_LT(right, all);
  for (const char *split : {"all", "1", "5,1,1,64"})
    for (const char *batch : {"1", "3"}) {
      Finished done =
          eval({"--tokens", at("tokens.json"), "--targets", at("targets.json"),
                "--split", split, "--batch", batch, "--json"});
      ASSERT_EQ(done.status, 0) << done.err;
      nlohmann::json told = nlohmann::json::parse(done.out);
      EXPECT_EQ(told["targets"], all);
      EXPECT_EQ(told["right"], right) << split << " " << batch;
    }
  Finished text =
      eval({"--tokens", at("tokens.json"), "--targets", at("targets.json")});
  EXPECT_NE(text.out.find(std::to_string(right) + " of " + std::to_string(all) +
                          " targets"),
            std::string::npos)
      << text.out;
}

// The toy against one whose head has other numbers: sums over the logits that both
// write, in double.
TEST_F(Eval, ComparesWithAnotherModel) {
  std::vector<uint8_t> bytes = makeToyArtifact();
  uint64_t offset = headOffset(bytes);
  for (size_t i = 0; i < 900; i += 3) {
    float number;
    std::memcpy(&number, bytes.data() + offset + 4 * i, 4);
    number *= 1.5f;
    std::memcpy(bytes.data() + offset + 4 * i, &number, 4);
  }
  write("other.effc", bytes);
  auto logitsOf = [&](const char *file) {
    Finished done = runProgram({EFFC_PROGRAM, "eval", at(file), "--tokens",
                                at("tokens.json"), "--logits", at("out")});
    EXPECT_EQ(done.status, 0) << done.err;
    return SafetensorsFile::read(at("out"));
  };
  SafetensorsFile own = logitsOf("toy.effc"), others = logitsOf("other.effc");
  double divergence = 0, last = 0, nll = 0;
  uint64_t rows = 0, same = 0, predicted = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i].empty())
      continue;
    std::string name = "logits." + std::to_string(i);
    std::vector<double> p = own.tensor(name).values(),
                        q = others.tensor(name).values();
    for (size_t t = 0; t < sequences[i].size(); ++t, ++rows) {
      size_t first = t * kToyVocabulary, bestP = first, bestQ = first;
      for (size_t v = first; v < first + kToyVocabulary; ++v) {
        bestP = p[v] > p[bestP] ? v : bestP;
        bestQ = q[v] > q[bestQ] ? v : bestQ;
      }
      double sumP = 0, sumQ = 0;
      for (size_t v = first; v < first + kToyVocabulary; ++v) {
        sumP += std::exp(p[v] - p[bestP]);
        sumQ += std::exp(q[v] - q[bestQ]);
      }
      auto logP = [&](size_t v) { return p[v] - p[bestP] - std::log(sumP); };
      auto logQ = [&](size_t v) { return q[v] - q[bestQ] - std::log(sumQ); };
      double before = divergence;
      for (size_t v = first; v < first + kToyVocabulary; ++v)
        divergence += std::exp(logQ(v)) * (logQ(v) - logP(v));
      last += t >= 32 ? divergence - before : 0;
      same += bestP == bestQ;
      if (t + 1 == sequences[i].size())
        continue;
      nll -= logQ(first + static_cast<size_t>(sequences[i][t + 1]));
      ++predicted;
    }
  }
  ASSERT_GT(divergence, 1e-3);
  ASSERT_LT(same, rows);
  Finished alone = eval({"--tokens", at("tokens.json"), "--json"});
  for (const char *split : {"all", "1", "5,1,1,64"})
    for (const char *batch : {"1", "3"}) {
      Finished done =
          eval({"--tokens", at("tokens.json"), "--against", at("other.effc"),
                "--split", split, "--batch", batch, "--json"});
      ASSERT_EQ(done.status, 0) << done.err;
      auto told = nlohmann::json::parse(done.out), &against = told["against"];
      EXPECT_EQ(against["rows"], rows);
      EXPECT_EQ(against["same_choice"], same);
      EXPECT_NEAR(against["mean_divergence"], divergence / double(rows), 1e-9);
      EXPECT_NEAR(against["mean_nll"], nll / double(predicted), 1e-9);
      EXPECT_EQ(told["mean_nll"], nlohmann::json::parse(alone.out)["mean_nll"]);
      // Of 7, 1, 33 and 16 tokens 40 lie below position 16, 16 below 32.
      auto &bands = against["by_position"];
      ASSERT_EQ(bands.size(), 3u);
      double sum = 0;
      const uint64_t expected[3][3] = {{0, 16, 40}, {16, 32, 16}, {32, 64, 1}};
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(bands[i]["first"], expected[i][0]);
        EXPECT_EQ(bands[i]["end"], expected[i][1]);
        EXPECT_EQ(bands[i]["rows"], expected[i][2]);
        sum += double(bands[i]["mean_divergence"]) * double(expected[i][2]);
      }
      EXPECT_NEAR(sum, divergence, 1e-9);
      EXPECT_NEAR(bands[2]["mean_divergence"], last, 1e-9);
    }
  Finished itself = eval(
      {"--tokens", at("tokens.json"), "--against", at("toy.effc"), "--json"});
  auto told = nlohmann::json::parse(itself.out)["against"];
  EXPECT_EQ(told["same_choice"], rows);
  EXPECT_EQ(told["mean_divergence"], 0);
  Finished text = eval({"--tokens", at("tokens.json"), "--against",
                        at("other.effc"), "--by-position"});
  EXPECT_NE(text.out.find("\n  same choice     "), std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("\n    32 to 63              "), std::string::npos)
      << text.out;
  Finished without = eval({"--tokens", at("tokens.json"), "--by-position"});
  EXPECT_EQ(without.status, 2);
  EXPECT_NE(without.err.find("--by-position needs --against"),
            std::string::npos)
      << without.err;
  Finished missing =
      eval({"--tokens", at("tokens.json"), "--against", at("none.effc")});
  EXPECT_EQ(missing.status, 1);
  EXPECT_NE(missing.err.find("none.effc"), std::string::npos) << missing.err;
}

TEST_F(Eval, NamesWhatIsWrongWithTargets) {
  auto says = [&](const std::string &targets) {
    std::ofstream(at("targets.json")) << targets;
    Finished done =
        eval({"--tokens", at("tokens.json"), "--targets", at("targets.json")});
    EXPECT_NE(done.status, 0);
    return done.err;
  };
  auto expect = [&](const std::string &targets, const std::string &part) {
    std::string said = says(targets);
    EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  std::string empty = R"({"positions": [], "ids": []})",
              rest = "," + empty + "," + empty + "," + empty + "," + empty;
  expect("nonsense", "is not JSON");
  expect("[]", "is not an array of 5 objects");
  expect("[3" + rest + "]", "element 0");
  expect("[{\"ids\": []}" + rest + "]", "has no array 'positions'");
  expect("[{\"positions\": [7], \"ids\": [1]}" + rest + "]",
         "is 7, not a number below 7");
  expect("[{\"positions\": [0], \"ids\": [271]}" + rest + "]",
         "is 271, not a number below 271");
  expect("[{\"positions\": [0, 1], \"ids\": [1]}" + rest + "]",
         "has 2 positions and 1 ids");
  expect("[{\"positions\": [4, 0, 4], \"ids\": [1, 2, 3]}" + rest + "]",
         "has position 4 twice");
  expect("[{\"positions\": [], \"ids\": [], \"weights\": []}" + rest + "]",
         "has a key 'weights', not 'positions' or 'ids'");
}
