// What ops read and write, and between which of them a barrier must lie.
#include "passes/tile/Barriers.h"
#include "test/unit/passes/tile/KernelText.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;
using namespace effc::tile::test;

namespace {

using Memory = MemoryAccess::Memory;

MemoryAccess bytes(int64_t begin, int64_t end, bool writes,
                   Operation *op = nullptr) {
  return {{Value(), begin, end}, writes, op};
}

TEST(Barriers, BytesMeetWhereTheyOverlap) {
  Memory middle{Value(), 64, 128};
  EXPECT_TRUE(middle.meets({Value(), 0, 65}));
  EXPECT_FALSE(middle.meets({Value(), 0, 64})); // the end is not theirs
  EXPECT_TRUE(middle.meets({Value(), 127, 200}));
  EXPECT_FALSE(middle.meets({Value(), 128, 200}));
  EXPECT_TRUE(middle.meets({Value(), 80, 96}));
}

TEST(Barriers, ViewsMeetThemselvesAlone) {
  KernelText kernel(32, "");
  Value s = kernel.get().getOperandArguments()[0],
        w = kernel.get().getOperandArguments()[1];
  EXPECT_TRUE(Memory{s}.meets({s}));
  EXPECT_FALSE(Memory{s}.meets({w}));
  EXPECT_FALSE(Memory{s}.meets({Value(), 0, 64}));
}

TEST(Barriers, LieBetweenAWriteAndWhateverElse) {
  EXPECT_FALSE(bytes(0, 64, false).conflicts(bytes(0, 64, false)));
  EXPECT_TRUE(bytes(0, 64, true).conflicts(bytes(32, 96, false)));
  EXPECT_TRUE(bytes(0, 64, false).conflicts(bytes(32, 96, true)));
  EXPECT_TRUE(bytes(0, 64, true).conflicts(bytes(32, 96, true)));
  EXPECT_FALSE(bytes(0, 32, true).conflicts(bytes(32, 96, true)));
}

TEST(Barriers, KeepWhatCameSinceTheLast) {
  AccessesSinceBarrier since;
  EXPECT_FALSE(since.needsBarrierBefore({bytes(0, 64, true)}));
  EXPECT_FALSE(since.needsBarrierBefore({bytes(64, 128, true)}));
  EXPECT_TRUE(since.needsBarrierBefore({bytes(0, 64, false)}));
  // Both writes lie before the barrier; only the read since.
  EXPECT_FALSE(since.needsBarrierBefore({bytes(64, 128, false)}));
  EXPECT_FALSE(since.needsBarrierBefore({bytes(0, 64, false)}));
  EXPECT_TRUE(since.needsBarrierBefore({bytes(0, 16, true)}));
  since.clear(); // one that stood there
  EXPECT_FALSE(since.needsBarrierBefore({bytes(0, 16, false)}));
}

TEST(Barriers, ForgetNothingOfAnotherWay) {
  AccessesSinceBarrier before, since;
  EXPECT_FALSE(before.needsBarrierBefore({bytes(0, 64, true)}));
  EXPECT_FALSE(since.needsBarrierBefore({bytes(64, 128, true)}));
  since.join(before);
  EXPECT_TRUE(since.needsBarrierBefore({bytes(0, 64, false)}));
}

// An access without its op, to be compared.
std::tuple<void *, int64_t, int64_t, bool> parts(const MemoryAccess &access) {
  return {access.memory.view.getAsOpaquePointer(), access.memory.begin,
          access.memory.end, access.writes};
}

std::vector<std::tuple<void *, int64_t, int64_t, bool>>
accesses(Operation *op) {
  std::vector<std::tuple<void *, int64_t, int64_t, bool>> all;
  for (const MemoryAccess &access : accessesOf(op)) {
    EXPECT_EQ(access.op, op);
    all.push_back(parts(access));
  }
  return all;
}

TEST(Barriers, FollowTilesAndViews) {
  KernelText kernel(32, R"(
    %a = tile.load %s[%c0, %c0] sizes [8, 16] : !tile.view<8x16xf32, [16, 1]>
        -> !tile.tile<8x16xf32, operand, #tile.shared<threads = 32, offset = 1024, stride = 24>>
    %zero = tile.splat %f0 : !tile.tile<8x8xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>
    %d = tile.dot %zero, %a, %a transpose_b
        : !tile.tile<8x8xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>,
          !tile.tile<8x16xf32, operand, #tile.shared<threads = 32, offset = 1024, stride = 24>>,
          !tile.tile<8x16xf32, operand, #tile.shared<threads = 32, offset = 1024, stride = 24>>
    tile.store %d, %s[%c0, %c0] sizes [8, 8]
        : !tile.tile<8x8xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>, !tile.view<8x16xf32, [16, 1]>
    %r = tile.reduce add %d over rows scratch 32
        : !tile.tile<8x8xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>
          -> !tile.tile<8xf32, row, #tile.mma<threads = 32, row_warps = 1>>
  )");
  using Parts = decltype(accesses(nullptr));
  void *s = kernel.get().getOperandArguments()[0].getAsOpaquePointer();
  // 8 rows, rounded up to 16, of 24 f32.
  int64_t begin = 1024, end = 1024 + 16 * 24 * 4;
  EXPECT_EQ(accesses(kernel.op<LoadOp>()),
            (Parts{{s, 0, 0, false}, {nullptr, begin, end, true}}));
  EXPECT_EQ(accesses(kernel.op<SplatOp>()), Parts{}); // registers are one's own
  EXPECT_EQ(
      accesses(kernel.op<DotOp>()),
      (Parts{{nullptr, begin, end, false}, {nullptr, begin, end, false}}));
  EXPECT_EQ(accesses(kernel.op<StoreOp>()), (Parts{{s, 0, 0, true}}));
  // One warp's 8 sums of 4 bytes.
  EXPECT_EQ(accesses(kernel.op<ReduceOp>()), (Parts{{nullptr, 32, 64, true}}));
}

TEST(Barriers, LeaveARingToItsOwnLoop) {
  KernelText kernel(32, R"(
    %r = tile.ring : !tile.tile<16x64xbf16, operand, #tile.shared<threads = 32, offset = 0, stride = 72, slots = 3>>
    tile.fetch %w[%c0, %c0] sizes [16, 64] into %r[%c0] : !tile.view<16x64xbf16, [64, 1]>,
        !tile.tile<16x64xbf16, operand, #tile.shared<threads = 32, offset = 0, stride = 72, slots = 3>>
    tile.commit
    %a = tile.await %r[%c0] pending 0
        : (!tile.tile<16x64xbf16, operand, #tile.shared<threads = 32, offset = 0, stride = 72, slots = 3>>)
          -> !tile.tile<16x64xbf16, operand, #tile.shared<threads = 32, offset = 0, stride = 72>>
    %zero = tile.splat %f0 : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>
    %d = tile.dot %zero, %a, %a transpose_b
        : !tile.tile<16x16xf32, accumulator, #tile.mma<threads = 32, row_warps = 1>>,
          !tile.tile<16x64xbf16, operand, #tile.shared<threads = 32, offset = 0, stride = 72>>,
          !tile.tile<16x64xbf16, operand, #tile.shared<threads = 32, offset = 0, stride = 72>>
  )");
  EXPECT_TRUE(accessesOf(kernel.op<AwaitOp>()).empty());
  SmallVector<MemoryAccess> fetch = accessesOf(kernel.op<FetchOp>()),
                            dot = accessesOf(kernel.op<DotOp>());
  ASSERT_EQ(fetch.size(), 2u);
  ASSERT_EQ(dot.size(), 2u);
  // All slots, whichever it is: 3 of 16 rows of 72 bf16.
  const MemoryAccess &written = fetch[1];
  EXPECT_TRUE(written.writes);
  EXPECT_EQ(written.memory.end, 3 * 16 * 72 * 2);
  EXPECT_EQ(dot[0].memory.end, 3 * 16 * 72 * 2);
  EXPECT_FALSE(dot[0].conflicts(written));
  // Who else comes to the bytes waits.
  EXPECT_TRUE(bytes(4096, 4112, true).conflicts(dot[0]));
}

// A load and a store of %s, the second of which is `store`, of a tile of type
// `type`; whether a barrier lies between them.
bool waits(StringRef type, StringRef store, StringRef storedType = "",
           StringRef load = "%s[%c0, %c0] sizes [8, 16]") {
  std::string tile = "!tile.tile<" + type.str() + ">";
  std::string other =
      storedType.empty() ? tile : "!tile.tile<" + storedType.str() + ">";
  KernelText kernel(32, "%a = tile.load " + load.str() +
                            " : !tile.view<8x16xf32, [16, 1]> -> " + tile +
                            "\n%b = tile.splat %f0 : " + other +
                            "\ntile.store %b, " + store.str() + " : " + other +
                            ", !tile.view<8x16xf32, [16, 1]>\n");
  AccessesSinceBarrier since;
  EXPECT_FALSE(since.needsBarrierBefore(accessesOf(kernel.op<LoadOp>())));
  return since.needsBarrierBefore(accessesOf(kernel.op<StoreOp>()));
}

TEST(Barriers, DoNotPartAThreadFromItself) {
  StringRef whole = "%s[%c0, %c0] sizes [8, 16]";
  StringRef type =
      "8x16xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 4>";
  EXPECT_FALSE(waits(type, whole));
  // Lying otherwise an element is another thread's.
  EXPECT_TRUE(waits(
      type, whole,
      "8x16xf32, accumulator, #tile.lin<threads = 32, lanes = 8, vector = 2>"));
  // So it is in another box, and past a limit.
  EXPECT_TRUE(waits(type, "%s[%c1, %c0] sizes [8, 16]", "", whole));
  EXPECT_TRUE(waits(type, "%s[%c0, %c0] rows(%c1) sizes [8, 16]"));
  // 12 columns are three lanes' four: the fourth lane reads the first element.
  EXPECT_TRUE(waits(
      "8x12xf32, accumulator, #tile.lin<threads = 32, lanes = 4, vector = 4>",
      "%s[%c0, %c0] sizes [8, 12]", "", "%s[%c0, %c0] sizes [8, 12]"));
  // A row is every thread group's.
  EXPECT_TRUE(
      waits("16xf32, row, #tile.lin<threads = 32, lanes = 4, vector = 4>",
            "%s[%c0, %c0] sizes [1, 16]", "", "%s[%c0, %c0] sizes [1, 16]"));
}

} // namespace
