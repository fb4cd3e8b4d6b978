// Keys and values in a state file: the tokens that are held, oldest first,
// whatever ring or table they lie in, and nothing else of its rows.

#include "runtime/src/Checksum.h"
#include "runtime/src/StateFile.h"
#include "runtime/src/StateHeader.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::rt;

namespace {
constexpr uint64_t kContext = 11, kHeads = 2, kChannels = 3;
constexpr uint64_t kRow = kHeads * kChannels;

/// A model with a ring of `ring` rows and a table of `table`.
class Sequence {
public:
  Sequence(uint64_t ring, uint64_t table,
           artifact::ElementType type = artifact::ElementType::F32)
      : rooms{ring, table} {
    artifact::ProgramT program;
    program.vocabulary_size = 7;
    program.max_context = kContext;
    program.layout_id = 5;
    uint64_t each = type == artifact::ElementType::F32 ? 4 : 2;
    const char *names[] = {"ring", "table"};
    for (int i = 0; i < 2; ++i) {
      auto state = std::make_unique<artifact::StateT>();
      state->name = names[i];
      state->kind =
          i == 0 ? artifact::StateKind::Window : artifact::StateKind::Growing;
      state->growth =
          i == 0 ? artifact::Growth::Window : artifact::Growth::MaxContext;
      state->type = type;
      state->shape = {rooms[i], kHeads, kChannels};
      state->slot_offset = offsets[i] = program.slot_bytes;
      state->size = rooms[i] * kRow * each;
      program.slot_bytes += (state->size + 63) / 64 * 64;
      program.states.push_back(std::move(state));
    }
    flatbuffers::FlatBufferBuilder builder;
    artifact::FinishProgramBuffer(builder,
                                  artifact::Program::Pack(builder, &program));
    bytes.assign(builder.GetBufferPointer(),
                 builder.GetBufferPointer() + builder.GetSize());
  }

  const artifact::Program &program() const {
    return *artifact::GetProgram(bytes.data());
  }

  /// What element `c` of token `t` is in state `i`.
  static float element(int i, uint64_t t, uint64_t c) {
    return static_cast<float>(1000 * i + 10 * static_cast<int>(t) +
                              static_cast<int>(c));
  }

  /// The slot after `position` tokens; rows that no token reached are NaN.
  std::vector<uint8_t> slotAt(uint64_t position) const {
    std::vector<uint8_t> slot(program().slot_bytes());
    for (int i = 0; i < 2; ++i) {
      std::vector<float> rows(rooms[i] * kRow, std::nanf(""));
      for (uint64_t t = 0; t < position; ++t)
        for (uint64_t c = 0; c < kRow; ++c)
          rows[t % rooms[i] * kRow + c] = element(i, t, c);
      std::memcpy(&slot[offsets[i]], rows.data(), rows.size() * sizeof(float));
    }
    return slot;
  }

  std::vector<uint8_t> save(uint64_t position) const {
    return encodeState(program(), position, slotAt(position));
  }

  /// Empty where every token that state `i` holds after `position` lies in its
  /// row of `slot`.
  std::string mistakeIn(const Mapping &slot, uint64_t position) const {
    for (int i = 0; i < 2; ++i)
      for (uint64_t t = position - std::min(position, rooms[i]); t < position;
           ++t)
        for (uint64_t c = 0; c < kRow; ++c) {
          float found;
          std::memcpy(&found,
                      slot.data() + offsets[i] + (t % rooms[i] * kRow + c) * 4,
                      4);
          if (found != element(i, t, c))
            return "state " + std::to_string(i) + " token " +
                   std::to_string(t) + ": " + std::to_string(found);
        }
    return "";
  }

private:
  uint64_t rooms[2], offsets[2] = {};
  std::vector<uint8_t> bytes;
};
} // namespace

static std::string refusal(const Sequence &model,
                           const std::vector<uint8_t> &bytes) {
  Result<SequenceState> state = decodeState(model.program(), bytes);
  return state ? "" : state.error().message;
}

/// Makes the checksums and the size right again.
static void repair(std::vector<uint8_t> &bytes) {
  StateHeader header = StateHeader::decode(bytes.data());
  header.fileSize = bytes.size();
  header.bodyChecksum = checksum(bytes.data() + StateHeader::kBytes,
                                 bytes.size() - StateHeader::kBytes);
  StateHeader::Bytes encoded = header.encode();
  std::memcpy(bytes.data(), encoded.data(), encoded.size());
}

// Descriptors of 2 + 4 + 4 + 24 = 34 and 35 bytes: data starts at 133 -> 192.
// With a ring of 5 rows after 7 tokens: tokens 2 to 6, 16 + 5 * 24 = 136 bytes;
// then at 328 -> 384 tokens 0 to 6, 16 + 7 * 24 = 184 bytes.
constexpr size_t kRing = 192, kTable = 384, kEnd = 568;

TEST(StateRows, AreTokensInOrder) {
  Sequence model(5, 16);
  std::vector<uint8_t> bytes = model.save(7);
  ASSERT_EQ(bytes.size(), kEnd + CodeNames::kBytes);
  for (uint64_t position : {0, 1, 4, 5, 6, 11})
    EXPECT_EQ(model.save(position).size(),
              encodedBytes(model.program(), position));
  auto number = [&](size_t at) {
    uint64_t value;
    std::memcpy(&value, &bytes[at], 8);
    return value;
  };
  EXPECT_EQ(number(kRing), 2u);
  EXPECT_EQ(number(kRing + 8), 5u);
  EXPECT_EQ(number(kTable), 0u);
  EXPECT_EQ(number(kTable + 8), 7u);
  auto expectRows = [&](int state, size_t at, uint64_t first, uint64_t count) {
    for (uint64_t i = 0; i < count * kRow; ++i) {
      float found;
      std::memcpy(&found, &bytes[at + 16 + 4 * i], 4);
      EXPECT_EQ(found, Sequence::element(state, first + i / kRow, i % kRow));
    }
  };
  expectRows(0, kRing, 2, 5);
  expectRows(1, kTable, 0, 7);
}

TEST(StateRows, ComeBackAtEveryPosition) {
  Sequence model(5, 16);
  for (uint64_t position = 0; position <= kContext; ++position) {
    Result<SequenceState> state =
        decodeState(model.program(), model.save(position));
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_EQ(state->position, position);
    EXPECT_EQ(model.mistakeIn(state->slot, position), "") << position;
  }
}

// Another build's ring and table may have other rows, as long as the file holds
// what they need.
TEST(StateRows, GoIntoOtherRoom) {
  Sequence model(5, 16);
  for (auto [ring, table] : {std::pair{4, 11}, {5, 12}, {3, 64}}) {
    Sequence other(ring, table);
    for (uint64_t position = 0; position <= kContext; ++position) {
      Result<SequenceState> state =
          decodeState(other.program(), model.save(position));
      ASSERT_TRUE(state) << state.error().message;
      EXPECT_EQ(other.mistakeIn(state->slot, position), "") << position;
    }
  }
  Sequence larger(8, 16);
  EXPECT_EQ(refusal(larger, model.save(5)), "");
  EXPECT_EQ(refusal(larger, model.save(6)),
            "state 'ring' holds the last 5 tokens, but the model needs 6");
}

// 1000 + 10 t + c needs 11 bits at most below 2048; bf16 has 8, so that values
// from 1024 on are multiples of 8, to nearest even.
TEST(StateRows, ConvertBetweenTypes) {
  Sequence wide(5, 16), narrow(5, 16, artifact::ElementType::BF16);
  Result<SequenceState> state = decodeState(narrow.program(), wide.save(7));
  ASSERT_TRUE(state) << state.error().message;
  std::vector<uint8_t> bytes = encodeState(
      narrow.program(), 7, {state->slot.data(), state->slot.size()});
  EXPECT_EQ(bytes.size(), kTable - 64 + 16 + 7 * 12u + CodeNames::kBytes);
  Result<SequenceState> back = decodeState(wide.program(), bytes);
  ASSERT_TRUE(back) << back.error().message;
  float last; // of the table: 1000 + 60 + 5 = 1065 -> 1064
  std::memcpy(&last,
              back->slot.data() +
                  wide.program().states()->Get(1)->slot_offset() +
                  (6 * kRow + 5) * 4,
              4);
  EXPECT_EQ(last, 1064);
}

TEST(StateRows, AreRefusedWhereTheyDoNotEndAtThePosition) {
  Sequence model(5, 16);
  auto changed = [&](size_t at, uint64_t value) {
    std::vector<uint8_t> bytes = model.save(7);
    std::memcpy(&bytes[at], &value, 8);
    repair(bytes);
    return refusal(model, bytes);
  };
  EXPECT_EQ(changed(kRing, 3), "state 'ring' holds 5 tokens from token 3 on, "
                               "which do not end at position 7");
  EXPECT_EQ(changed(kTable + 8, UINT64_MAX),
            "state 'table' holds 18446744073709551615 tokens from token 0 on, "
            "which do not end at position 7");
  EXPECT_EQ(changed(32, 6), "state 'ring' holds 5 tokens from token 2 on, "
                            "which do not end at position 6");
  EXPECT_EQ(changed(32, 12),
            "the state is at position 12, but 0 to 11 are possible");
  std::vector<uint8_t> bytes = model.save(7);
  uint64_t range[] = {3, 4};
  std::memcpy(&bytes[kRing], range, 16);
  repair(bytes);
  EXPECT_EQ(refusal(model, bytes),
            "state 'ring' holds the last 4 tokens, but the model needs 5");
  bytes = model.save(7);
  float nan = std::nanf("");
  std::memcpy(&bytes[kTable + 16 + 24], &nan, 4); // the first of token 1
  repair(bytes);
  EXPECT_EQ(refusal(model, bytes),
            "element 6 of state 'table' is not a number");
}

TEST(StateRows, CutOrFlippedAnywhereNeverCrash) {
  Sequence model(5, 16);
  std::vector<uint8_t> bytes = model.save(7);
  for (size_t size = StateHeader::kBytes; size < bytes.size(); ++size) {
    std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + long(size));
    repair(cut);
    EXPECT_NE(refusal(model, cut), "") << "at " << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int flip : {0x01, 0x80, 0xFF}) {
      std::vector<uint8_t> flipped = bytes;
      flipped[at] = static_cast<uint8_t>(flipped[at] ^ flip);
      repair(flipped);
      Result<SequenceState> state = decodeState(model.program(), flipped);
      if (state) {
        EXPECT_LE(state->position, kContext);
      }
    }
}
