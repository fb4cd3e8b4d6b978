// Launches held to what the code of their kernels was made for: one number of the
// program that is changed, with right checksums, is refused by name.

#include "runtime/include/effc/effc.hpp"
#include "runtime/src/Checksum.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;
using artifact::OperandKind;

namespace {
using Change = std::function<void(artifact::ProgramT &)>;

/// What loading a toy says whose program was changed.
std::string loading(const Change &change) {
  ToyOptions options;
  options.changeProgram = change;
  TemporaryFile file(makeToyArtifact(options));
  std::string said =
      messageOf([&] { Model model(file.path()); }, EFFC_BAD_DATA);
  std::string begin = "'" + file.path() + "': ";
  return said.find(begin) == 0 ? said.substr(begin.size()) : said;
}

artifact::LaunchT &launch(artifact::ProgramT &program, int entry, int index) {
  return *program.entries[entry]->launches[index];
}
} // namespace

TEST(LaunchChecks, TheToyKeepsWhatItStates) {
  TemporaryFile file(makeToyArtifact());
  expectToyRuns(Model(file.path()), Device::host(1));
}

TEST(LaunchChecks, Vocabulary) {
  auto toLarger = [](artifact::ProgramT &p) { p.vocabulary_size = 272; };
  auto toSmaller = [](artifact::ProgramT &p) {
    p.vocabulary_size = 270;
    p.generation->eos = {};
  };
  EXPECT_EQ(loading(toLarger),
            "launch 0 of entry 'prefill_4' (kernel 'toy_embed') is in a model "
            "of 272 tokens, but the kernel knows 271");
  // Where kernels say that they know more, the table does not have it.
  EXPECT_EQ(loading([&](artifact::ProgramT &p) {
              toLarger(p);
              for (auto &kernel : p.kernels)
                kernel->vocabulary = 272;
            }),
            "launch 0 of entry 'prefill_4' (kernel 'toy_embed') looks tokens "
            "up in a table of 271 rows, but the vocabulary has 272");
  EXPECT_EQ(loading(toSmaller),
            "launch 2 of entry 'prefill_4' (kernel 'toy_head') has an operand "
            "3 whose parts are 1080 bytes apart, but the kernel expects 1084");
}

TEST(LaunchChecks, Items) {
  auto times = [](artifact::ProgramT &p) {
    launch(p, 1, 2).items =
        std::make_unique<artifact::Items>(artifact::Count::Outputs, 2, 4);
  };
  EXPECT_EQ(loading(times),
            "launch 2 of entry 'prefill_16' (kernel 'toy_head') does other "
            "items than the kernel's: 4 times for each 2, but 3 for each 2 are "
            "expected");
  // The kernel as well: what is left is that an item touches something.
  auto endless = [](artifact::ProgramT &p) {
    const artifact::Items items(artifact::Count::Outputs, 2, 2147483647);
    p.kernels[2]->items = std::make_unique<artifact::Items>(items);
    for (auto &entry : p.entries)
      entry->launches[2]->items = std::make_unique<artifact::Items>(items);
  };
  EXPECT_EQ(loading(endless).find(
                "launch 2 of entry 'prefill_4' (kernel 'toy_head') does "
                "2147483647 items for each tile, but its operands have "),
            0u);
}

TEST(LaunchChecks, KindsOfOperands) {
  auto arena = [](artifact::ProgramT &p) {
    launch(p, 0, 0).operands[0] = {OperandKind::Arena, 0, 0};
  };
  EXPECT_EQ(loading(arena),
            "launch 0 of entry 'prefill_4' (kernel 'toy_embed') has an operand "
            "0 of kind Arena, which the kernel does not take there");
  auto everywhere = [](artifact::ProgramT &p) {
    p.kernels[0]->extents[0] = {4, 4, 4, 1u << unsigned(OperandKind::Arena)};
    for (auto &entry : p.entries)
      entry->launches[0]->operands[0] = {OperandKind::Arena, 0, 0};
  };
  EXPECT_EQ(loading(everywhere),
            "entry 'prefill_4' has no launch that takes tokens");
}

TEST(LaunchChecks, Extents) {
  // The arena has 64 bytes and a row of 16 for each of 16 rows.
  EXPECT_EQ(loading([](artifact::ProgramT &p) {
              launch(p, 1, 1).operands[3] = {OperandKind::Arena, 0, 80};
            }),
            "launch 1 of entry 'prefill_16' (kernel 'toy_scan') has an operand "
            "3 with 240 bytes, but the kernel reaches 16 times 16 bytes that "
            "are 16 apart");
  EXPECT_EQ(loading([](artifact::ProgramT &p) {
              launch(p, 0, 0).operands[2] = {OperandKind::Weight, 0, 64};
            }),
            "launch 0 of entry 'prefill_4' (kernel 'toy_embed') has an operand "
            "2 with 17280 bytes, but the kernel reaches 1 times 17292 bytes "
            "that are 0 apart");
  EXPECT_EQ(loading([](artifact::ProgramT &p) {
              launch(p, 0, 1).operands[1] = {OperandKind::State, 1, 0};
            }),
            "launch 1 of entry 'prefill_4' (kernel 'toy_scan') has an operand "
            "1 with 8 bytes, but the kernel reaches 1 times 12 bytes that are "
            "192 apart");
  EXPECT_EQ(loading([](artifact::ProgramT &p) {
              launch(p, 0, 0).operands[3] = {OperandKind::Arena, 0, 62};
            }),
            "launch 0 of entry 'prefill_4' (kernel 'toy_embed') has an operand "
            "3 at byte 62, but the kernel expects a multiple of 16");
  EXPECT_EQ(loading([](artifact::ProgramT &p) { p.slot_bytes = 256; }),
            "launch 1 of entry 'prefill_4' (kernel 'toy_scan') has an operand "
            "1 whose parts are 256 bytes apart, but the kernel expects 192");
  EXPECT_EQ(
      loading([](artifact::ProgramT &p) { p.kernels[1]->extents.pop_back(); }),
      "kernel 'toy_scan' states 3 extents of 4 operands");
  EXPECT_EQ(loading([](artifact::ProgramT &p) { p.kernels[2]->extents = {}; }),
            "kernel 'toy_head' states 0 extents of 4 operands");
  EXPECT_EQ(loading([](artifact::ProgramT &p) { p.kernels[0]->items = {}; }),
            "kernel 'toy_embed' does not state its items");
}

TEST(LaunchChecks, WhatKernelsWereMadeFor) {
  EXPECT_EQ(loading([](artifact::ProgramT &p) { p.entries[1]->rows = 17; }),
            "launch 0 of entry 'prefill_16' (kernel 'toy_embed') is in an "
            "entry of 17 rows, but the kernel takes 16");
  EXPECT_EQ(
      loading([](artifact::ProgramT &p) { p.kernels[1]->decode_only = true; }),
      "launch 1 of entry 'prefill_4' (kernel 'toy_scan') is in a prefill "
      "entry, but the kernel is for decoding");
  EXPECT_EQ(
      loading([](artifact::ProgramT &p) { p.kernels[1]->max_context = 50; }),
      "launch 1 of entry 'prefill_4' (kernel 'toy_scan') is in a model with a "
      "context of any length, but the kernel has room for 50");
}

TEST(LaunchChecks, KernelsBeginWhereTheirCodeDoes) {
  auto at = [](uint64_t further, bool stated) {
    return loading([&](artifact::ProgramT &p) {
      artifact::KernelCodeT &code = *p.kernels[1]->code[0];
      if (stated)
        code.start_checksum = 1;
      code.offset += further;
    });
  };
  EXPECT_NE(at(7, false).find(", which is no multiple of 16"),
            std::string::npos);
  EXPECT_NE(at(0, true).find("kernel 'toy_scan' does not start at byte "),
            std::string::npos);
}
