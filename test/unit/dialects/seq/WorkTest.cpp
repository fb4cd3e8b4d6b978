// FLOPs counted by hand.
#include "dialects/seq/Work.h"
#include "test/unit/dialects/seq/Program.h"

#include "gtest/gtest.h"

using namespace effc::seq;
using namespace effc::seq::test;

// A linear op of 7 x 6 (84 FLOPs), a head of 11 x 7 (154), no mixer; norms and
// additions do not count.
TEST(Work, CountsMatricesOnly) {
  Program program(R"(
func.func @forward(%x: tensor<?x6xf32>, %w: tensor<7x6xf32>, %head: tensor<11x7xf32>,
                   %n: tensor<6xf32>) -> tensor<?x11xf32> {
  %a = seq.rms_norm %x, %n {eps = 1.0e-5 : f64} : tensor<?x6xf32>, tensor<6xf32>
  %y = seq.linear %a, %w : (tensor<?x6xf32>, tensor<7x6xf32>) -> tensor<?x7xf32>
  %z = seq.add %y, %y : tensor<?x7xf32>
  %l = seq.lm_head %z, %head : (tensor<?x7xf32>, tensor<11x7xf32>) -> tensor<?x11xf32>
  return %l : tensor<?x11xf32>
}
)");
  Work work = countWork(program.getFunction());
  EXPECT_EQ(work.perToken, 84u);
  EXPECT_EQ(work.perOutputRow, 154u);
}

// 6 heads with states of 3 x 5, which decay: the step's 5 * 15 FLOPs. With a
// band of 4 tokens each is scored with 3 products and added to 5 sums.
TEST(Work, CountsProductsWithMatrices) {
  Program program(R"(
func.func @forward(%c: tensor<?x6x3xf32>, %g: tensor<?x6xf32>, %x: tensor<?x6x5xf32>, %s: tensor<6x3x5xf32>)
    -> tensor<?x6x5xf32> {
  %cb = seq.rank_matrix rows(%c : tensor<?x6x3xf32>) columns(%c : tensor<?x6x3xf32>)
      -> !seq.semiseparable<heads = 6, rank = 3, decay = none>
  %mask = seq.decay_matrix %g : tensor<?x6xf32> -> !seq.semiseparable<heads = 6, rank = 1, decay = head>
  %m = seq.hadamard %cb, %mask : !seq.semiseparable<heads = 6, rank = 3, decay = none>,
      !seq.semiseparable<heads = 6, rank = 1, decay = head> -> !seq.semiseparable<heads = 6, rank = 3, decay = head>
  %y, %n = seq.apply %m, %x state(%s)
      : !seq.semiseparable<heads = 6, rank = 3, decay = head>, tensor<?x6x5xf32>, tensor<6x3x5xf32>
  return %y : tensor<?x6x5xf32>
}
)");
  EXPECT_EQ(countWork(program.getFunction()).perToken, 6u * 75);
  Program band(R"(
func.func @forward(%c: tensor<?x6x3xf32>, %p: tensor<?xi32>, %x: tensor<?x6x5xf32>,
                   %k: tensor<6x3x4xf32>, %v: tensor<6x4x5xf32>) -> tensor<?x6x5xf32> {
  %cb = seq.rank_matrix rows(%c : tensor<?x6x3xf32>) columns(%c : tensor<?x6x3xf32>)
      -> !seq.semiseparable<heads = 6, rank = 3, decay = none>
  %band = seq.band_matrix -> !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>
  %m = seq.hadamard %cb, %band : !seq.semiseparable<heads = 6, rank = 3, decay = none>,
      !seq.semiseparable<heads = 6, rank = 1, decay = none, band = 4>
      -> !seq.semiseparable<heads = 6, rank = 3, decay = none, band = 4>
  %y:3 = seq.apply_band %m, %x positions(%p) states(%k, %v)
      : !seq.semiseparable<heads = 6, rank = 3, decay = none, band = 4>, tensor<?x6x5xf32>, tensor<?xi32>,
        tensor<6x3x4xf32>, tensor<6x4x5xf32>
  return %y#0 : tensor<?x6x5xf32>
}
)");
  EXPECT_EQ(countWork(band.getFunction()).perToken, 6u * 4 * 2 * (3 + 5));
}

// Two blocks of 5 x 3 (60 FLOPs). Four weights for each of 10 x 10 pairs of
// positions, half of which count, and 6 channels: 4 * 100 / 2 * 2 * 6 FLOPs for
// ten tokens.
TEST(Work, CountsBlocksAndPairs) {
  Program program(R"(
func.func @forward(%x: tensor<?x6xf32>, %p: tensor<?xi32>, %w: tensor<2x5x3xf32>,
                   %pairs: tensor<10x10x4xf32>, %s: tensor<32x6xf32>) -> tensor<?x2x5xf32> {
  %m, %n = seq.causal_mix %x positions(%p) parameters(%pairs) state(%s)
      : (tensor<?x6xf32>, tensor<?xi32>, tensor<10x10x4xf32>, tensor<32x6xf32>) -> (tensor<?x4x6xf32>, tensor<32x6xf32>)
  %b = seq.reshape %x : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %y = seq.linear %b, %w : (tensor<?x2x3xf32>, tensor<2x5x3xf32>) -> tensor<?x2x5xf32>
  return %y : tensor<?x2x5xf32>
}
)");
  EXPECT_EQ(countWork(program.getFunction()).perToken, 60u + 240u);
}

// 8 blocks of 8 positions, 64 in all. Of 6 heads with 4 key and 5 value channels, for
// each token before, the mean of a full context 32: to choose by shares
// 2 * 6 * 4 / 8 = 6; to mix means 2 * 6 * 9 / 8, rounded down 13. 3 chosen blocks have
// 24 keys of 2 * 6 * 9.
TEST(Work, CountsMeansOfBlocksAndChosenBlocks) {
  Program program(R"(
func.func @forward(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: tensor<?x2x5xf32>, %p: tensor<?xi32>,
                   %s: tensor<8x2x4xf32>, %t: tensor<8x2x5xf32>, %a: tensor<64x2x4xf32>, %b: tensor<64x2x5xf32>)
    -> tensor<?x6x5xf32> {
  %c, %n0 = seq.choose_blocks %q, %k positions(%p) state(%s)
      {block = 8 : i64, scale = 1.0 : f64, score = #seq.block_score<share>}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?xi32>, tensor<8x2x4xf32>)
        -> (tensor<?x2x3xi32>, tensor<8x2x4xf32>)
  %m, %n1, %n2 = seq.mix_block_means %q, %k, %v positions(%p) states(%s, %t) {block = 8 : i64, scale = 1.0 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x5xf32>, tensor<?xi32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
        -> (tensor<?x6x5xf32>, tensor<8x2x4xf32>, tensor<8x2x5xf32>)
  %y, %n3, %n4 = seq.attention %q, %k, %v positions(%p) blocks(%c) states(%a, %b) {block = 8 : i64, scale = 1.0 : f64}
      : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, tensor<?x2x5xf32>, tensor<?xi32>, tensor<?x2x3xi32>,
         tensor<64x2x4xf32>, tensor<64x2x5xf32>) -> (tensor<?x6x5xf32>, tensor<64x2x4xf32>, tensor<64x2x5xf32>)
  %z = seq.add %y, %m : tensor<?x6x5xf32>
  return %z : tensor<?x6x5xf32>
}
)");
  Work work = countWork(program.getFunction());
  EXPECT_EQ(work.perToken, 32u * (6 + 13) + 24u * 108);
  ASSERT_EQ(work.keys.size(), 2u);
  EXPECT_EQ(work.keys[0].window, 0u);
  EXPECT_EQ(work.keys[0].flops, 19u);
  EXPECT_EQ(work.keys[1].window, 24u);
  EXPECT_EQ(work.keys[1].flops, 108u);
}

static Work mixerOf(int64_t keys, int64_t values) {
  std::string k = std::to_string(keys), v = std::to_string(values);
  std::string x = "tensor<?x4x" + v + "xf32>", b = "tensor<?x2x" + k + "xf32>",
              s = "tensor<4x" + k + "x" + v + "xf32>";
  Program program("func.func @forward(%x: " + x +
                  ", %dt: tensor<?x4xf32>, %b: " + b +
                  ", %h: tensor<4xf32>, "
                  "%s: " +
                  s + ") -> " + x +
                  " {\n  %y, %n = seq.ssd %x, %dt, %b, %b parameters(%h, %h, "
                  "%h) state(%s) : (" +
                  x + ", tensor<?x4xf32>, " + b + ", " + b +
                  "), (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>), " + s +
                  "\n  return %y : " + x + "\n}\n");
  return countWork(program.getFunction());
}

// 4 heads. With 5 x 3 states the step is cheapest: 5 * 15 = 75, where chunks
// take 60 + 16 * 8. With 128 x 64 states chunks of 16 are: 4 * 8192 + 16 * 192
// = 35840, where the step takes 40960.
TEST(Work, TakesAMixersCheapestForm) {
  EXPECT_EQ(mixerOf(5, 3).perToken, 4u * 75);
  EXPECT_EQ(mixerOf(128, 64).perToken, 4u * 35840);
  EXPECT_EQ(mixerOf(128, 64).perOutputRow, 0u);
}

// 2 heads with states of 3 x 5, to which two products are added: 2 * 15 to read and
// 2 * 15 to write each.
TEST(Work, CountsSeveralWrites) {
  Program program(R"(
#key = affine_map<(h, k, v) -> (h, k)>
#value = affine_map<(h, k, v) -> (h, v)>
#state = affine_map<(h, k, v) -> (h, k, v)>
func.func @forward(%c: tensor<?x2x3xf32>, %x: tensor<?x2x5xf32>, %z: tensor<?x2x5xf32>, %s0: tensor<2x3x5xf32>)
    -> tensor<?x2x5xf32> {
  %y, %n = seq.recurrence
      tokens(%k = %c : tensor<?x2x3xf32>, %v = %x : tensor<?x2x5xf32>, %w = %z : tensor<?x2x5xf32>)
      parameters() states(%s = %s0 : tensor<2x3x5xf32>) -> (tensor<?x2x5xf32>), (tensor<2x3x5xf32>) {
    %a = seq.contract %k, %v {indexing_maps = [#key, #value, #state]}
        : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
    %b = seq.contract %k, %w {indexing_maps = [#key, #value, #state]}
        : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
    %half = seq.add %s, %a : tensor<2x3x5xf32>
    %next = seq.add %half, %b : tensor<2x3x5xf32>
    %read = seq.contract %k, %next {indexing_maps = [#key, #state, #value]}
        : (tensor<2x3xf32>, tensor<2x3x5xf32>) -> tensor<2x5xf32>
    seq.yield %read, %next : tensor<2x5xf32>, tensor<2x3x5xf32>
  }
  return %y : tensor<?x2x5xf32>
}
)");
  EXPECT_EQ(countWork(program.getFunction()).perToken, 2u * 90);
}

// Keys of 6 x 5 for both halves: 60. 2 heads choose 3 of 9 rows: of 7 channels
// 6 * 14 as they are, twice that as experts of one unit. 2 of 4 experts with 5
// units for 7 channels: 2 * 3 * 5 rows of 7, 420 FLOPs.
TEST(Work, CountsWhatIsChosen) {
  Program program(R"(
func.func @forward(%x: tensor<?x7xf32>, %q: tensor<?x10xf32>, %keys: tensor<6x5xf32>,
                   %s2: tensor<?x2x2x3xf32>, %l: tensor<?x4xf32>, %rows: tensor<9x7xf32>,
                   %gate_up: tensor<40x7xf32>, %down: tensor<28x5xf32>) {
  %s = seq.key_scores %q, %keys {layout = #seq.key_layout<head_half>}
      : (tensor<?x10xf32>, tensor<6x5xf32>) -> tensor<?x2x1x3xf32>
  %a = seq.product_key_memory %s2 parameters(%rows) {top_k = 3 : i64}
      : tensor<?x2x2x3xf32>, (tensor<9x7xf32>) -> tensor<?x7xf32>
  %b = seq.product_key_experts %x, %s2 parameters(%rows, %rows)
      {top_k = 3 : i64, nonlinearity = #seq.nonlinearity<silu>}
      : (tensor<?x7xf32>, tensor<?x2x2x3xf32>), (tensor<9x7xf32>, tensor<9x7xf32>)
  %c = seq.routed_experts %x, %l parameters(%gate_up, %down)
      {top_k = 2 : i64, nonlinearity = #seq.nonlinearity<silu>}
      : (tensor<?x7xf32>, tensor<?x4xf32>), (tensor<40x7xf32>, tensor<28x5xf32>)
  return
}
)");
  EXPECT_EQ(countWork(program.getFunction()).perToken, 60u + 84 + 168 + 420);
}

static Work windowOf(std::string attributes) {
  Program program(
      "func.func @forward(%q: tensor<?x6x4xf32>, %k: tensor<?x2x4xf32>, %v: "
      "tensor<?x2x5xf32>, %p: tensor<?xi32>, %a: tensor<32x2x4xf32>, %b: "
      "tensor<32x2x5xf32>) -> tensor<?x6x5xf32> {\n  %y, %c, %d = "
      "seq.attention %q, %k, %v positions(%p) states(%a, %b) {" +
      attributes +
      "scale = 1.0 : f64} : (tensor<?x6x4xf32>, tensor<?x2x4xf32>, "
      "tensor<?x2x5xf32>, tensor<?xi32>, tensor<32x2x4xf32>, "
      "tensor<32x2x5xf32>) -> (tensor<?x6x5xf32>, tensor<32x2x4xf32>, "
      "tensor<32x2x5xf32>)\n  return %y : tensor<?x6x5xf32>\n}\n");
  return countWork(program.getFunction());
}

// 6 heads of 4 key and 5 value channels: 2 * 9 for each head and key. A table
// of 32 keys shows 16 on the mean, a window of 7 keys 7.
TEST(Work, CountsTheKeysInSight) {
  Work all = windowOf(""), last = windowOf("window = 7 : i64, ");
  EXPECT_EQ(all.perToken, 6u * 18 * 16);
  EXPECT_EQ(last.perToken, 6u * 18 * 7);
  ASSERT_EQ(all.keys.size(), 1u);
  EXPECT_EQ(all.keys[0].window, 0u);
  EXPECT_EQ(all.keys[0].flops, 6u * 18);
  EXPECT_EQ(all.keys[0].counted, 16u);
  ASSERT_EQ(last.keys.size(), 1u);
  EXPECT_EQ(last.keys[0].window, 7u);
  EXPECT_EQ(last.keys[0].flops, 6u * 18);
  EXPECT_EQ(last.keys[0].counted, 7u);
}

// 3 first tokens beside a window of 7: 10 keys, of one key and one value
// channel.
TEST(Work, CountsTheFirstTokensThatStay) {
  Program program(R"(
func.func @forward(%x: tensor<?x1x1xf32>, %p: tensor<?xi32>, %r: tensor<8x1x1xf32>, %f: tensor<3x1x1xf32>) {
  %y, %a, %b, %c, %d = seq.attention %x, %x, %x positions(%p) sink_query(%x) states(%r, %r) sink_states(%f, %f)
      {window = 7 : i64, scale = 1.0 : f64}
      : (tensor<?x1x1xf32>, tensor<?x1x1xf32>, tensor<?x1x1xf32>, tensor<?xi32>, tensor<?x1x1xf32>, tensor<8x1x1xf32>,
         tensor<8x1x1xf32>, tensor<3x1x1xf32>, tensor<3x1x1xf32>)
        -> (tensor<?x1x1xf32>, tensor<8x1x1xf32>, tensor<8x1x1xf32>, tensor<3x1x1xf32>, tensor<3x1x1xf32>)
  return
}
)");
  EXPECT_EQ(countWork(program.getFunction()).perToken, 2u * 2 * 10);
}
