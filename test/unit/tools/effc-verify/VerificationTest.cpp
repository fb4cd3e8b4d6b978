// A sound artifact verifies; one whose code computes something else does not,
// even when every checksum is right.
#include "runtime/abi/FileHeader.h"
#include "runtime/schema/program_generated.h"
#include "runtime/src/Checksum.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/tools/effc-verify/VerifyFixture.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

using namespace effc;
using namespace effc::test;
using namespace effc::verify;

static std::vector<uint8_t> contents(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(stream), {});
}

static void write(const std::string &path, const std::vector<uint8_t> &bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

// Five forms, eleven ways of feeding, the file, five sets
// of kernels, code and plan: less would be a check lost.
TEST_F(Verify, ASoundArtifactPasses) {
  Report report = verify(compile("mamba2/f32_groups2"));
  EXPECT_EQ(failures(report), Arguments());
  EXPECT_EQ(report.checks.size(), 5u + 11 + 1 + 5 + 2);
  EXPECT_EQ(report.skippedLines(), Arguments());
  ASSERT_TRUE(report.f32Loss);
  EXPECT_GT(*report.f32Loss, 0);
  EXPECT_EQ(find(report, "decode steps").tolerance, 0);
  EXPECT_EQ(find(report, "last row alone").error, 0);
  EXPECT_EQ(find(report, "fed without logits, then a step").error, 0);
  EXPECT_LT(find(report, "form quadratic").tolerance, 1e-12);
  EXPECT_GT(find(report, "kernels chunkwise of 7").error, 0);
  EXPECT_LT(find(report, "this file").tolerance, 1e-4);
}

TEST_F(Verify, WhatIsCompiledMayBeLeftOut) {
  Finished done =
      command({compile("mamba2/f32_groups2"), "--no-compile", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  nlohmann::json found = nlohmann::json::parse(done.out);
  EXPECT_EQ(found.at("checks").size(), 5u + 11 + 1);
  EXPECT_EQ(
      found.at("skipped"),
      nlohmann::json::array({"kernels in other forms, code bytes and "
                             "plan, compiled again: --no-compile leaves them "
                             "out"}));
}

// Attention has no other kernels: the file's are all there are.
TEST_F(Verify, KernelsOfOneFormAreTheFilesOwn) {
  Report report = verify(compile("families/mistral/window"));
  EXPECT_EQ(failures(report), Arguments());
  EXPECT_EQ(report.checks.size(), 5u + 11 + 1 + 2);
  ASSERT_EQ(report.skippedLines().size(), 1u);
  EXPECT_EQ(report.skippedLines()[0],
            "kernels step, kernels chunkwise of 7, kernels chunkwise of 16, "
            "kernels chunkwise of 64, kernels quadratic: the same kernels as "
            "this file's, since no mixer of the model has kernels in more than "
            "one form");
}

// What ran on another device has not tried the host's kernels, which are the
// reference's only other witness where products are rounded.
TEST_F(Verify, KernelsOfOneFormAreTriedWhereAnotherDeviceRanTheFile) {
  std::string file = compile("families/mistral/window",
                             {"--target", "host,sim_80", "--products", "bf16"});
  Finished done =
      command({file, "--device", "sim", "--tokens", "12", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  nlohmann::json found = nlohmann::json::parse(done.out);
  size_t against = 0;
  for (const nlohmann::json &check : found.at("checks"))
    against += check.at("name") == "kernels step";
  EXPECT_EQ(against, 1u) << found;
}

// The host's code is compared with the host's, wherever its target stands.
TEST_F(Verify, TheHostMayBeAnyOfTheTargets) {
  Report report =
      verify(compile("mamba2/f32_groups2", {"--target", "sim_80,host"}));
  EXPECT_EQ(failures(report), Arguments());
  EXPECT_EQ(find(report, "code bytes, compiled again").tolerance, 0);
  EXPECT_EQ(report.checks.size(), 24u);
  EXPECT_EQ(
      report.skippedLines(),
      Arguments{"code and plan of sim_80, compiled again: the host's alone is "
                "compared"});
}

TEST_F(Verify, NamesTheDeviceThatTheFileHasCodeFor) {
  std::string file = compile("mamba2/f32_groups2", {"--target", "sim_80"});
  try {
    verify(file);
    FAIL() << "verified without code for the host";
  } catch (const std::exception &error) {
    EXPECT_STREQ(error.what(),
                 "the file has no code for the host; it has code for the "
                 "simulated GPU: --device sim");
  }
}

// Chunks show where a prompt is cut, so the bits may differ, but no more than
// rounding does.
TEST_F(Verify, AChunkwiseArtifactPassesWithinATolerance) {
  Report report = verify(
      compile("mamba2/f32_groups2", {"--force-form", "chunkwise:16"}), 40);
  EXPECT_EQ(failures(report), Arguments());
  const verify::Check &steps = find(report, "decode steps");
  EXPECT_GT(steps.error, 0);
  EXPECT_GT(steps.tolerance, 0);
  EXPECT_LT(steps.tolerance, 1e-4);
  EXPECT_EQ(find(report, "one thread").tolerance, 0);
}

// Weights of 3e38, whose products are beyond f32: every error would be
// infinite, and so would every tolerance.
TEST_F(Verify, WhatF32CannotHoldIsNotJudged) {
  std::string model = folder.at("huge");
  std::filesystem::create_directory(model);
  std::string golden = EFFC_GOLDENS "/mamba2/f32_groups2/";
  std::filesystem::copy(golden + "config.json", model);
  std::vector<uint8_t> bytes = contents(golden + "model.safetensors");
  uint64_t header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const float huge = 3e38f;
  for (size_t at = 8 + header; at + 4 <= bytes.size(); at += 4)
    std::memcpy(&bytes[at], &huge, 4);
  write(model + "/model.safetensors", bytes);
  std::string path = folder.at("huge.effc");
  Finished made = runProgram({EFFC_PROGRAM, "compile", model, "-o", path});
  ASSERT_EQ(made.status, 0) << made.err;
  Finished done = command({path, "--tokens", "5"});
  EXPECT_EQ(done.status, 1) << done.out;
  EXPECT_EQ(done.err.find("effc: error: cannot be judged: f32 arithmetic "
                          "overflows on this model"),
            0u)
      << done.err;
}

TEST_F(Verify, WithoutItsModuleFeedingAloneIsChecked) {
  std::string path = compile("mamba2/f32_plain", {"--strip-ir"});
  Report report = verify(path);
  EXPECT_EQ(failures(report), Arguments());
  EXPECT_EQ(report.checks.size(), 11u);
  ASSERT_EQ(report.skippedLines().size(), 1u);
  Finished done = command({path});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_NE(done.out.find("the file has no seq module"), std::string::npos);
}

/// The artifact with its program changed by `change`, and all checksums right.
static std::vector<uint8_t>
withProgram(std::vector<uint8_t> bytes,
            const std::function<void(artifact::ProgramT &)> &change) {
  rt::FileHeader header = rt::FileHeader::decode(bytes.data());
  artifact::ProgramT program;
  artifact::GetProgram(bytes.data() + header.programOffset)->UnPackTo(&program);
  change(program);
  flatbuffers::FlatBufferBuilder builder;
  builder.ForceDefaults(true); // as the compiler packs it
  artifact::FinishProgramBuffer(builder,
                                artifact::Program::Pack(builder, &program));
  EXPECT_EQ(builder.GetSize(), header.programSize);
  std::memcpy(bytes.data() + header.programOffset, builder.GetBufferPointer(),
              std::min<size_t>(builder.GetSize(), header.programSize));
  repairHeader(bytes);
  return bytes;
}

static std::vector<uint8_t> withoutModule(const std::vector<uint8_t> &bytes) {
  return withProgram(bytes, [](artifact::ProgramT &program) {
    for (auto &segment : program.segments)
      if (segment->kind == artifact::SegmentKind::SeqModule) {
        segment->size = 0;
        segment->checksum = rt::checksum(nullptr, 0);
      }
  });
}

// An empty table and status 0 would say that the file is sound.
TEST_F(Verify, WithoutItsModuleNothingIsCheckedUnrun) {
  std::string emptied = compile("mamba2/f32_plain");
  write(emptied, withoutModule(contents(emptied)));
  for (const std::string &path :
       {compile("mamba2/f32_plain", {"--strip-ir"}), emptied}) {
    for (const Arguments &more : {Arguments{}, Arguments{"--no-compile"}}) {
      Arguments all = {path, "--no-run", "--json"};
      all.insert(all.end(), more.begin(), more.end());
      Finished done = command(all);
      EXPECT_EQ(done.status, 1);
      EXPECT_EQ(done.out, "");
      EXPECT_EQ(done.err,
                "effc: error: the file has no seq module, so nothing of it can "
                "be checked with --no-run: compile the model without "
                "--strip-ir, or leave --no-run out to check how the file's "
                "code is fed\n");
    }
  }
}

TEST_F(Verify, WithoutTimeForAnyCheckTheFileDoesNotPass) {
  Finished done = command({compile("mamba2/f32_plain"), "--no-run",
                           "--no-compile", "--seconds", "1e-9"});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.out, "");
  EXPECT_TRUE(done.err.starts_with(
      "effc: error: nothing of the file was checked; left out are "))
      << done.err;
}

// Matrices in f16 that lie in the checkpoint's file; then none at all.
TEST_F(Verify, WeightsMayLieElsewhere) {
  Report report =
      verify(compile("layouts/mamba_ssm_f16_padded", {"--weights=reference"}));
  EXPECT_EQ(failures(report), Arguments());
  EXPECT_EQ(report.checks.size(), 24u);
  Finished none =
      command({compile("layouts/mamba_ssm_f16_padded", {"--weights=none"})});
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.err, "effc: error: the file has no weights: it was compiled "
                      "from shapes alone; compile it without --weights none\n");
}

/// The artifact with its host code, or code of another kind, changed, and all
/// checksums right.
static std::vector<uint8_t>
withCode(std::vector<uint8_t> bytes,
         const std::function<void(std::span<uint8_t>)> &change,
         artifact::SegmentKind kind = artifact::SegmentKind::HostCode) {
  rt::FileHeader header = rt::FileHeader::decode(bytes.data());
  const artifact::Program *program =
      artifact::GetProgram(bytes.data() + header.programOffset);
  uint64_t offset = 0, size = 0, checksum = 0;
  for (const artifact::Segment *segment : *program->segments())
    if (segment->kind() == kind) {
      offset = segment->offset();
      size = segment->size();
      checksum = segment->checksum();
    }
  change(std::span(bytes).subspan(offset, size));
  // Where the program keeps the segment's checksum.
  uint64_t fresh = rt::checksum(&bytes[offset], size);
  auto begin = bytes.begin() + static_cast<ptrdiff_t>(header.programOffset);
  auto end = begin + static_cast<ptrdiff_t>(header.programSize);
  const auto *old = reinterpret_cast<const uint8_t *>(&checksum);
  auto where = std::search(begin, end, old, old + 8);
  EXPECT_NE(where, end);
  std::memcpy(&*where, &fresh, 8);
  repairHeader(bytes);
  return bytes;
}

/// The artifact with the f32 constant `from` of its code replaced by `to`.
static std::vector<uint8_t>
withConstant(const std::vector<uint8_t> &bytes, uint32_t from, uint32_t to,
             artifact::SegmentKind kind = artifact::SegmentKind::HostCode) {
  auto replace = [&](std::span<uint8_t> code) {
    int replaced = 0;
    for (uint64_t at = 0; at + 4 <= code.size(); at += 4)
      if (std::memcmp(&code[at], &from, 4) == 0) {
        std::memcpy(&code[at], &to, 4);
        ++replaced;
      }
    EXPECT_GT(replaced, 0) << "the code has no such constant";
  };
  return withCode(bytes, replace, kind);
}

// The high part of ln 2 by which exponentials reduce their argument becomes
// 0.6875: gates and decays are wrong, the same wrong way however the model is
// fed.
TEST_F(Verify, CodeThatTheModuleDoesNotGiveIsNotRun) {
  std::string path = compile("mamba2/f32_groups2");
  write(path, withConstant(contents(path), 0xbf318000, 0xbf300000));
  Finished done = command({path, "--tokens", "9", "--json"});
  EXPECT_EQ(done.status, 1);
  std::string last = "effc: error: '" + path +
                     "' does not verify: 1 of 1 checks failed, first 'code "
                     "bytes, compiled again'\n";
  EXPECT_TRUE(done.err.ends_with(last)) << done.err;
  auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json["passed"], false);
  ASSERT_EQ(json["checks"].size(), 1u);
  EXPECT_EQ(json["skipped"][0],
            "all else: the file's code is not what its module compiles to, so "
            "none of its code was run");
}

/// Where a launch takes its first operand of the arena that is not its first.
static artifact::Operand *firstMovedOperand(artifact::ProgramT &program,
                                            std::string &place) {
  for (const auto &entry : program.entries)
    for (size_t l = 0; l < entry->launches.size(); ++l)
      for (size_t o = 0; o < entry->launches[l]->operands.size(); ++o) {
        artifact::Operand &operand = entry->launches[l]->operands[o];
        if (operand.kind() != artifact::OperandKind::Arena ||
            operand.offset() == 0)
          continue;
        place = "entry " + entry->name + ", launch " + std::to_string(l) +
                " (" + entry->launches[l]->note + "), operands[" +
                std::to_string(o) + "].offset: 0 in the file, " +
                std::to_string(operand.offset()) + " compiled again";
        return &operand;
      }
  return nullptr;
}

// A launch that reads what another has written computes something else with
// code that is right.
TEST_F(Verify, APlanThatTheModuleDoesNotGiveIsNotRun) {
  std::string path = compile("mamba2/f32_groups2"), place;
  write(path, withProgram(contents(path), [&](artifact::ProgramT &program) {
          artifact::Operand *operand = firstMovedOperand(program, place);
          ASSERT_TRUE(operand);
          *operand = artifact::Operand(operand->kind(), operand->index(), 0);
        }));
  for (const Arguments &more : {Arguments{}, Arguments{"--no-run"}}) {
    Arguments all = {path, "--tokens", "9", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    Finished done = command(all);
    EXPECT_EQ(done.status, 1);
    std::string last = "first 'plan, compiled again'; the first difference is "
                       "in " +
                       place + "\n";
    EXPECT_TRUE(done.err.ends_with(last)) << done.err << last;
    auto json = nlohmann::json::parse(done.out);
    EXPECT_EQ(json["plan_difference"], place);
    ASSERT_EQ(json["checks"].size(), 2u);
    EXPECT_EQ(json["checks"][0]["passed"], true);
    EXPECT_EQ(json["skipped"][0],
              "all else: the file's plan is not what its module compiles to, "
              "so none of its code was run");
  }
}

TEST_F(Verify, NamesTheFirstKernelWhoseCodeDiffers) {
  std::string path = compile("mamba2/f32_groups2");
  size_t inside = 0;
  auto description = nlohmann::json::parse(Model(path).describe());
  for (const auto &kernel : description.at("kernels"))
    if (kernel.at("name") == "ssd_4")
      inside = kernel.at("code")[0].at("offset").get<size_t>() + 100;
  ASSERT_GT(inside, 100u);
  write(path, withCode(contents(path), [&](std::span<uint8_t> code) {
          code[inside] ^= 1;
          code[inside + 40] ^= 1;
        }));
  Finished done = command({path, "--tokens", "9", "--json"});
  EXPECT_EQ(done.status, 1);
  std::string last = "first 'code bytes, compiled again'; the first kernel "
                     "that differs is ssd_4\n";
  EXPECT_TRUE(done.err.ends_with(last)) << done.err;
  EXPECT_EQ(nlohmann::json::parse(done.out)["first_kernel"], "ssd_4");
}

// Where nothing is compiled, the code is run, and its results are compared.
TEST_F(Verify, AWrongKernelFails) {
  std::string path = compile("mamba2/f32_groups2");
  write(path, withConstant(contents(path), 0xbf318000, 0xbf300000));
  Finished done = command({path, "--tokens", "9", "--no-compile", "--json"});
  EXPECT_EQ(done.status, 1);
  std::string last = "effc: error: '" + path +
                     "' does not verify: 1 of 17 checks failed, first 'this "
                     "file', from token 0 on\n";
  EXPECT_TRUE(done.err.ends_with(last)) << done.err;
  auto json = nlohmann::json::parse(done.out);
  const auto &file = json["checks"][0];
  EXPECT_EQ(file["name"], "this file");
  EXPECT_EQ(file["passed"], false);
  EXPECT_EQ(file["first_token"], 0);
  EXPECT_GT(file["error"].get<double>(), 100 * file["tolerance"].get<double>());
}

// 1 / ln 2, by which a GPU's exponentials are powers of two, becomes 1.375.
TEST_F(Verify, AWrongKernelFailsBesideRoundedProducts) {
  std::string path = compile("mamba2/f32_groups2", {"--target", "sim_90a"});
  write(path, withConstant(contents(path), 0x3fb8aa3b, 0x3fb00000,
                           artifact::SegmentKind::SimCode));
  nlohmann::json file = fileOnSimulatedGpu(path, 1);
  EXPECT_EQ(file["passed"], false);
}

// The module and its forms, with no machine code.
TEST_F(Verify, RunsNothingWhereAsked) {
  std::string path = compile("mamba2/f32_groups2");
  Finished done = command({path, "--tokens", "9", "--no-run", "--json"});
  EXPECT_EQ(done.status, 0) << done.err;
  auto json = nlohmann::json::parse(done.out);
  Arguments names;
  for (const auto &check : json["checks"])
    names.push_back(check["name"]);
  EXPECT_EQ(names, (Arguments{"code bytes, compiled again",
                              "plan, compiled again", "form step",
                              "form chunkwise of 7", "form chunkwise of 16",
                              "form chunkwise of 64", "form quadratic"}));
}

// No time is left behind what every verification does.
TEST_F(Verify, NamesWhatItHadNoTimeFor) {
  std::string path = compile("mamba2/f32_groups2");
  Finished done =
      command({path, "--tokens", "48", "--seconds", "0.001", "--json"});
  EXPECT_EQ(done.status, 0) << done.err;
  auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json["tokens"], 4);
  std::string skipped = json["skipped"].dump();
  for (const char *part : {"tokens 4 to 47 of the sequence", "form quadratic",
                           "kernels step", "no time left of 0.001 seconds"})
    EXPECT_NE(skipped.find(part), std::string::npos) << part << skipped;
}

// Two of six layers stand for all: their forms, their kernels in every form and
// as the file has them.
TEST_F(Verify, TriesASampleOfTheLayers) {
  std::string path = compile("sample");
  Finished done = command({path, "--tokens", "9", "--layers", "sample",
                           "--seconds", "0", "--json"});
  EXPECT_EQ(done.status, 0) << done.err;
  auto json = nlohmann::json::parse(done.out);
  Arguments names;
  for (const auto &check : json["checks"])
    names.push_back(check["name"]);
  EXPECT_EQ(names.size(), 24u);
  EXPECT_EQ(std::count(names.begin(), names.end(), "this file"), 0);
  EXPECT_EQ(
      std::count(names.begin(), names.end(), "layers 0, 5 of 6, compiled anew"),
      1);
  EXPECT_EQ(json["skipped"],
            nlohmann::json::array({"this file against the reference: --layers "
                                   "sample leaves it out"}));
}

// Without time the sample is what is left, and too much even so.
TEST_F(Verify, NamesTheLayersThatItHadNoTimeFor) {
  Finished done = command({compile("sample"), "--seconds", "0.001", "--json"});
  EXPECT_EQ(done.status, 0) << done.err;
  std::string skipped = nlohmann::json::parse(done.out)["skipped"].dump();
  for (const char *part :
       {"this file against the reference: it would take longer than --seconds "
        "leaves it",
        "layers 0, 5 of 6, compiled anew", "form quadratic"})
    EXPECT_NE(skipped.find(part), std::string::npos) << part << skipped;
}

/// The artifact at `path` with a byte of its seq module changed.
static std::vector<uint8_t> withDamagedModule(const std::string &path,
                                              size_t at, uint8_t byte) {
  std::vector<uint8_t> bytes = contents(path);
  rt::FileHeader header = rt::FileHeader::decode(bytes.data());
  const artifact::Program *program =
      artifact::GetProgram(bytes.data() + header.programOffset);
  for (const artifact::Segment *segment : *program->segments())
    if (segment->kind() == artifact::SegmentKind::SeqModule)
      bytes[segment->offset() + at] = byte;
  return bytes;
}

// Its checksum is compared before MLIR reads it, by whoever reads it.
TEST_F(Verify, ADamagedModuleIsNotRead) {
  std::string path = compile("mamba2/f32_groups2");
  for (size_t at : {0, 7, 400, 1500}) {
    std::vector<uint8_t> before = contents(path);
    std::string damaged = folder.at("damaged.effc");
    write(damaged, withDamagedModule(path, at, 0x30));
    if (contents(damaged) == before)
      continue;
    Finished done =
        runProgram({EFFC_PROGRAM, "inspect", "--flops", "published", damaged});
    EXPECT_EQ(done.status, 1);
    EXPECT_EQ(done.err.find("effc: error: the file's seq module is damaged: "
                            "its checksum is "),
              0u)
        << done.err;
  }
}

TEST_F(Verify, ADamagedWeightIsNamed) {
  std::string path = compile("mamba2/f32_groups2");
  std::vector<uint8_t> bytes = contents(path);
  rt::FileHeader header = rt::FileHeader::decode(bytes.data());
  const artifact::Program *program =
      artifact::GetProgram(bytes.data() + header.programOffset);
  for (const artifact::Segment *segment : *program->segments())
    if (segment->kind() == artifact::SegmentKind::Weights)
      bytes[segment->offset() + 5] ^= 1;
  write(path, bytes);
  Finished done = command({path});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.err, "effc: error: weight 'embeddings' is damaged: its "
                      "checksum differs\n");
}

TEST_F(Verify, PrintsOneJsonDocument) {
  Finished done = command(
      {compile("mamba2/bf16_biases_groups2"), "--json", "--tokens", "9"});
  EXPECT_EQ(done.status, 0) << done.err;
  auto json = nlohmann::json::parse(done.out);
  EXPECT_EQ(json["passed"], true);
  EXPECT_EQ(json["tokens"], 9);
  EXPECT_EQ(json["checks"].size(), 24u);
  EXPECT_GT(json["f32_loss"].get<double>(), 0);
  EXPECT_EQ(json["checks"][3]["name"], "decode steps");
  EXPECT_EQ(json["checks"][3]["error"], 0);
  EXPECT_TRUE(json["checks"][3]["first_token"].is_null());
  EXPECT_EQ(json["skipped"].size(), 0u);
}

TEST_F(Verify, WrongUsageIsStatusTwo) {
  for (const Arguments &arguments :
       {Arguments{}, Arguments{"a.effc", "--tokens", "1"},
        Arguments{"a.effc", "--unknown"}}) {
    Finished done = command(arguments);
    EXPECT_EQ(done.status, 2);
    EXPECT_EQ(done.err.find("effc: error: "), 0u) << done.err;
  }
  // They would say nothing of a sequence that is verified.
  for (const char *option : {"--sequence", "--chunk"}) {
    Finished done = command({"a.effc", option, "16"});
    EXPECT_EQ(done.status, 2);
    EXPECT_EQ(done.err, "effc: error: " + std::string(option) +
                            " requires --flops\neffc: note: see effc verify "
                            "--help\n");
  }
  Finished none = command({"/nonexistent.effc"});
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.err, "effc: error: cannot open '/nonexistent.effc': No such "
                      "file or directory\n");
  EXPECT_EQ(command({"--help"}).status, 0);
}
