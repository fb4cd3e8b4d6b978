#include "runtime/src/StateCopies.h"

#include <algorithm>
#include <cstring>

using namespace effc::rt;

CopyLayout::CopyLayout(const artifact::Program &program) {
  for (const artifact::State *state : *program.states()) {
    if (!growsWithSequence(*state)) {
      fixed.push_back({state->slot_offset(), state->size()});
      fixedBytes += state->size();
      continue;
    }
    uint64_t rows = state->shape()->Get(0);
    growing.push_back({state->slot_offset(), rows, state->size() / rows});
    uint64_t context = program.max_context();
    if (state->growth() != artifact::Growth::Window ||
        (context != 0 && rows >= context))
      continue;
    loses = true;
    smallestWindow = std::min(smallestWindow, rows);
  }
}

bool CopyLayout::hasAllRows(uint64_t position) const {
  return std::ranges::all_of(
      growing, [&](const Growing &state) { return position <= state.rows; });
}

uint64_t CopiedStates::bytes() const {
  uint64_t sum = fixed ? fixed->size : 0;
  for (const SharedRows &run : rows)
    sum += run->bytes.size;
  return sum + (replaced ? replaced->size : 0);
}

/// Which of `tokens` the state still held.
TokenRange CopyLayout::heldOf(const Growing &state, TokenRange tokens,
                              uint64_t madeAt) const {
  uint64_t oldest = madeAt - std::min(madeAt, state.rows);
  uint64_t first = std::max(tokens.first, oldest);
  uint64_t end = tokens.first + tokens.count;
  return {first, end > first ? end - first : 0};
}

uint64_t CopyLayout::sizeOfRows(TokenRange tokens, uint64_t madeAt) const {
  uint64_t sum = 0;
  for (const Growing &state : growing)
    sum += heldOf(state, tokens, madeAt).count * state.rowBytes;
  return sum;
}

/// The rows of `tokens`, one behind another at `memory`: a ring goes on with its
/// first row.
template <typename Byte>
void CopyLayout::addRows(const Growing &state, TokenRange tokens, Byte *memory,
                         std::vector<SlotPiece<Byte>> &pieces) const {
  while (tokens.count > 0) {
    uint64_t row = tokens.first % state.rows;
    uint64_t count = std::min(tokens.count, state.rows - row);
    uint64_t size = count * state.rowBytes;
    pieces.push_back({state.offset + row * state.rowBytes, size, memory});
    memory += size;
    tokens = {tokens.first + count, tokens.count - count};
  }
}

template <typename Piece>
void CopyLayout::addFixed(decltype(Piece::memory) memory,
                          std::vector<Piece> &pieces) const {
  for (const SlotRange &range : fixed) {
    pieces.push_back({range.offset, range.size, memory});
    memory += range.size;
  }
}

CopiedStates CopyLayout::room(uint64_t first, uint64_t position,
                              std::vector<SlotRead> &pieces) const {
  CopiedStates copy;
  copy.position = position;
  if (position == 0)
    return copy;
  if (hasFixed()) {
    auto bytes = std::make_shared<CopiedBytes>(fixedBytes);
    addFixed(bytes->data.get(), pieces);
    copy.fixed = std::move(bytes);
  }
  for (uint64_t at = first; at < position && hasRows(); at += kRunTokens) {
    TokenRange tokens = {at, std::min(kRunTokens, position - at)};
    uint64_t size = sizeOfRows(tokens, position);
    if (size == 0) // windows alone, which have gone on
      continue;
    auto run = std::make_shared<CopiedRows>(
        CopiedRows{tokens, position, CopiedBytes(size)});
    uint8_t *memory = run->bytes.data.get();
    for (const Growing &state : growing) {
      TokenRange held = heldOf(state, tokens, position);
      addRows(state, held, memory, pieces);
      memory += held.count * state.rowBytes;
    }
    copy.rows.push_back(std::move(run));
  }
  return copy;
}

/// The tokens in whose rows a ring puts `tokens`, of which there are no more than rows.
TokenRange CopyLayout::replacedBy(const Growing &state, TokenRange tokens) {
  uint64_t first = std::max(tokens.first, state.rows);
  uint64_t end = std::max(tokens.first + tokens.count, state.rows);
  return {first - state.rows, end - first};
}

CopiedStates CopyLayout::mark(uint64_t position, uint64_t count,
                              std::vector<SlotRead> &pieces) const {
  CopiedStates mark = room(position, position, pieces);
  mark.replacing = count;
  uint64_t size = 0;
  for (const Growing &state : growing)
    size += replacedBy(state, {position, count}).count * state.rowBytes;
  if (size == 0)
    return mark;
  auto bytes = std::make_shared<CopiedBytes>(size);
  uint8_t *memory = bytes->data.get();
  for (const Growing &state : growing) {
    TokenRange old = replacedBy(state, {position, count});
    addRows(state, old, memory, pieces);
    memory += old.count * state.rowBytes;
  }
  mark.replaced = std::move(bytes);
  return mark;
}

std::vector<SlotWrite> CopyLayout::takeBack(const CopiedStates &mark,
                                            uint64_t kept) const {
  std::vector<SlotWrite> pieces;
  if (mark.fixed)
    addFixed(mark.fixed->data.get(), pieces);
  if (!mark.replaced)
    return pieces;
  const uint8_t *memory = mark.replaced->data.get();
  for (const Growing &state : growing) {
    TokenRange all = {mark.position, mark.replacing};
    TokenRange saved = replacedBy(state, all);
    TokenRange wrong = replacedBy(state, {all.first + kept, all.count - kept});
    addRows(state, wrong, memory + (wrong.first - saved.first) * state.rowBytes,
            pieces);
    memory += saved.count * state.rowBytes;
  }
  return pieces;
}

std::vector<SlotWrite> CopyLayout::pieces(const CopiedStates &from) const {
  std::vector<SlotWrite> pieces;
  if (from.fixed)
    addFixed(from.fixed->data.get(), pieces);
  for (const SharedRows &run : from.rows) {
    const uint8_t *memory = run->bytes.data.get();
    for (const Growing &state : growing) {
      TokenRange held = heldOf(state, run->tokens, run->madeAt);
      // A later sequence's runs may begin before what this position looks at, and
      // end behind it.
      TokenRange wanted = heldOf(state, held, from.position);
      uint64_t end = std::min(wanted.first + wanted.count, from.position);
      wanted.count = end > wanted.first ? end - wanted.first : 0;
      addRows(state, wanted,
              memory + (wanted.first - held.first) * state.rowBytes, pieces);
      memory += held.count * state.rowBytes;
    }
  }
  return pieces;
}

Result<std::vector<uint8_t>>
CopyLayout::encode(const artifact::Program &program, const CopiedStates &states,
                   const StateOrigin *origin) const {
  Result<Mapping> slot =
      Mapping::anonymous(program.slot_bytes(), "a sequence's states");
  if (!slot)
    return slot.error();
  for (const SlotWrite &piece : pieces(states))
    std::memcpy(slot->data() + piece.offset, piece.memory, piece.size);
  return encodeState(program, states.position, {slot->data(), slot->size()},
                     states.codes, origin);
}

CopiedStates CopyLayout::copy(const SequenceState &from, uint64_t first) const {
  std::vector<SlotRead> pieces;
  CopiedStates copy = room(first, from.position, pieces);
  copy.codes = from.codes;
  for (const SlotRead &piece : pieces)
    std::memcpy(piece.memory, from.slot.data() + piece.offset, piece.size);
  return copy;
}

bool CopyLayout::covers(std::span<const SharedRows> rows,
                        uint64_t position) const {
  return std::all_of(growing.begin(), growing.end(), [&](const Growing &state) {
    uint64_t reached = position - std::min(position, state.rows);
    for (const SharedRows &run : rows) {
      TokenRange held = heldOf(state, run->tokens, run->madeAt);
      if (held.count > 0 && held.first <= reached)
        reached = std::max(reached, held.first + held.count);
    }
    return reached >= position;
  });
}

std::pair<SharedRows, SharedRows> CopyLayout::cut(const CopiedRows &run,
                                                  uint64_t at) const {
  TokenRange front = {run.tokens.first, at - run.tokens.first};
  TokenRange back = {at, run.end() - at};
  auto part = [&](TokenRange tokens) {
    return std::make_shared<CopiedRows>(CopiedRows{
        tokens, run.madeAt, CopiedBytes(sizeOfRows(tokens, run.madeAt))});
  };
  auto before = part(front), behind = part(back);
  const uint8_t *in = run.bytes.data.get();
  uint8_t *outs[] = {before->bytes.data.get(), behind->bytes.data.get()};
  for (const Growing &state : growing)
    for (int i = 0; i < 2; ++i) {
      uint64_t size =
          heldOf(state, i ? back : front, run.madeAt).count * state.rowBytes;
      std::memcpy(outs[i], in, size);
      in += size;
      outs[i] += size;
    }
  return {std::move(before), std::move(behind)};
}
