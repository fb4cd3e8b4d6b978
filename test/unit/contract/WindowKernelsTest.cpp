// Compiled kernels of class window agree with the reference in double, and
// their bits do not depend on how sequences are packed, cut and dealt out.
#include "test/LongCheck.h"
#include "test/unit/contract/MoreShapes.h"
#include "test/unit/contract/WindowModel.h"

#include "gtest/gtest.h"

#include <chrono>

using namespace mlir;
using namespace effc;
using namespace effc::test;

namespace {

/// A shape by chance; a ring has room for the sequences of the tests where all
/// keys are seen, in whole blocks of 32 rows.
WindowCase pickShape(Random &random) {
  int64_t few = pick(random, 1, 3), more = few * pick(random, 1, 2);
  bool moreKeys = pick(random, 0, 1), isFull = pick(random, 0, 3) == 0;
  WindowCase s = {.H = more * pick(random, 1, 3),
                  .G = moreKeys ? more : few,
                  .J = moreKeys ? few : more,
                  .K = pick(random, 1, 80),
                  .V = pick(random, 1, 80),
                  .W =
                      isFull ? 32 * pick(random, 6, 8) : 8 * pick(random, 1, 9),
                  .window = 0};
  if (!isFull)
    s.window = pick(random, std::max<int64_t>(1, s.W - 16), s.W);
  if (pick(random, 0, 2) == 0)
    s.softCap = pickReal(random, 0.5, 4);
  s.sinks = pick(random, 0, 2) == 0;
  s.slopes = pick(random, 0, 2) == 0;
  s.S = isFull || pick(random, 0, 2) ? 0 : pick(random, 1, 45);
  if (pick(random, 0, 1)) {
    static const char *const kinds[] = {"bias", "scale", "threshold"};
    s.keyScore = kinds[pick(random, 0, 2)];
    s.N = pick(random, 0, 1) ? s.G : s.H;
    s.keep = pick(random, 0, 1) ? pick(random, 1, s.W) : 0;
  }
  s.keysAlone = s.mayKeepKeysAlone() && pick(random, 0, 1);
  return s;
}

/// Channels below, at and above the 8 lanes of a vector and the runs of 16, 32
/// and 64 lanes; rings whose blocks have 32, 16, 8, 4 and 1 keys; windows of
/// one key, of less than a block, of a block, of a ring; groups of 1, 2, 3 and
/// 6 heads; all keys, some and a single one by their numbers; first tokens that
/// stay, less than a block of them and more; heads so wide that a GPU's blocks
/// have half the keys; values that are a part of their keys, or all of it.
std::vector<std::unique_ptr<WindowModel>> &cases() {
  static const WindowCase shapes[] = {
      {.H = 6, .G = 2, .J = 2, .K = 8, .V = 5, .W = 64, .window = 33},
      {.H = 6, .G = 3, .J = 1, .K = 8, .V = 5, .W = 64, .window = 33, .S = 4},
      {.H = 1, .G = 1, .J = 1, .K = 5, .V = 7, .W = 32, .window = 32},
      {.H = 3, .G = 3, .J = 3, .K = 16, .V = 20, .W = 96, .window = 70},
      {.H = 6, .G = 1, .J = 1, .K = 20, .V = 8, .W = 40, .window = 40},
      {.H = 6, .G = 1, .J = 6, .K = 33, .V = 64, .W = 48, .window = 41},
      {.H = 6, .G = 6, .J = 2, .K = 7, .V = 33, .W = 32, .window = 1},
      {.H = 6, .G = 3, .J = 3, .K = 64, .V = 65, .W = 5, .window = 5},
      {.H = 2, .G = 1, .J = 1, .K = 100, .V = 16, .W = 36, .window = 9},
      {.H = 4, .G = 2, .J = 2, .K = 9, .V = 12, .W = 256},
      {.H = 3, .G = 1, .J = 3, .K = 12, .V = 40, .W = 224},
      {.H = 6,
       .G = 2,
       .J = 2,
       .K = 11,
       .V = 13,
       .W = 64,
       .window = 50,
       .softCap = 1.5},
      {.H = 6,
       .G = 2,
       .J = 6,
       .K = 10,
       .V = 14,
       .W = 32,
       .window = 23,
       .sinks = true},
      {.H = 4, .G = 1, .J = 2, .K = 18, .V = 17, .W = 192, .slopes = true},
      {.H = 6,
       .G = 3,
       .J = 3,
       .K = 24,
       .V = 19,
       .W = 64,
       .window = 64,
       .softCap = 3,
       .sinks = true,
       .slopes = true},
      {.H = 6,
       .G = 3,
       .J = 3,
       .K = 14,
       .V = 15,
       .W = 160 + 32,
       .keyScore = "bias",
       .N = 3},
      {.H = 6,
       .G = 1,
       .J = 6,
       .K = 8,
       .V = 9,
       .W = 64,
       .window = 45,
       .slopes = true,
       .keyScore = "scale",
       .N = 2},
      {.H = 4,
       .G = 2,
       .J = 2,
       .K = 13,
       .V = 6,
       .W = 32,
       .window = 29,
       .softCap = 2,
       .sinks = true,
       .keyScore = "threshold",
       .N = 1},
      {.H = 3,
       .G = 1,
       .J = 1,
       .K = 16,
       .V = 5,
       .W = 48,
       .window = 30,
       .keyScore = "threshold",
       .N = 3},
      {.H = 6,
       .G = 2,
       .J = 2,
       .K = 12,
       .V = 7,
       .W = 64,
       .window = 61,
       .keyScore = "bias",
       .N = 2,
       .keep = 9},
      {.H = 4,
       .G = 1,
       .J = 4,
       .K = 5,
       .V = 11,
       .W = 192,
       .sinks = true,
       .keyScore = "threshold",
       .N = 4,
       .keep = 40},
      {.H = 2,
       .G = 2,
       .J = 2,
       .K = 9,
       .V = 8,
       .W = 40,
       .window = 35,
       .slopes = true,
       .keyScore = "scale",
       .N = 1,
       .keep = 1},
      {.H = 3, .G = 1, .J = 3, .K = 6, .V = 9, .W = 32, .window = 1, .S = 2},
      {.H = 2,
       .G = 2,
       .J = 2,
       .K = 10,
       .V = 12,
       .W = 40,
       .window = 20,
       .softCap = 2,
       .slopes = true,
       .S = 41},
      {.H = 4,
       .G = 2,
       .J = 2,
       .K = 9,
       .V = 7,
       .W = 32,
       .window = 12,
       .sinks = true,
       .slopes = true,
       .keyScore = "scale",
       .N = 2,
       .S = 35},
      {.H = 6,
       .G = 3,
       .J = 3,
       .K = 5,
       .V = 11,
       .W = 48,
       .window = 17,
       .keyScore = "bias",
       .N = 1,
       .keep = 6,
       .S = 9},
      {.H = 3, .G = 1, .J = 1, .K = 340, .V = 310, .W = 64, .window = 47},
      {.H = 4, .G = 1, .J = 1, .K = 21, .V = 16, .W = 256, .keysAlone = true},
      {.H = 6, .G = 3, .J = 3, .K = 36, .V = 36, .W = 192, .keysAlone = true}};
  static std::vector<std::unique_ptr<WindowModel>> list;
  if (!list.empty())
    return list;
  Random random(20261125);
  for (const WindowCase &shape : shapes)
    list.push_back(std::make_unique<WindowModel>(shape, list.size()));
  for (int64_t i = moreShapes(); i > 0; --i)
    list.push_back(
        std::make_unique<WindowModel>(pickShape(random), list.size()));
  return list;
}

TEST(WindowKernels, AgreeWithTheReference) {
  double worst = 0;
  for (const std::unique_ptr<WindowModel> &w : cases()) {
    SCOPED_TRACE(w->shape.text());
    double error = worstError(*w, w->compiled(), /*compareStates=*/true);
    EXPECT_LE(error, 1e-5);
    worst = std::fmax(worst, error);
  }
  std::printf("largest relative error %.1e\n", worst);
}

/// The largest error of the first `count` cases; none may be above `most`.
double worstOf(size_t count, StateStorage states, Products products,
               double most) {
  double worst = 0;
  for (const std::unique_ptr<WindowModel> &w :
       ArrayRef(cases()).take_front(count)) {
    SCOPED_TRACE(w->shape.text());
    PlanRunner runner = w->compile(WindowModel::optionsFor(states, products));
    double error = worstError(*w, runner, states == StateStorage::F32);
    EXPECT_LE(error, most);
    worst = std::fmax(worst, error);
  }
  std::printf("largest relative error %.1e\n", worst);
  return worst;
}

// Keys and values of bf16 are rounded when they are made, on a GPU when the call that
// brings them ends, and widened where they are read: 8 bits, so some 2^-9 of each.
TEST(WindowKernels, AgreeWithTheReferenceWithStatesOfBf16) {
  EXPECT_GE(worstOf(9, StateStorage::BF16, Products::F32, 2e-2), 1e-4);
}

// The same of f16 with 11 bits.
TEST(WindowKernels, AgreeWithTheReferenceWithStatesOfF16) {
  double worst = worstOf(9, StateStorage::F16, Products::F32, 2.5e-3);
  EXPECT_GE(worst, 1e-5);
}

// Of 8 bits an error is at most 1 / 254 of a row's largest number.
TEST(WindowKernels, AgreeWithTheReferenceWithStatesOf8Bits) {
  if (testTarget().device != tile::Device::Host)
    GTEST_SKIP() << "a GPU has no such states";
  EXPECT_GE(worstOf(5, StateStorage::Int8, Products::F32, 3e-2), 1e-4);
}

// So on the host no token tells by which calls its keys were brought. Each case has one
// of the types, and all of them in a wide check.
TEST(WindowKernels, HaveTheSameBitsInAnyPiecesWithStatesOfFewerBits) {
  if (testTarget().device != tile::Device::Host)
    GTEST_SKIP() << "a GPU rounds keys when a call ends";
  StateStorage all[] = {StateStorage::BF16, StateStorage::F16,
                        StateStorage::Int8};
  for (auto [number, w] : llvm::enumerate(ArrayRef(cases()).take_front(9)))
    for (auto [type, states] : llvm::enumerate(all)) {
      if (!isWideCheck() && type != number % std::size(all))
        continue;
      SCOPED_TRACE(w->shape.text());
      PlanRunner runner = w->compile(WindowModel::optionsFor(states));
      for (int64_t start : {0, 96}) {
        WindowSequence sequence = w->pickSequence(83, start);
        WindowOutcome whole = w->inPieces(runner, sequence, {83});
        EXPECT_TRUE(w->inPieces(runner, sequence, {1, 2, 3, 16, 5, 32, 11}) ==
                    whole);
        EXPECT_TRUE(w->inPieces(runner, sequence, {13}) == whole)
            << "prefill, then decode";
      }
    }
}

// Queries, keys, their weights and values, on a GPU, each by as much.
TEST(WindowKernels, AgreeWithTheReferenceWithRoundedProducts) {
  bool rounds = testTarget().device != tile::Device::Host;
  double worst =
      worstOf(4, StateStorage::F32, Products::BF16, rounds ? 2e-2 : 1e-5);
  EXPECT_EQ(worst >= 1e-4, rounds);
}

TEST(WindowKernels, HaveTheSameBitsInAnyPieces) {
  for (const std::unique_ptr<WindowModel> &w : cases()) {
    SCOPED_TRACE(w->shape.text());
    PlanRunner &runner = w->compiled(/*bitStable=*/true);
    for (int64_t start : {0, 7, 96}) {
      WindowSequence sequence = w->pickSequence(83, start);
      WindowOutcome whole = w->inPieces(runner, sequence, {83});
      EXPECT_TRUE(w->inPieces(runner, sequence, {1, 2, 3, 16, 5, 32, 11}) ==
                  whole);
      EXPECT_TRUE(w->inPieces(runner, sequence, {64, 19}) == whole);
      EXPECT_TRUE(w->inPieces(runner, sequence, {13}) == whole)
          << "prefill, then decode";
      EXPECT_TRUE(w->inPieces(runner, sequence, {}) == whole) << "decode alone";
    }
  }
}

TEST(WindowKernels, HaveTheSameBitsAloneAndAmongOthersAndDealtOutInAnyWay) {
  for (const std::unique_ptr<WindowModel> &w : cases()) {
    SCOPED_TRACE(w->shape.text());
    std::vector<WindowSequence> sequences = pickSequences(*w);
    PlanRunner &runner = w->compiled();
    for (int64_t parts : {1, 3, 64}) {
      runner.parts = parts;
      for (auto [slot, sequence] : llvm::enumerate(sequences)) {
        w->clear(runner, slot);
        w->place(runner, sequence, slot);
      }
      std::vector<float> rows = runner.prefill(prefixes(sequences, 0));
      ArrayRef<float> rest = rows;
      std::vector<WindowOutcome> among;
      for (auto [slot, sequence] : llvm::enumerate(sequences)) {
        int64_t elements = sequence.size() * w->shape.H * w->shape.V;
        among.push_back(
            {rest.take_front(elements).vec(), w->states(runner, slot)});
        rest = rest.drop_front(elements);
      }
      for (auto [slot, sequence] : llvm::enumerate(sequences))
        EXPECT_TRUE(w->inPieces(runner, sequence, sequence.size()) ==
                    among[slot])
            << "sequence " << slot << " in " << parts << " parts";
    }
  }
}

// Once a window has passed the first tokens, nothing depends on how far away
// they are: past what f32 counts, what i32 counts, and close to the last
// position. The pieces that a GPU cuts keys into do (WindowPiecesTest.cpp).
TEST(WindowKernels, HaveTheSameBitsAtAnyDistanceFromTheStart) {
  size_t moved = 0;
  for (const std::unique_ptr<WindowModel> &w : cases()) {
    SCOPED_TRACE(w->shape.text());
    if (!w->shape.window)
      continue;
    PlanRunner &runner = w->compiled(/*bitStable=*/true);
    int64_t start = 2 * w->shape.W + 3 + w->shape.S;
    WindowSequence sequence = w->pickSequence(29, start);
    WindowOutcome near = w->inPieces(runner, sequence, {26});
    for (int64_t far : {int64_t(1) << 24, int64_t(1) << 31, int64_t(1) << 32,
                        (int64_t(1) << 48) - 4096}) {
      // In the same row of a ring, and some tokens before the power of two.
      sequence.start = far - 8 - (far - 8 - start) % w->shape.W;
      EXPECT_TRUE(w->inPieces(runner, sequence, {26}) == near)
          << "from " << sequence.start;
      ++moved;
    }
  }
  EXPECT_GE(moved, 60u);
}

// A window has gone round at 1124, and holds the same keys in the same rows a
// multiple of 1024 later: the bits are the same, and so is the cost, which is
// printed and decides nothing.
TEST(WindowKernels, DecodeFarFromTheStartAsNearIt) {
  WindowModel w(
      {.H = 8, .G = 2, .J = 2, .K = 64, .V = 64, .W = 1024, .window = 1024},
      99);
  WindowSequence sequence = w.pickSequence(1, 1124);
  PlanRunner &runner = w.compiled();
  std::vector<float> first;
  for (int64_t start : {100, 1124, 4196, 24676}) {
    sequence.start = start;
    w.place(runner, sequence, 0);
    std::vector<float> found = runner.decode(sequence.segment(0, 0, 1));
    if (start == 1124)
      first = found;
    if (start > 1124) {
      EXPECT_TRUE(found == first) << "at " << start;
    }
    std::vector<double> times;
    for (int repeat = 0; repeat < 41; ++repeat) {
      auto begin = std::chrono::steady_clock::now();
      runner.decode(sequence.segment(0, 0, 1));
      std::chrono::duration<double, std::micro> time =
          std::chrono::steady_clock::now() - begin;
      times.push_back(time.count());
    }
    llvm::sort(times);
    std::printf("decode at %5lld: %.0f us, median of %zu\n",
                static_cast<long long>(start), times[times.size() / 2],
                times.size());
  }
}

} // namespace
