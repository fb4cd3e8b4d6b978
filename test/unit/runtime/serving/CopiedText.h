//===- CopiedText.h - Sequences whose states follow from their tokens -----===//
//
// In place of an engine: each byte of a slot is a function of the tokens before it,
// so that copies can be held to what they ought to be.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TEST_UNIT_RUNTIME_SERVING_COPIEDTEXT_H
#define EFFC_TEST_UNIT_RUNTIME_SERVING_COPIEDTEXT_H

#include "runtime/src/StateCopies.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

namespace effc::test {

using Text = std::vector<int32_t>;

/// A model of a state of a fixed size, one that holds a whole context, and a window,
/// or some of them.
class TextModel {
public:
  static TextModel recurrent() { return TextModel(700, 0, 0); }
  static TextModel attention() { return TextModel(0, kContext, 0); }
  static TextModel hybrid() { return TextModel(300, kContext, 0); }
  static TextModel window() { return TextModel(0, kContext, 10); }
  static TextModel windowHybrid() { return TextModel(40, kContext, 10); }

  /// A copy of the sequence that has taken `text`.
  rt::CopiedStates copy(const Text &text, uint64_t firstRow = 0) const {
    std::vector<rt::SlotRead> pieces;
    rt::CopiedStates copy = layout.room(firstRow, text.size(), pieces);
    std::vector<uint8_t> slot = slotOf(text);
    for (const rt::SlotRead &piece : pieces)
      std::memcpy(piece.memory, &slot.at(piece.offset), piece.size);
    return copy;
  }
  /// A mark of the sequence that has taken `text`, before `count` tokens more.
  rt::CopiedStates mark(const Text &text, uint64_t count) const {
    std::vector<rt::SlotRead> pieces;
    rt::CopiedStates mark = layout.mark(text.size(), count, pieces);
    std::vector<uint8_t> slot = slotOf(text);
    for (const rt::SlotRead &piece : pieces)
      std::memcpy(piece.memory, &slot.at(piece.offset), piece.size);
    return mark;
  }
  /// A slot of `text`, which is a text at `mark` and more, after it has gone back but
  /// for `kept` tokens: what is left of the context's rows counts for nothing.
  void expectTakenBack(const rt::CopiedStates &mark, const Text &text,
                       uint64_t kept) const {
    std::vector<uint8_t> slot = slotOf(text);
    for (const rt::SlotWrite &piece : layout.takeBack(mark, kept))
      std::memcpy(&slot.at(piece.offset), piece.memory, piece.size);
    uint64_t position = mark.position + kept;
    std::fill_n(&slot[kFixedBytes + position * kRowBytes],
                (text.size() - position) * kRowBytes, uint8_t(0));
    std::vector<uint8_t> expected =
        slotOf(Text(text.begin(), text.begin() + ptrdiff_t(position)));
    // Before its first turn a ring has rows that nothing was in.
    uint64_t unused = position < ring ? (ring - position) * kWindowBytes : 0;
    slot.resize(slot.size() - unused);
    expected.resize(slot.size());
    ASSERT_EQ(slot, expected);
  }
  /// `states` put into a slot give that of `text`.
  void expectStates(const rt::CopiedStates &states, const Text &text) const {
    ASSERT_EQ(states.position, text.size());
    ASSERT_TRUE(layout.covers(states.rows, states.position));
    std::vector<uint8_t> slot(kSlotBytes);
    for (const rt::SlotWrite &piece : layout.pieces(states))
      std::memcpy(&slot.at(piece.offset), piece.memory, piece.size);
    ASSERT_EQ(slot, slotOf(text));
  }
  /// What a token adds.
  uint64_t rowBytes() const { return layout.sizeOfRows({0, 1}, 1); }

  const bool hasFixed, hasWindow;

private:
  static constexpr uint64_t kContext = 2048, kFixedBytes = 1024, kRowBytes = 12,
                            kWindowBytes = 20;
  static constexpr uint64_t kSlotBytes =
      kFixedBytes + kContext * kRowBytes + 10 * kWindowBytes;

  TextModel(uint64_t fixed, uint64_t context, uint64_t window)
      : hasFixed(fixed > 0), hasWindow(window > 0), fixed(fixed),
        context(context), ring(window),
        layout(*artifact::GetProgram(makeProgram().data())) {}

  std::vector<uint8_t> makeProgram() const {
    artifact::ProgramT program;
    program.max_context = kContext;
    auto add = [&](artifact::Growth growth, std::vector<uint64_t> shape,
                   uint64_t offset) {
      auto state = std::make_unique<artifact::StateT>();
      state->name = "s" + std::to_string(program.states.size());
      state->growth = growth;
      state->type = artifact::ElementType::F32;
      state->slot_offset = offset;
      state->size = 4;
      for (uint64_t dimension : shape)
        state->size *= dimension;
      state->shape = std::move(shape);
      program.states.push_back(std::move(state));
    };
    if (context > 0)
      add(artifact::Growth::MaxContext, {context, kRowBytes / 4}, kFixedBytes);
    if (fixed > 0)
      add(artifact::Growth::Fixed, {fixed / 4}, 0);
    if (ring > 0)
      add(artifact::Growth::Window, {ring, kWindowBytes / 4},
          kFixedBytes + kContext * kRowBytes);
    flatbuffers::FlatBufferBuilder builder;
    artifact::FinishProgramBuffer(builder,
                                  artifact::Program::Pack(builder, &program));
    return {builder.GetBufferPointer(),
            builder.GetBufferPointer() + builder.GetSize()};
  }

  std::vector<uint8_t> slotOf(const Text &text) const {
    std::vector<uint8_t> slot(kSlotBytes);
    uint32_t hash = 1;
    for (uint64_t t = 0; t < text.size(); ++t) {
      hash = (hash ^ static_cast<uint32_t>(text[t])) * 2654435761u + 1;
      auto fill = [&](uint64_t offset, uint64_t count) {
        for (uint64_t i = 0; i < count; ++i)
          slot[offset + i] = static_cast<uint8_t>((hash >> 13) + 7 * i + 1);
      };
      if (context > 0)
        fill(kFixedBytes + t * kRowBytes, kRowBytes);
      if (ring > 0)
        fill(kFixedBytes + kContext * kRowBytes + t % ring * kWindowBytes,
             kWindowBytes);
      if (t + 1 == text.size())
        fill(0, fixed);
    }
    return slot;
  }

  uint64_t fixed, context, ring;

public:
  const rt::CopyLayout layout;
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_RUNTIME_SERVING_COPIEDTEXT_H
