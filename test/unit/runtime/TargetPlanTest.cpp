// Plans of GPUs in a file: what is refused by name, and that a file need not
// have one of the host.

#include "runtime/include/effc/effc.hpp"
#include "runtime/src/Model.h"
#include "runtime/src/devices/Architecture.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::rt;
using namespace effc::test;
using artifact::ProgramT;
using artifact::SegmentKind;

/// A toy with a simulated and a real target; `change` comes last.
static std::vector<uint8_t>
makeToyWithTargets(std::function<void(ProgramT &)> change) {
  ToyOptions options;
  options.programRoom = 16384;
  options.code = {{SegmentKind::SimCode, "sim_80", std::vector<uint8_t>(256)},
                  {SegmentKind::Cubin, "sm_80", std::vector<uint8_t>(128, 7)}};
  options.changeProgram = [&](ProgramT &program) {
    addToyTarget(program, "sim_80", 3);
    addToyTarget(program, "sm_80", 4);
    if (change)
      change(program);
  };
  return makeToyArtifact(options);
}

namespace {
struct Mistake {
  const char *name;
  void (*make)(ProgramT &);
  const char *message; // part of it
};
void PrintTo(const Mistake &mistake, std::ostream *out) {
  *out << mistake.name;
}

class TargetPlans : public testing::TestWithParam<Mistake> {};
} // namespace

TEST_P(TargetPlans, RefuseByName) {
  TemporaryFile file(makeToyWithTargets(GetParam().make));
  Result<std::shared_ptr<const rt::Model>> model = rt::Model::load(file.path());
  ASSERT_FALSE(bool(model));
  EXPECT_EQ(model.error().code, EFFC_BAD_DATA);
  EXPECT_NE(model.error().message.find(GetParam().message), std::string::npos)
      << model.error().message;
}

static artifact::KernelT &kernel(ProgramT &p) {
  return *p.targets[0]->kernels[1];
}

static artifact::KernelT &kernelOfHead(ProgramT &p) {
  return *p.targets[0]->kernels[2];
}

/// One more of operand 0: 4 x 8 elements, in boxes of 4 x 64.
static artifact::BoxMapT &boxMap(ProgramT &p) {
  auto map = std::make_unique<artifact::BoxMapT>();
  map->rows = map->box_rows = 4;
  map->columns = 8;
  map->pitch = 16;
  map->box_columns = 64;
  map->type = artifact::ElementType::BF16;
  kernel(p).box_maps.push_back(std::move(map));
  return *kernel(p).box_maps.back();
}

/// Makes operand 0 of that kernel a weight from byte `offset` on.
static void placeBoxes(ProgramT &p, uint64_t offset) {
  for (auto &entry : p.targets[0]->entries)
    for (auto &launch : entry->launches)
      if (launch->kernel == 1)
        launch->operands[0] =
            artifact::Operand(artifact::OperandKind::Weight, 0, offset);
}

/// Makes the head of the entry of 4 rows a product of 3 channels.
static artifact::MatrixProductT &product(ProgramT &p) {
  kernelOfHead(p).operands = 3;
  for (auto &entry : p.targets[0]->entries)
    entry->launches[2]->operands.erase(entry->launches[2]->operands.begin());
  artifact::LaunchT &launch = *p.targets[0]->entries[0]->launches[2];
  launch.product = std::make_unique<artifact::MatrixProductT>();
  launch.product->outputs = launch.product->y_pitch = kToyVocabulary;
  launch.product->inner = 3;
  launch.product->x_pitch = 4;
  launch.product->w_pitch = 32;
  launch.product->w_type = artifact::ElementType::BF16;
  return *launch.product;
}

static const Mistake kMistakes[] = {
    {"name_none", [](ProgramT &p) { p.targets[0]->name.clear(); },
     "the name of a target has 0 bytes"},
    {"name_unknown", [](ProgramT &p) { p.targets[0]->name = "gfx_90a"; },
     "target 'gfx_90a' is none that is known"},
    {"name_of_a_text", [](ProgramT &p) { p.targets[0]->name = "compute_80"; },
     "target 'compute_80' is none that is known"},
    {"twice",
     [](ProgramT &p) {
       p.targets.push_back(
           std::make_unique<artifact::TargetPlanT>(*p.targets[0]));
     },
     "two targets are called 'sim_80'"},
    {"isa_unknown", [](ProgramT &p) { p.segments[4]->isa = "sm_8"; },
     "segment 4 (Cubin) is for the unknown architecture 'sm_8'"},
    {"isa_of_another_kind", [](ProgramT &p) { p.segments[4]->isa = "sim_80"; },
     "segment 4 (Cubin) is for the unknown architecture 'sim_80'"},
    {"isa_none", [](ProgramT &p) { p.segments[3]->isa.clear(); },
     "segment 3 holds code but names no ISA"},
    {"code_twice",
     [](ProgramT &p) {
       p.segments[3]->kind = SegmentKind::Cubin;
       p.segments[3]->isa = "sm_80";
     },
     "segment 4 is the second of its kind"},
    {"code_of_the_host", [](ProgramT &p) { kernel(p).code[0]->segment = 0; },
     "target 'sim_80': kernel 'toy_scan' names segment 0, which is not code "
     "for sim_80"},
    {"code_of_another_kind",
     [](ProgramT &p) { kernel(p).code[0]->segment = 4; },
     "kernel 'toy_scan' names segment 4, which is not code for sim_80"},
    {"code_for_another_chip",
     [](ProgramT &p) { p.targets[0]->name = "sim_90a"; },
     "kernel 'toy_embed' names segment 3, which is not code for sim_90a"},
    {"code_past_the_end", [](ProgramT &p) { kernel(p).code[0]->offset = 256; },
     "kernel 'toy_scan' starts at byte 256 of a code segment of 256"},
    {"place_in_a_module",
     [](ProgramT &p) { p.targets[1]->kernels[0]->code[0]->offset = 1; },
     "target 'sm_80': kernel 'toy_embed' starts at byte 1 of segment 4, where "
     "it is found by its name"},
    {"threads_none", [](ProgramT &p) { kernel(p).threads = 0; },
     "kernel 'toy_scan' has blocks of 0 threads"},
    {"threads_odd", [](ProgramT &p) { kernel(p).threads = 48; },
     "kernel 'toy_scan' has blocks of 48 threads"},
    {"threads_many", [](ProgramT &p) { kernel(p).threads = 1056; },
     "blocks of 1056 threads, but a multiple of 32 up to 1024"},
    {"shared", [](ProgramT &p) { kernel(p).shared_bytes = 232449; },
     "has 232449 bytes of shared memory, but at most 232448"},
    {"registers", [](ProgramT &p) { kernel(p).registers = 256; },
     "has 256 registers"},
    {"box_map_of_no_operand", [](ProgramT &p) { boxMap(p).operand = 4; },
     "kernel 'toy_scan': box map 0 is of operand 4 of 4"},
    {"box_map_elements",
     [](ProgramT &p) { boxMap(p).type = artifact::ElementType::I32; },
     "box map 0 has elements of type 3, but floating-point ones are expected"},
    {"box_map_rows", [](ProgramT &p) { boxMap(p).rows = 0; },
     "box map 0 is of 0 x 8 elements"},
    {"box_map_pitch_odd", [](ProgramT &p) { boxMap(p).pitch = 24; },
     "box map 0 has rows of 16 bytes 24 bytes apart, but a multiple of 16 that "
     "holds a row, up to 8589934592, is expected"},
    {"box_map_pitch_short", [](ProgramT &p) { boxMap(p).columns = 9; },
     "box map 0 has rows of 18 bytes 16 bytes apart"},
    {"box_map_box", [](ProgramT &p) { boxMap(p).box_rows = 257; },
     "box map 0 has boxes of 257 rows of 128 bytes, but 1 to 256 of 128 are "
     "expected"},
    {"box_map_box_columns", [](ProgramT &p) { boxMap(p).box_columns = 32; },
     "box map 0 has boxes of 4 rows of 64 bytes"},
    {"box_map_of_no_weight", [](ProgramT &p) { boxMap(p); },
     "has an operand 0 that is no weight, but boxes are copied of it"},
    {"box_map_past_the_weight",
     [](ProgramT &p) {
       boxMap(p).rows = 4096;
       placeBoxes(p, 0);
     },
     "has an operand 0 that ends before the boxes that are copied of it"},
    {"box_map_that_wraps_around",
     [](ProgramT &p) {
       artifact::BoxMapT &map = boxMap(p);
       map.type = artifact::ElementType::F32;
       map.box_columns = 32;
       map.pitch = uint64_t(1) << 34;
       map.rows = (uint64_t(1) << 30) + 1;
       placeBoxes(p, 0);
     },
     "has an operand 0 that ends before the boxes that are copied of it"},
    {"box_map_of_an_odd_place",
     [](ProgramT &p) {
       boxMap(p);
       placeBoxes(p, 4);
     },
     "has an operand 0 that starts at no multiple of 16 bytes"},
    {"box_maps_many",
     [](ProgramT &p) {
       for (int i = 0; i < 9; ++i)
         boxMap(p);
     },
     "kernel 'toy_scan' has 9 box maps, but at most 8 are expected"},
    {"box_map_of_the_host",
     [](ProgramT &p) {
       p.kernels[1]->box_maps.push_back(std::make_unique<artifact::BoxMapT>());
     },
     "kernel 'toy_scan' has 1 box maps, but at most 0 are expected"},
    {"product_of_the_host",
     [](ProgramT &p) {
       p.entries[0]->launches[2]->product =
           std::make_unique<artifact::MatrixProductT>();
     },
     "launch 2 of entry 'prefill_4' is a product, which the host's are not"},
    {"product_of_four",
     [](ProgramT &p) {
       p.targets[0]->entries[0]->launches[2]->product =
           std::make_unique<artifact::MatrixProductT>();
     },
     "launch 2 of entry 'prefill_4' is a product of 4 operands, but 3 are "
     "expected"},
    {"product_of_nothing", [](ProgramT &p) { product(p).inner = 0; },
     "is a product with 271 outputs of 0 elements, but 1 to 2147483648 are "
     "expected"},
    {"product_elements",
     [](ProgramT &p) { product(p).x_type = artifact::ElementType::I64; },
     "is a product whose x has elements of type 4, but floating-point ones are "
     "expected"},
    {"product_pitch", [](ProgramT &p) { product(p).y_pitch = 270; },
     "is a product whose y has rows of 271 elements 270 elements apart, but "
     "that many up to 2147483648 are expected"},
    {"product_elsewhere",
     [](ProgramT &p) {
       product(p);
       std::swap(p.targets[0]->entries[0]->launches[2]->operands[0],
                 p.targets[0]->entries[0]->launches[2]->operands[1]);
     },
     "is a product whose x is operand 0, which lies elsewhere"},
    {"product_inside_of_an_element",
     [](ProgramT &p) {
       product(p);
       auto &w = p.targets[0]->entries[0]->launches[2]->operands[1];
       w = artifact::Operand(w.kind(), w.index(), 1);
     },
     "is a product whose w starts inside of an element, 1 bytes into operand "
     "1"},
    {"product_past_the_weight", [](ProgramT &p) { product(p).w_pitch = 33; },
     "is a product whose w ends past the memory of operand 1"},
    {"product_past_the_logits", [](ProgramT &p) { product(p).y_pitch = 272; },
     "is a product whose y ends past the memory of operand 2"},
    {"product_past_the_arena",
     [](ProgramT &p) { product(p).x_pitch = 1u << 31; },
     "is a product whose x ends past the memory of operand 0"},
    {"overlapping_on_the_host",
     [](ProgramT &p) { p.kernels[1]->overlaps = true; },
     "kernel 'toy_scan' overlaps the launch before it, which the host's do "
     "not"},
    {"blocks",
     [](ProgramT &p) {
       // 4 rows in tiles of 4, and 16 rows: 4 tiles of 2^30.
       for (auto &entry : p.targets[0]->entries)
         *entry->launches[0]->items = {artifact::Count::Rows, 4, 1u << 30};
     },
     "launch 0 of entry 'prefill_16' has up to 4294967296 blocks"},
    {"entries_none", [](ProgramT &p) { p.targets[0]->entries.clear(); },
     "target 'sim_80': the file has no entry for prefill"},
    {"launch_of_no_kernel",
     [](ProgramT &p) { p.targets[1]->entries[0]->launches[0]->kernel = 3; },
     "target 'sm_80': launch 0 of entry 'prefill_4' names kernel 3 of 3"},
    {"operand_past_the_arena",
     [](ProgramT &p) { p.targets[0]->entries[0]->arena_bytes = 64; },
     "starts past the arena's end"},
    {"host_entries_without_kernels", [](ProgramT &p) { p.kernels.clear(); },
     "launch 0 of entry 'prefill_4' names kernel 0 of 0"},
    {"host_kernels_without_entries", [](ProgramT &p) { p.entries.clear(); },
     "the file has no entry for prefill"},
};
INSTANTIATE_TEST_SUITE_P(Targets, TargetPlans, testing::ValuesIn(kMistakes),
                         [](const testing::TestParamInfo<Mistake> &info) {
                           return std::string(info.param.name);
                         });

TEST(TargetPlan, AProduct) {
  TemporaryFile file(makeToyWithTargets([](ProgramT &p) {
    product(p);
    stateExtents(p);
  }));
  auto model = rt::Model::load(file.path());
  EXPECT_TRUE(bool(model)) << model.error().message;
}

TEST(TargetPlan, BoxesOfAWeight) {
  TemporaryFile file(makeToyWithTargets([](ProgramT &p) {
    boxMap(p);
    placeBoxes(p, 16);
    stateExtents(p);
    artifact::OperandExtent &weight = kernel(p).extents[0];
    weight = {0, 64, 16, weight.kinds()};
  }));
  EXPECT_TRUE(bool(rt::Model::load(file.path())));
}

TEST(TargetPlan, NothingForAnything) {
  ToyOptions options;
  options.changeProgram = [](ProgramT &program) {
    program.kernels.clear();
    program.entries.clear();
  };
  TemporaryFile file(makeToyArtifact(options));
  auto model = rt::Model::load(file.path());
  ASSERT_FALSE(bool(model));
  EXPECT_NE(model.error().message.find("the file has no entry for prefill"),
            std::string::npos)
      << model.error().message;
}

TEST(TargetPlan, AFileNeedNotBeForTheHost) {
  TemporaryFile file(makeToyWithTargets([](ProgramT &program) {
    program.kernels.clear();
    program.entries.clear();
    program.targets[0]->entries[1]->arena_bytes = 4096;
  }));
  effc::Model model(file.path());
  // Entries and memory are those of the first target then.
  EXPECT_EQ(model.entries().size(), 5u);
  EXPECT_EQ(model.memory().arena, 4096u);
  EXPECT_NE(model.describe().find("\"sim_80\""), std::string::npos);
  try {
    Engine engine(model, effc::Device::host(1));
    FAIL();
  } catch (const effc::Error &error) {
    EXPECT_EQ(error.code(), EFFC_UNSUPPORTED);
    EXPECT_STREQ(error.what(), "the file has no code for the host");
  }
}

TEST(TargetPlan, TheHostRunsAsBefore) {
  TemporaryFile file(makeToyWithTargets({}));
  effc::Model model(file.path());
  check(effc_model_check(model.get(), nullptr, nullptr));
  Engine engine(model, effc::Device::host(1));
  Session session(engine);
  EXPECT_EQ(engine.prefill(session, {1, 2, 3}, EFFC_LOGITS_ALL),
            ToyReference().feed({1, 2, 3}));
}

TEST(TargetPlan, CodeIsCheckedWhenItIsLoaded) {
  const std::vector<uint8_t> good = makeToyWithTargets({});
  std::vector<uint64_t> places;
  {
    TemporaryFile file(good);
    auto model = rt::Model::load(file.path());
    ASSERT_TRUE(bool(model));
    for (uint32_t index : {3, 4})
      places.push_back((*model)->program().segments()->Get(index)->offset());
  }
  const char *messages[] = {"segment 3 (SimCode) is damaged",
                            "segment 4 (Cubin) is damaged"};
  for (size_t i = 0; i < places.size(); ++i) {
    std::vector<uint8_t> bytes = good;
    bytes[places[i] + 100] ^= 1;
    TemporaryFile file(bytes);
    auto model = rt::Model::load(file.path());
    ASSERT_FALSE(bool(model));
    EXPECT_NE(model.error().message.find(messages[i]), std::string::npos)
        << model.error().message;
  }
}

TEST(Architecture, ReadsNames) {
  EXPECT_EQ(architectureOf("sm_90a")->number(), 90u);
  EXPECT_TRUE(architectureOf("sm_90a")->onlyThisOne);
  EXPECT_EQ(architectureOf("compute_120")->major, 12u);
  EXPECT_EQ(architectureOf("sim_80")->kind, Architecture::Kind::Simulated);
  for (const char *name : {"sm_", "sm_8", "sm_080", "sm_8x", "sm_9000", "sm-80",
                           "compute_", "x86-64-v3", "", "sm_90aa"})
    EXPECT_FALSE(architectureOf(name)) << name;
}

TEST(Architecture, KnowsWhatRunsWhere) {
  auto runs = [](const char *name, uint32_t major, uint32_t minor) {
    return architectureOf(name)->runsOn(major, minor);
  };
  EXPECT_TRUE(runs("sm_80", 8, 0));
  EXPECT_TRUE(runs("sm_80", 8, 6));
  EXPECT_FALSE(runs("sm_86", 8, 0));
  EXPECT_FALSE(runs("sm_80", 9, 0));
  EXPECT_TRUE(runs("sm_90a", 9, 0));
  EXPECT_FALSE(runs("sm_90a", 10, 0));
  EXPECT_TRUE(runs("compute_80", 12, 0));
  EXPECT_FALSE(runs("compute_90", 8, 9));
  EXPECT_FALSE(runs("compute_90a", 10, 0));
  EXPECT_FALSE(runs("sim_80", 8, 0));
}
