// Decode steps of a GPU whose keys are cut into pieces of 64 positions: what the
// merged pieces give agrees with the reference in double, and its bits do not depend
// on which items took the pieces, nor on who shares the call.
#include "test/unit/contract/WindowModel.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace effc;
using namespace effc::test;

namespace {

constexpr int64_t kPiece = 64;

/// Rings of two to eight pieces, of which two are no multiple of a piece;
/// windows that begin and end inside of pieces and at their ends, and one that sees
/// everything; groups of 1, 2, 3 and 6 heads; caps, slopes, sinks and first tokens
/// that stay; numbers per key, which may leave no key of a piece; values that are a
/// part of their keys; heads so wide that blocks have half the keys.
const WindowCase kShapes[] = {
    {.H = 6, .G = 2, .J = 2, .K = 8, .V = 5, .W = 352, .window = 330},
    {.H = 6,
     .G = 3,
     .J = 3,
     .K = 12,
     .V = 20,
     .W = 288,
     .window = 257,
     .softCap = 1.5,
     .sinks = true},
    {.H = 4, .G = 2, .J = 4, .K = 9, .V = 13, .W = 512, .slopes = true},
    {.H = 6,
     .G = 1,
     .J = 1,
     .K = 10,
     .V = 14,
     .W = 128,
     .window = 65,
     .sinks = true,
     .slopes = true,
     .S = 41},
    {.H = 6,
     .G = 6,
     .J = 2,
     .K = 11,
     .V = 7,
     .W = 384,
     .window = 300,
     .keyScore = "threshold",
     .N = 3},
    {.H = 3, .G = 1, .J = 1, .K = 21, .V = 16, .W = 512, .keysAlone = true},
    {.H = 2, .G = 1, .J = 1, .K = 340, .V = 310, .W = 256, .window = 131}};

/// Of entries of one row an item has one piece, of the larger ones several: of 100 rows
/// every other one of the first shape's, of 600 all.
PipelineOptions options(StateStorage states = StateStorage::F32,
                        Products products = Products::F32,
                        int64_t mostRows = 600) {
  PipelineOptions options = WindowModel::optionsFor(states, products);
  options.bitStableOnGpu = false;
  options.decodeRows = {1, mostRows};
  return options;
}

/// Of a module: launches that merge pieces, others that append to rings, and the items
/// of a segment in the entry of one row and in the larger one.
struct Launches {
  int64_t merging = 0, appending = 0;
  SmallVector<int64_t> items;
};
Launches launchesOf(ModuleOp module) {
  Launches launches;
  module.walk([&](plan::LaunchOp launch) {
    launches.merging += launch.getKernel().ends_with("_merge");
    launches.appending += launch.getKernel().ends_with("_append");
  });
  module.walk([&](plan::EntryOp entry) {
    if (entry.getKind() == plan::EntryKind::Decode)
      entry.walk([&](plan::LaunchOp launch) {
        if (launch.getKernel().starts_with("attention") &&
            !launch.getKernel().ends_with("_merge") &&
            !launch.getKernel().ends_with("_append"))
          launches.items.push_back(launch.getItems().getTimes());
      });
  });
  return launches;
}

bool isGpu() { return testTarget().device != tile::Device::Host; }

/// The last two tokens of each are decoded: shorter than a piece, up to a piece's last
/// position and to the first of the next, inside the second piece, and behind windows
/// whose ring has gone round, whose oldest piece has one key in sight or few.
std::vector<WindowSequence> pickLong(WindowModel &w) {
  std::vector<WindowSequence> sequences = {
      w.pickSequence(3, 0), w.pickSequence(4, kPiece - 3),
      w.pickSequence(47, 0), w.pickSequence(5, 2 * kPiece - 4),
      w.pickSequence(40, 203)};
  // Where all is seen, no more than the ring has.
  bool isWindow = w.shape.window > 0;
  sequences.push_back(w.pickSequence(
      7, isWindow ? 5 * kPiece + w.shape.window - 7 : w.shape.W - 7));
  sequences.push_back(
      w.pickSequence(11, isWindow ? 7 * w.shape.W + 77 : 3 * kPiece - 9));
  return sequences;
}

// In the entry of one row; in that of 600 an item has all pieces and merges them itself.
TEST(WindowPieces, AreMergedWhereTheCoresWouldIdle) {
  for (const WindowCase &shape : kShapes) {
    SCOPED_TRACE(shape.text());
    WindowModel w(shape, 7);
    Launches launches;
    w.compile(options(),
              [&](ModuleOp module) { launches = launchesOf(module); });
    EXPECT_EQ(launches.merging, isGpu() ? 1 : 0);
    EXPECT_EQ(launches.appending, isGpu() ? 2 : 3);
    ASSERT_EQ(launches.items.size(), 2u);
    if (isGpu()) {
      EXPECT_GT(launches.items.front(), launches.items.back());
      EXPECT_EQ(launches.items.front() % launches.items.back(), 0);
    }
  }
}

// A window of one piece; keys that are searched by every item; bits that prefill has.
TEST(WindowPieces, AreNotMadeOtherwise) {
  auto mergingOf = [](const WindowCase &shape, bool bitStable) {
    WindowModel w(shape, 7);
    PipelineOptions asked = options();
    asked.bitStableOnGpu = bitStable;
    int64_t merging = -1;
    w.compile(asked,
              [&](ModuleOp module) { merging = launchesOf(module).merging; });
    return merging;
  };
  WindowCase shape = {
      .H = 4, .G = 2, .J = 2, .K = 9, .V = 7, .W = 96, .window = kPiece};
  EXPECT_EQ(mergingOf(shape, false), 0);
  ++shape.window;
  EXPECT_EQ(mergingOf(shape, false), isGpu() ? 1 : 0);
  EXPECT_EQ(mergingOf(shape, true), 0);
  shape.keyScore = "bias", shape.N = 2, shape.keep = 5;
  EXPECT_EQ(mergingOf(shape, false), 0);
}

TEST(WindowPieces, AgreeWithTheReference) {
  double worst = 0;
  for (const WindowCase &shape : kShapes) {
    SCOPED_TRACE(shape.text());
    WindowModel w(shape, 20261129);
    PlanRunner runner = w.compile(options());
    double error = worstError(w, runner, /*compareStates=*/true, pickLong(w));
    EXPECT_LE(error, 1e-5);
    worst = std::fmax(worst, error);
  }
  std::printf("largest relative error %.1e\n", worst);
}

// As for windows that stay together (WindowKernelsTest.cpp): queries, keys, weights and
// values are rounded to bf16, 2^-9 of each.
TEST(WindowPieces, AgreeWithTheReferenceWithRoundedProducts) {
  for (const WindowCase &shape : ArrayRef(kShapes).take_front(4)) {
    SCOPED_TRACE(shape.text());
    WindowModel w(shape, 20261130);
    PlanRunner runner = w.compile(options(StateStorage::F32, Products::BF16));
    double error = worstError(w, runner, /*compareStates=*/true, pickLong(w));
    EXPECT_LE(error, isGpu() ? 2e-2 : 1e-5);
    EXPECT_EQ(error >= 1e-4, isGpu());
  }
}

/// A step of each sequence at its last token: of all of them at once, and alone.
void expectSameBits(WindowModel &w, PlanRunner &runner,
                    ArrayRef<WindowSequence> sequences) {
  auto place = [&] {
    for (auto [slot, sequence] : llvm::enumerate(sequences)) {
      w.clear(runner, slot);
      w.place(runner, sequence, slot);
    }
  };
  std::vector<PlanRunner::Segment> call;
  for (auto [slot, sequence] : llvm::enumerate(sequences))
    call.push_back(sequence.segment(slot, 0, 1));
  place();
  std::vector<float> together = runner.decode(call);
  std::vector<std::vector<float>> states;
  for (size_t slot = 0; slot < sequences.size(); ++slot)
    states.push_back(w.states(runner, slot));
  place();
  size_t width = together.size() / sequences.size();
  for (size_t slot = 0; slot < sequences.size(); ++slot) {
    EXPECT_EQ(ArrayRef(runner.decode(call[slot])),
              ArrayRef(together).slice(slot * width, width))
        << "sequence " << slot;
    EXPECT_EQ(w.states(runner, slot), states[slot]) << "sequence " << slot;
  }
}

/// Sequences among others in an entry of `rows` rows.
void expectSameBitsIn(int64_t rows, ArrayRef<WindowCase> shapes) {
  for (const WindowCase &shape : shapes) {
    SCOPED_TRACE(shape.text());
    WindowModel w(shape, 20261201);
    PlanRunner runner =
        w.compile(options(StateStorage::F32, Products::F32, rows));
    std::vector<WindowSequence> sequences;
    bool isWindow = w.shape.window > 0;
    for (int64_t position :
         {int64_t(0), int64_t(1), kPiece - 1, kPiece, int64_t(250),
          isWindow ? 7 * w.shape.W + 77 : w.shape.W - 1,
          isWindow ? 5 * kPiece + w.shape.window - 2 : w.shape.W - 30})
      sequences.push_back(w.pickSequence(1, position));
    for (int64_t parts : {1, 5}) {
      runner.parts = parts;
      expectSameBits(w, runner, sequences);
    }
  }
}

// Rings of bf16 begin with what bf16 holds; what a call adds is rounded by 2^-9.
TEST(WindowPieces, AgreeWithTheReferenceWithStatesOfBf16) {
  for (const WindowCase &shape : ArrayRef(kShapes).take_front(2)) {
    SCOPED_TRACE(shape.text());
    WindowModel w(shape, 20261204);
    PlanRunner runner = w.compile(options(StateStorage::BF16));
    double error = worstError(w, runner, /*compareStates=*/true, pickLong(w));
    EXPECT_LE(error, 2e-2);
    EXPECT_GE(error, 1e-4);
  }
}

// Alone the entry of one row takes a sequence. Items run in any order.
TEST(WindowPieces, HaveTheSameBitsAloneAndAmongOthers) {
  expectSameBitsIn(600, kShapes);
  expectSameBitsIn(100, ArrayRef(kShapes).take_front(1));
}

// A ring of 128 rows holds the same keys in the same rows of the same pieces a
// multiple of 128 later, past what f32 and i32 count, and close to the last position.
TEST(WindowPieces, HaveTheSameBitsAtAnyDistanceFromTheStart) {
  WindowModel w(
      {.H = 6, .G = 2, .J = 2, .K = 8, .V = 5, .W = 128, .window = 100, .S = 7},
      20261203);
  PlanRunner runner = w.compile(options());
  WindowSequence sequence = w.pickSequence(101, 3 * 128 + 33);
  WindowOutcome near = w.inPieces(runner, sequence, {});
  for (int64_t far : {int64_t(1) << 24, int64_t(1) << 31, int64_t(1) << 32,
                      (int64_t(1) << 48) - 4096}) {
    sequence.start = far - 128 + 33;
    EXPECT_TRUE(w.inPieces(runner, sequence, {}) == near)
        << "from " << sequence.start;
  }
}

// Rings of bf16 and f16 hold what a call's end has rounded; a token's own key is as the
// call has it.
TEST(WindowPieces, HaveTheSameBitsWithStatesOf16Bits) {
  for (StateStorage states : {StateStorage::BF16, StateStorage::F16})
    for (const WindowCase &shape : ArrayRef(kShapes).take_front(2)) {
      SCOPED_TRACE(shape.text());
      WindowModel w(shape, 20261202);
      PlanRunner runner = w.compile(options(states));
      std::vector<WindowSequence> sequences;
      for (int64_t position : {int64_t(2), kPiece - 1, kPiece, int64_t(275)})
        sequences.push_back(w.pickSequence(1, position));
      expectSameBits(w, runner, sequences);
    }
}

} // namespace
