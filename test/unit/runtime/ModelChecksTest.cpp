// One mistake at a time in an otherwise sound program, with right checksums:
// the message must name it. The numbers are those of the toy (ToyArtifact.cpp).

#include "runtime/src/ModelChecks.h"
#include "runtime/src/Model.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::rt;
using namespace effc::test;
using artifact::ProgramT;

namespace {
struct Mistake {
  const char *name;
  void (*make)(ProgramT &);
  const char *message; // part of it
};
void PrintTo(const Mistake &mistake, std::ostream *out) {
  *out << mistake.name;
}

class ModelChecks : public testing::TestWithParam<Mistake> {};
} // namespace

TEST_P(ModelChecks, RefuseByName) {
  ToyOptions options;
  options.changeProgram = GetParam().make;
  TemporaryFile file(makeToyArtifact(options));
  Result<std::shared_ptr<const Model>> model = Model::load(file.path());
  ASSERT_FALSE(bool(model));
  EXPECT_EQ(model.error().code, EFFC_BAD_DATA);
  EXPECT_NE(model.error().message.find(GetParam().message), std::string::npos)
      << model.error().message;
}

static artifact::EntryT &entry(ProgramT &p, size_t i) { return *p.entries[i]; }
static artifact::LaunchT &launch(ProgramT &p, size_t i) {
  return *p.entries[0]->launches[i];
}
static artifact::Operand operand(artifact::OperandKind kind, uint32_t index,
                                 uint64_t offset) {
  return artifact::Operand(kind, index, offset);
}
using artifact::OperandKind;

static const Mistake kProgram[] = {
    {"vocabulary_none", [](ProgramT &p) { p.vocabulary_size = 0; },
     "the vocabulary has 0 tokens"},
    {"vocabulary_huge", [](ProgramT &p) { p.vocabulary_size = 1u << 30; },
     "the vocabulary has 1073741824 tokens"},
    {"context_huge", [](ProgramT &p) { p.max_context = UINT64_MAX; },
     "the longest context is 18446744073709551615"},
};
/// The toy's rows are said to be inner values of so many numbers each.
static artifact::TapT &giveTaps(ProgramT &p, std::vector<uint32_t> shape) {
  p.hidden_width = kToyVocabulary;
  p.taps.push_back(std::make_unique<artifact::TapT>());
  p.taps.back()->name = "layers.0.mixer:dt";
  p.taps.back()->shape = std::move(shape);
  return *p.taps.back();
}

static const Mistake kTaps[] = {
    {"tap_without_name",
     [](ProgramT &p) { giveTaps(p, {kToyVocabulary}).name.clear(); },
     "the name of a row's inner value has 0 bytes"},
    {"tap_without_shape", [](ProgramT &p) { giveTaps(p, {}); },
     "inner value 'layers.0.mixer:dt' has 0 dimensions"},
    {"tap_of_none", [](ProgramT &p) { giveTaps(p, {3, 0}); },
     "inner value 'layers.0.mixer:dt' has a shape of none"},
    {"tap_overflow",
     [](ProgramT &p) { giveTaps(p, {1u << 31, 1u << 31, 4, 1}); },
     "inner value 'layers.0.mixer:dt' has a shape of none, or of more than"},
    {"taps_are_not_all", [](ProgramT &p) { giveTaps(p, {kToyVocabulary - 1}); },
     "inner values have"},
    {"taps_without_width",
     [](ProgramT &p) {
       giveTaps(p, {kToyVocabulary});
       p.hidden_width = flatbuffers::nullopt;
     },
     "but rows have 0"},
};
static const Mistake kSegments[] = {
    {"segment_past_end", [](ProgramT &p) { p.segments[1]->size += 1 << 20; },
     "segment 1 lies at byte"},
    {"segment_overflow",
     [](ProgramT &p) { p.segments[1]->offset = 0ull - 4096; },
     "segment 1 lies at byte"},
    {"segment_in_program", [](ProgramT &p) { p.segments[0]->offset = 0; },
     "segment 0 lies at byte 0"},
    {"segment_unaligned", [](ProgramT &p) { p.segments[0]->offset += 64; },
     "no multiple of 4096"},
    {"segments_overlap", [](ProgramT &p) { p.segments[2]->offset -= 4096; },
     "overlap"},
    {"segment_kind",
     [](ProgramT &p) { p.segments[1]->kind = artifact::SegmentKind(9); },
     "segment 1 is of unknown kind 9"},
    {"segment_twice",
     [](ProgramT &p) { p.segments[2]->kind = artifact::SegmentKind::Weights; },
     "segment 2 is the second of its kind"},
    {"code_without_isa", [](ProgramT &p) { p.segments[0]->isa.clear(); },
     "segment 0 holds code but names no ISA"},
};
/// Puts the second weight, 271 rows of 64 bytes of bf16, into a file of
/// `size` bytes that starts with 10 others.
static artifact::WeightT &moveWeight(ProgramT &p, const char *name = "w",
                                     uint64_t size = 10 + 271 * 64) {
  auto file = std::make_unique<artifact::WeightFileT>();
  file->name = name;
  file->size = size;
  file->start_size = 10;
  p.weight_files.push_back(std::move(file));
  p.weights[1]->offset = 0;
  p.weights[1]->file = 1;
  p.weights[1]->file_offset = 10;
  return *p.weights[1];
}

static const Mistake kWeightFiles[] = {
    {"weight_in_no_file", [](ProgramT &p) { p.weights[1]->file = 1; },
     "weight 'lm_head' names file 1 of 0"},
    {"weight_in_another_file", [](ProgramT &p) { moveWeight(p).file = 2; },
     "weight 'lm_head' names file 2 of 1"},
    {"weight_in_two_places", [](ProgramT &p) { moveWeight(p).offset = 64; },
     "weight 'lm_head' lies at byte 10"},
    {"weight_between_elements",
     [](ProgramT &p) { moveWeight(p, "w", 11 + 271 * 64).file_offset = 11; },
     "weight 'lm_head' lies at byte 11"},
    {"weight_in_the_files_start",
     [](ProgramT &p) { moveWeight(p).file_offset = 8; },
     "weight 'lm_head' lies at byte 8"},
    {"weight_past_the_file",
     [](ProgramT &p) { moveWeight(p, "w", 9 + 271 * 64); },
     "weight 'lm_head' lies at byte 10"},
    {"weight_offset_overflow",
     [](ProgramT &p) { moveWeight(p).file_offset = UINT64_MAX - 1; },
     "weight 'lm_head' lies at byte 18446744073709551614"},
    {"weight_file_absolute", [](ProgramT &p) { moveWeight(p, "/w"); },
     "the file of weights '/w' is not named from the artifact's folder"},
    {"weight_file_nameless", [](ProgramT &p) { moveWeight(p, ""); },
     "the name of a file of weights has 0 bytes"},
    {"weight_file_all_start",
     [](ProgramT &p) {
       moveWeight(p);
       p.weight_files[0]->start_size = UINT64_MAX;
     },
     "the file of weights 'w' starts with 18446744073709551615"},
};
// The first weight in blocks of three numbers in five bytes: a row of 271 is one.
static artifact::StorageT &inBlocks(ProgramT &p) {
  auto storage = std::make_unique<artifact::StorageT>();
  storage->name = "own";
  storage->elements = 3;
  storage->bytes = 5;
  storage->drawn.resize(5);
  storage->set.resize(5);
  p.storages.push_back(std::move(storage));
  p.weights[0]->type = artifact::ElementType::Blocks;
  p.weights[0]->storage = 1;
  p.weights[0]->row_stride_bytes = 5;
  p.weights[0]->size = 271 * 5;
  return *p.storages[0];
}
static const Mistake kStorages[] = {
    {"storage_unnamed", [](ProgramT &p) { inBlocks(p).name.clear(); },
     "the name of a storage has 0 bytes"},
    {"storage_empty", [](ProgramT &p) { inBlocks(p).elements = 0; },
     "storage 'own' has blocks of 0 elements in 5 bytes"},
    {"storage_huge", [](ProgramT &p) { inBlocks(p).elements = 1025; },
     "storage 'own' has blocks of 1025 elements in 5 bytes"},
    {"storage_bytes", [](ProgramT &p) { inBlocks(p).bytes = 4097; },
     "storage 'own' has blocks of 3 elements in 4097 bytes"},
    {"storage_bytes_of_rows",
     [](ProgramT &p) {
       inBlocks(p).rows = 16;
       p.storages[0]->bytes = 16 * 4096 + 1;
     },
     "storage 'own' has blocks of 3 elements in 65537 bytes, but 1 to 1024 in "
     "1 to 65536 are expected"},
    {"storage_drawn", [](ProgramT &p) { inBlocks(p).drawn.pop_back(); },
     "storage 'own' says of 4 and 5 bytes how they are drawn, but has 5"},
    {"storage_set", [](ProgramT &p) { inBlocks(p).set.push_back(0); },
     "storage 'own' says of 5 and 6 bytes how they are drawn, but has 5"},
    {"storages_many",
     [](ProgramT &p) {
       for (int i = 0; i < 65; ++i)
         inBlocks(p);
     },
     "the file lists 65 storages, but at most 64 are expected"},
    {"storage_none",
     [](ProgramT &p) {
       inBlocks(p);
       p.storages.clear();
     },
     "weight 'embeddings' names storage 1 of 0"},
    {"storage_of_floats",
     [](ProgramT &p) {
       inBlocks(p);
       p.weights[0]->type = artifact::ElementType::F32;
     },
     "weight 'embeddings' names storage 1 of 1"},
    {"storage_past",
     [](ProgramT &p) {
       inBlocks(p);
       p.weights[0]->storage = 2;
     },
     "weight 'embeddings' names storage 2 of 1"},
    {"storage_stride",
     [](ProgramT &p) {
       inBlocks(p);
       p.weights[0]->row_stride_bytes = 64;
     },
     "weight 'embeddings' has rows of 5 bytes at a stride of 64"},
    {"storage_row",
     [](ProgramT &p) {
       inBlocks(p);
       p.weights[0]->shape = {271, 4};
     },
     "weight 'embeddings' has rows of 4 elements in blocks of 3"},
    {"storage_size",
     [](ProgramT &p) {
       inBlocks(p);
       p.weights[0]->size = 271 * 64;
     },
     "271 rows at a stride of 5 bytes, but a size of 17344"},
    {"storage_of_state",
     [](ProgramT &p) { p.states[0]->type = artifact::ElementType::Blocks; },
     "state 'sum' has a size of 12 bytes, but its shape takes 7"},
    {"neutral_of_rows",
     [](ProgramT &p) {
       p.states[0]->type = artifact::ElementType::Blocks;
       p.states[0]->neutral = 1;
     },
     "state 'sum' of blocks is 1 where nothing was written, but 0 is expected"},
    {"type_of_state",
     [](ProgramT &p) { p.states[0]->type = artifact::ElementType(6); },
     "is of unknown type 6"},
};
static const Mistake kWeights[] = {
    {"weight_type",
     [](ProgramT &p) { p.weights[0]->type = artifact::ElementType(7); },
     "weight 'embeddings' is of unknown type 7"},
    {"weight_scalar", [](ProgramT &p) { p.weights[0]->shape.clear(); },
     "weight 'embeddings' has 0 dimensions"},
    {"weight_zero", [](ProgramT &p) { p.weights[0]->shape[0] = 0; },
     "weight 'embeddings' has a dimension of 0"},
    {"weight_product",
     [](ProgramT &p) { p.weights[0]->shape = {1ull << 62, 1 << 20}; },
     "the size of weight 'embeddings' does not fit in 64 bits"},
    {"weight_stride_odd",
     [](ProgramT &p) { p.weights[0]->row_stride_bytes = 65; },
     "at a stride of 65"},
    {"weight_stride_short",
     [](ProgramT &p) { p.weights[0]->shape = {271, 17}; },
     "rows of 68 bytes at a stride of 64"},
    {"weight_stride_product",
     [](ProgramT &p) { p.weights[0]->row_stride_bytes = 1ull << 60; },
     "271 rows at a stride of 1152921504606846976"},
    {"weight_size", [](ProgramT &p) { p.weights[0]->size -= 64; },
     "271 rows at a stride of 64 bytes, but a size of 17280"},
    {"weight_past_end", [](ProgramT &p) { p.weights[1]->offset += 64; },
     "weight 'lm_head' lies at byte 17408"},
    {"weight_overflow", [](ProgramT &p) { p.weights[1]->offset = 0ull - 64; },
     "weight 'lm_head' lies at byte"},
    {"weight_unaligned", [](ProgramT &p) { p.weights[0]->offset = 8; },
     "weight 'embeddings' lies at byte 8"},
    {"weight_unnamed", [](ProgramT &p) { p.weights[0]->name.clear(); },
     "the name of a weight has 0 bytes"},
};
static const Mistake kStates[] = {
    {"slot_unaligned", [](ProgramT &p) { p.slot_bytes = 200; },
     "a slot has 200 bytes"},
    {"slot_huge", [](ProgramT &p) { p.slot_bytes = 1ull << 50; }, "a slot has"},
    {"state_kind",
     [](ProgramT &p) { p.states[0]->kind = artifact::StateKind(7); },
     "state 'sum' is of unknown kind 7"},
    {"state_growth",
     [](ProgramT &p) { p.states[0]->growth = artifact::Growth(3); },
     "state 'sum' is of unknown growth 3"},
    {"state_without_end",
     [](ProgramT &p) { p.states[0]->growth = artifact::Growth::MaxContext; },
     "state 'sum' has room for 3 tokens, but the model takes any number"},
    {"state_too_short",
     [](ProgramT &p) {
       p.states[0]->growth = artifact::Growth::MaxContext;
       p.max_context = 4;
     },
     "state 'sum' has room for 3 tokens, but the model takes 4"},
    // Three rows of five positions each are for 15 tokens.
    {"blocks_without_end",
     [](ProgramT &p) { p.states[0]->positions_per_row = 5; },
     "state 'sum' has room for 3 times 5 tokens, but the model takes any "
     "number"},
    {"blocks_too_few",
     [](ProgramT &p) {
       p.states[0]->positions_per_row = 5;
       p.max_context = 16;
     },
     "state 'sum' has room for 3 times 5 tokens, but the model takes 16"},
    {"blocks_of_growing",
     [](ProgramT &p) {
       p.states[0]->growth = artifact::Growth::Window;
       p.states[0]->positions_per_row = 5;
     },
     "state 'sum' has a row for every 5 positions, but only one of fixed "
     "growth may, and it is of growth Window"},
    {"state_size", [](ProgramT &p) { p.states[0]->size = 16; },
     "state 'sum' has a size of 16 bytes, but its shape takes 12"},
    {"state_past_slot", [](ProgramT &p) { p.states[1]->slot_offset = 192; },
     "state 'tally' lies at byte 192 with 8 bytes in a slot of 192"},
    {"states_overlap", [](ProgramT &p) { p.states[1]->slot_offset = 64; },
     "state 0 and state 1 overlap"},
    {"state_twice", [](ProgramT &p) { p.states[1]->name = "sum"; },
     "two states are called 'sum'"},
};
static const Mistake kGeneration[] = {
    {"eos", [](ProgramT &p) { p.generation->eos = {271}; },
     "the generation defaults end at token 271, but the vocabulary has 271"},
    {"bos", [](ProgramT &p) { p.generation->bos = -2; },
     "the generation defaults name token -2"},
    {"temperature", [](ProgramT &p) { p.generation->temperature = NAN; },
     "a temperature of nan"},
    {"top_p", [](ProgramT &p) { p.generation->top_p = -0.5f; },
     "a top_p of -0.5"},
    {"min_p", [](ProgramT &p) { p.generation->min_p = 1.5f; },
     "a min_p of 1.5"},
    {"repeat_penalty", [](ProgramT &p) { p.generation->repeat_penalty = 0; },
     "a repeat penalty of 0"},
    {"stops", [](ProgramT &p) { p.generation->stops = {"a", ""}; },
     "the generation defaults stop at a text of 0 bytes, but 1 to 1024"},
    {"zero_in_stop",
     [](ProgramT &p) { p.generation->stops = {std::string("y\0", 2)}; },
     "the generation defaults stop at a text of 2 bytes, but 1 to 1024, none "
     "of them zero, are expected"},
    {"many_stops", [](ProgramT &p) { p.generation->stops.assign(65, "a"); },
     "the generation defaults stop at 65 texts, but at most 64"},
};
static const Mistake kKernels[] = {
    {"kernel_segment", [](ProgramT &p) { p.kernels[1]->code[0]->segment = 3; },
     "kernel 'toy_scan' names segment 3 of 3"},
    {"kernel_in_weights",
     [](ProgramT &p) { p.kernels[1]->code[0]->segment = 1; },
     "kernel 'toy_scan' names segment 1, which is not code"},
    {"kernel_offset",
     [](ProgramT &p) { p.kernels[1]->code[0]->offset = 1 << 24; },
     "kernel 'toy_scan' starts at byte 16777216"},
    {"kernel_operands", [](ProgramT &p) { p.kernels[0]->operands = 65; },
     "kernel 'toy_embed' takes 65 operands"},
    {"kernel_stack", [](ProgramT &p) { p.kernels[0]->stack_bytes = 1 << 30; },
     "kernel 'toy_embed' needs 1073741824 bytes of stack"},
    {"kernel_code_twice",
     [](ProgramT &p) {
       p.kernels[0]->code.push_back(
           std::make_unique<artifact::KernelCodeT>(*p.kernels[0]->code[0]));
     },
     "kernel 'toy_embed' names segment 0 twice"},
};
static const Mistake kEntries[] = {
    {"entry_rows_none", [](ProgramT &p) { entry(p, 0).rows = 0; },
     "entry 'prefill_4' takes 0 rows"},
    {"entry_rows_huge", [](ProgramT &p) { entry(p, 0).rows = 1 << 20; },
     "entry 'prefill_4' takes 1048576 rows"},
    {"entry_chunk", [](ProgramT &p) { entry(p, 0).chunk = 0; },
     "entry 'prefill_4' has chunks of 0"},
    {"entry_kind",
     [](ProgramT &p) { entry(p, 0).kind = artifact::EntryKind(2); },
     "entry 'prefill_4' is of unknown kind 2"},
    {"entry_arena", [](ProgramT &p) { entry(p, 0).arena_bytes = 1ull << 50; },
     "entry 'prefill_4' takes an arena of"},
    {"entry_twice", [](ProgramT &p) { entry(p, 1).name = "prefill_4"; },
     "two entries are called 'prefill_4'"},
    {"entry_same_rows", [](ProgramT &p) { entry(p, 1).rows = 4; },
     "entry 'prefill_16' is the second of its kind with 4 rows"},
    {"entry_no_decode", [](ProgramT &p) { p.entries.resize(2); },
     "the file has no entry for decode"},
    {"entry_no_prefill",
     [](ProgramT &p) {
       p.entries.erase(p.entries.begin(), p.entries.begin() + 2);
     },
     "the file has no entry for prefill"},
    {"entry_below_chunk", [](ProgramT &p) { entry(p, 1).chunk = 17; },
     "takes 16 rows, fewer than its chunk of 17"},
};
static const Mistake kLaunches[] = {
    {"launch_kernel", [](ProgramT &p) { launch(p, 0).kernel = 3; },
     "launch 0 of entry 'prefill_4' names kernel 3 of 3"},
    {"launch_operands", [](ProgramT &p) { launch(p, 1).operands.pop_back(); },
     "has 3 operands, but kernel 'toy_scan' takes 4"},
    {"launch_tile",
     [](ProgramT &p) { *launch(p, 0).items = {artifact::Count::Rows, 0, 1}; },
     "has tiles of 0"},
    {"launch_count",
     [](ProgramT &p) { *launch(p, 0).items = {artifact::Count(4), 4, 1}; },
     "counts by unknown kind 4"},
    {"launch_result",
     [](ProgramT &p) { launch(p, 2).only_for = artifact::CallResult(3); },
     "launch 2 of entry 'prefill_4' is for a result of unknown kind 3"},
    {"operand_sizes",
     [](ProgramT &p) { launch(p, 1).operand_bytes = {0, 0, 0}; },
     "launch 1 of entry 'prefill_4' has 3 sizes of 4 operands"},
    {"operand_size_of_a_state",
     [](ProgramT &p) { launch(p, 1).operand_bytes = {0, 8, 0, 64}; },
     "has an operand 1 that has a size outside of the arena"},
    {"operand_size_past_end",
     [](ProgramT &p) { launch(p, 1).operand_bytes = {0, 0, 0, 65}; },
     "has an operand 3 that ends past the arena's end"},
    {"operand_choices_of_every_call",
     [](ProgramT &p) {
       launch(p, 2).operands[3] = operand(OperandKind::Choices, 0, 0);
     },
     "has an operand 3 of choices, but is not left out of other calls"},
    {"operand_draws_of_every_call",
     [](ProgramT &p) {
       launch(p, 2).operands[1] = operand(OperandKind::Draws, 0, 0);
     },
     "has an operand 1 of draws, but is not left out of other calls"},
    {"operand_draws_index",
     [](ProgramT &p) {
       launch(p, 2).operands[1] = operand(OperandKind::Draws, 1, 0);
     },
     "has an operand 1 that has an index or offset where none is expected"},
    {"choices_of_nobody",
     [](ProgramT &p) { launch(p, 2).only_for = artifact::CallResult::Choices; },
     "entry 'prefill_4' has launches for choices, but none that writes them"},
    {"choices_without_draws",
     [](ProgramT &p) {
       launch(p, 2).only_for = artifact::CallResult::Choices;
       launch(p, 2).operands[3] = operand(OperandKind::Choices, 0, 0);
     },
     "entry 'prefill_4' has launches for choices, but none that takes draws"},
    {"operand_choices_offset",
     [](ProgramT &p) {
       launch(p, 2).operands[3] = operand(OperandKind::Choices, 0, 64);
     },
     "has an operand 3 that has an index or offset where none is expected"},
    {"operand_choices_of_one_token",
     [](ProgramT &p) {
       p.vocabulary_size = 1;
       p.generation->eos.clear();
       launch(p, 2).operands[3] = operand(OperandKind::Choices, 0, 0);
     },
     "has an operand 3 that is of choices, of which a vocabulary of one token "
     "has none"},
    {"operand_kind",
     [](ProgramT &p) {
       launch(p, 0).operands[0] = operand(OperandKind(11), 0, 0);
     },
     "has an operand 0 that is of an unknown kind"},
    {"operand_arena",
     [](ProgramT &p) {
       launch(p, 0).operands[3] = operand(OperandKind::Arena, 0, 128);
     },
     "has an operand 3 that starts past the arena's end"},
    {"operand_arena_index",
     [](ProgramT &p) {
       launch(p, 0).operands[3] = operand(OperandKind::Arena, 1, 0);
     },
     "has an index into the arena"},
    {"operand_weight",
     [](ProgramT &p) {
       launch(p, 0).operands[2] = operand(OperandKind::Weight, 2, 0);
     },
     "names a weight that does not exist"},
    {"operand_weight_offset",
     [](ProgramT &p) {
       launch(p, 0).operands[2] = operand(OperandKind::Weight, 0, 17344);
     },
     "starts past its weight's end"},
    {"operand_state",
     [](ProgramT &p) {
       launch(p, 1).operands[1] = operand(OperandKind::State, 2, 0);
     },
     "names a state that does not exist"},
    {"operand_state_offset",
     [](ProgramT &p) {
       launch(p, 1).operands[1] = operand(OperandKind::State, 0, 12);
     },
     "starts past its state's end"},
    {"operand_tokens",
     [](ProgramT &p) {
       launch(p, 0).operands[0] = operand(OperandKind::Tokens, 0, 4);
     },
     "has an index or offset where none is expected"},
};

// Three rows of five positions each are for 15 tokens and no more.
TEST(ModelChecksOf, RowsOfRunsOfPositions) {
  ToyOptions options;
  options.changeProgram = [](ProgramT &p) {
    p.states[0]->positions_per_row = 5;
    p.max_context = 15;
  };
  TemporaryFile file(makeToyArtifact(options));
  Result<std::shared_ptr<const Model>> model = Model::load(file.path());
  EXPECT_TRUE(bool(model)) << model.error().message;
}

// More than the toy has room for.
TEST(ModelChecksOf, TooManyKernels) {
  ProgramT program;
  for (int i = 0; i < 16385; ++i) {
    program.kernels.push_back(std::make_unique<artifact::KernelT>());
    program.kernels.back()->name = "k";
  }
  flatbuffers::FlatBufferBuilder packed;
  artifact::FinishProgramBuffer(packed,
                                artifact::Program::Pack(packed, &program));
  const artifact::Program &read =
      *artifact::GetProgram(packed.GetBufferPointer());
  Check error = checkKernels(read, hostPlan(read));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message,
            "the file lists 16385 kernels, but at most 16384 are expected");
}

static std::string nameOf(const testing::TestParamInfo<Mistake> &info) {
  return info.param.name;
}
#define CHECK_GROUP(group)                                                     \
  INSTANTIATE_TEST_SUITE_P(group, ModelChecks, testing::ValuesIn(k##group),    \
                           nameOf)
CHECK_GROUP(Program);
CHECK_GROUP(Taps);
CHECK_GROUP(Segments);
CHECK_GROUP(WeightFiles);
CHECK_GROUP(Storages);
CHECK_GROUP(Weights);
CHECK_GROUP(States);
CHECK_GROUP(Generation);
CHECK_GROUP(Kernels);
CHECK_GROUP(Entries);
CHECK_GROUP(Launches);
