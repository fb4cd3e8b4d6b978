// Which bytes of a slot a sequence has filled: from the descriptors of its
// states alone, whatever order they stand in.

#include "runtime/src/HeldStates.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::rt;
using Ranges = std::vector<SlotRange>;

namespace {
/// States of a slot, in an order of their own.
class Program {
public:
  void add(artifact::Growth growth, std::vector<uint64_t> shape,
           uint64_t offset) {
    auto state = std::make_unique<artifact::StateT>();
    state->name = "s" + std::to_string(program.states.size());
    state->growth = growth;
    state->type = artifact::ElementType::BF16;
    state->slot_offset = offset;
    state->size = 2;
    for (uint64_t dimension : shape)
      state->size *= dimension;
    state->shape = std::move(shape);
    program.states.push_back(std::move(state));
  }
  HeldStates held() {
    flatbuffers::FlatBufferBuilder builder;
    artifact::FinishProgramBuffer(builder,
                                  artifact::Program::Pack(builder, &program));
    return HeldStates(*artifact::GetProgram(builder.GetBufferPointer()));
  }

private:
  artifact::ProgramT program;
};

/// A table of 100 rows of 70 bytes from 192 on, a window of 9 rows of 22 bytes
/// from 7232 on, a fixed state of 30 bytes at 64 and one of 128 bytes at 7488.
HeldStates mixed() {
  Program program;
  program.add(artifact::Growth::MaxContext, {100, 5, 7}, 192);
  program.add(artifact::Growth::Window, {9, 11}, 7232);
  program.add(artifact::Growth::Fixed, {3, 5}, 64);
  program.add(artifact::Growth::Fixed, {64}, 7488);
  return program.held();
}
} // namespace

static Ranges rangesOf(HeldStates held, uint64_t fewer, uint64_t more) {
  auto found = held.rangesBetween(fewer, more);
  return {found.begin(), found.end()};
}

TEST(HeldStates, GrowByRowsUntilTheyAreFull) {
  HeldStates held = mixed();
  EXPECT_EQ(held.fixedBytes(), 158u);
  EXPECT_EQ(held.bytesPerToken(), 92u);
  EXPECT_EQ(held.bytes(0), 0u);
  EXPECT_EQ(held.bytes(1), 158u + 70 + 22);
  EXPECT_EQ(held.bytes(9), 158u + 9 * 70 + 9 * 22);
  EXPECT_EQ(held.bytes(10), 158u + 10 * 70 + 9 * 22);
  EXPECT_EQ(held.bytes(1000), 158u + 100 * 70 + 9 * 22);
}

TEST(HeldStates, AreTheFirstRowsOfEach) {
  EXPECT_EQ(rangesOf(mixed(), 0, 0), Ranges());
  EXPECT_EQ(rangesOf(mixed(), 0, 3),
            (Ranges{{64, 30}, {192, 210}, {7232, 66}, {7488, 128}}));
  // The table ends at 7192 and the window at 7430: the padding behind each, below
  // 64 bytes, is passed over with them.
  EXPECT_EQ(rangesOf(mixed(), 0, 100),
            (Ranges{{64, 30}, {192, 7488 + 128 - 192}}));
}

TEST(HeldStates, BetweenTwoPositionsNothingThatIsHeld) {
  EXPECT_EQ(rangesOf(mixed(), 3, 5),
            (Ranges{{192 + 210, 140}, {7232 + 66, 44}}));
  EXPECT_EQ(rangesOf(mixed(), 9, 12), (Ranges{{192 + 630, 210}}));
  EXPECT_EQ(rangesOf(mixed(), 100, 200), Ranges());
  // Rows of two bytes: what one state holds lies closer behind the other than
  // padding could be.
  Program narrow;
  narrow.add(artifact::Growth::MaxContext, {32, 1}, 0);
  narrow.add(artifact::Growth::MaxContext, {32, 1}, 64);
  EXPECT_EQ(rangesOf(narrow.held(), 1, 32), (Ranges{{2, 62}, {66, 62}}));
  EXPECT_EQ(rangesOf(narrow.held(), 0, 32), (Ranges{{0, 128}}));
}
