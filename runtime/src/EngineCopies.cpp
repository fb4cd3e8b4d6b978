// Sequences copied: to other slots, to bytes of a state file, to memory.

#include "runtime/src/Engine.h"
#include "runtime/src/StateFile.h"

#include <algorithm>

using namespace effc;
using namespace effc::rt;

Check Engine::copy(const Session &from, Session &to) {
  if (from.lost)
    return lostSequence("the sequence");
  uint64_t had = reached[to.slot];
  if (Check error =
          reach(to.slot, from.position, "a copy of the sequence takes"))
    return error;
  if (from.position > had)
    executor->expectSlot(to.slot, held.rangesBetween(had, from.position));
  if (Check error =
          executor->copySlot(from.slot, to.slot, held.ranges(from.position)))
    return error;
  work.copied(held.bytes(from.position));
  shrink(to.slot, std::max<uint64_t>(from.position, 1));
  to.position = from.position;
  to.codes = from.codes;
  to.lost = false;
  return {};
}

Result<uint64_t> Engine::sizeToSave(const Session &session) const {
  if (session.lost)
    return lostSequence("the sequence");
  return encodedBytes(artifact->program(), session.position);
}

Result<std::vector<uint8_t>> Engine::save(const Session &session) {
  if (session.lost)
    return lostSequence("the sequence");
  Result<Mapping> slot = Mapping::anonymous(artifact->program().slot_bytes(),
                                            "a sequence's states");
  if (!slot)
    return slot.error();
  if (Check error = executor->readSlot(
          session.slot, piecesAt(held.ranges(session.position), slot->data())))
    return *error;
  work.copied(held.bytes(session.position));
  return encodeState(artifact->program(), session.position,
                     {slot->data(), slot->size()}, session.codes);
}

Check Engine::load(Session &session, std::span<const uint8_t> bytes) {
  Result<SequenceState> state = decodeState(artifact->program(), bytes);
  if (!state)
    return state.error();
  std::vector<SlotWrite> pieces =
      piecesAt<const uint8_t>(held.ranges(state->position), state->slot.data());
  if (Check error = reach(session.slot, state->position, "the sequence takes"))
    return error;
  if (Check error = executor->writeSlot(session.slot, pieces))
    return error;
  work.copied(held.bytes(state->position));
  shrink(session.slot, std::max<uint64_t>(state->position, 1));
  session.position = state->position;
  session.codes = state->codes;
  session.lost = false;
  return {};
}

Result<CopiedStates> Engine::copyOut(const Session &session, uint64_t first) {
  if (session.lost)
    return lostSequence("the sequence");
  std::vector<SlotRead> pieces;
  CopiedStates copy = copies.room(first, session.position, pieces);
  return read(session, std::move(copy), pieces);
}

Result<CopiedStates> Engine::mark(const Session &session, uint64_t count) {
  if (session.lost)
    return lostSequence("the sequence");
  std::vector<SlotRead> pieces;
  CopiedStates mark = copies.mark(session.position, count, pieces);
  return read(session, std::move(mark), pieces);
}

Result<CopiedStates> Engine::read(const Session &session, CopiedStates copy,
                                  std::span<const SlotRead> pieces) {
  copy.codes = session.codes;
  if (pieces.empty())
    return copy;
  if (Check error = executor->readSlot(session.slot, pieces))
    return *error;
  work.copied(copy.bytes());
  return copy;
}

Check Engine::restore(Session &session, const CopiedStates &from) {
  if (from.position == 0) {
    reset(session);
    return {};
  }
  if (!copies.covers(from.rows, from.position))
    return fail(EFFC_INTERNAL, "a copy of a sequence at ", from.position,
                " lacks rows of its tokens");
  std::vector<SlotWrite> pieces = copies.pieces(from);
  uint64_t had = reached[session.slot];
  if (Check error = reach(session.slot, from.position, "the sequence takes"))
    return error;
  if (from.position > had)
    executor->expectSlot(session.slot, held.rangesBetween(had, from.position));
  if (Check error = executor->writeSlot(session.slot, pieces)) {
    session.lost = true;
    return error;
  }
  work.copied(held.bytes(from.position));
  shrink(session.slot, from.position);
  session.position = from.position;
  session.codes = from.codes;
  session.lost = false;
  return {};
}

Check Engine::rewind(Session &session, const CopiedStates &mark,
                     uint64_t kept) {
  if (copies.hasFixed())
    kept = 0;
  std::vector<SlotWrite> pieces = copies.takeBack(mark, kept);
  if (!pieces.empty()) {
    if (Check error = executor->writeSlot(session.slot, pieces)) {
      session.lost = true;
      return error;
    }
    work.copied(mark.bytes());
  }
  session.position = mark.position + kept;
  return {};
}

Check Engine::takeBack(Session &session, uint64_t count,
                       const CopiedStates *mark) {
  if (session.lost)
    return lostSequence("the sequence");
  if (count > session.position)
    return invalidArgument("'count' is ", count, ", but the sequence has ",
                           session.position, " tokens");
  uint64_t target = session.position - count;
  bool hasAllRows = copies.hasAllRows(session.position);
  if (mark && mark->position > target)
    return invalidArgument("'mark' is at position ", mark->position,
                           ", but the sequence is to go back to ", target);
  if (count == 0)
    return {};
  if (!copies.hasFixed() && hasAllRows) {
    session.position = target;
    return {};
  }
  if (target == 0 || (mark && mark->position == 0)) {
    reset(session);
    return {};
  }
  if (!mark)
    return fail(EFFC_UNSUPPORTED, "the sequence cannot go back by itself: ",
                copies.hasFixed()
                    ? "states of a fixed size hold all of its tokens at once"
                    : "its window has lost the rows from before",
                "; 'mark' is to be a checkpoint from before");
  if (!hasAllRows)
    return restore(session, *mark);
  CopiedStates before; // its rows are all there
  before.position = mark->position;
  before.fixed = mark->fixed;
  return rewind(session, before, 0);
}
