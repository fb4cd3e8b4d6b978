#include "runtime/src/grammar/States.h"

#include <algorithm>

using namespace effc::rt;
using namespace effc::rt::grammar;

States::States(std::shared_ptr<const Automaton> given)
    : automaton(std::move(given)), classes(automaton->classCount()) {
  reach({automaton->start(), kNoFrame});
  first = finishReaching();
}

States::FrameId States::frame(PositionId target, FrameId parent) {
  uint64_t link = uint64_t(target) << 32 | parent;
  auto [found, isNew] =
      byLink.try_emplace(link, static_cast<FrameId>(frames.size()));
  if (isNew) {
    uint32_t depth = parent == kNoFrame ? 1 : frames[parent].depth + 1;
    frames.push_back({target, parent, depth});
    used += sizeof(Frame) + 40;
  }
  return found->second;
}

void States::reach(Place place) {
  if (seen.size() <= kMostPlaces &&
      seen.insert(uint64_t(place.position) << 32 | place.frame).second)
    open.push_back(place);
}

/// Follows calls, returns and edges by nothing, and makes a state of what has edges
/// over bytes.
StateId States::finishReaching() {
  while (!open.empty()) {
    Place place = open.back();
    open.pop_back();
    if (!automaton->byteEdges(place.position).empty())
      found.push_back(place);
    for (PositionId next : automaton->jumps(place.position))
      reach({next, place.frame});
    for (const Automaton::CallEdge &edge :
         automaton->callEdges(place.position)) {
      FrameId inner = place.frame;
      if (!automaton->isLast(edge.target)) {
        if (inner != kNoFrame && frames[inner].depth >= kMostDepth)
          continue; // what is nested deeper is not allowed
        inner = frame(edge.target, place.frame);
      }
      reach({edge.start, inner});
    }
    if (!automaton->isEnd(place.position))
      continue;
    if (place.frame == kNoFrame)
      endReached = true;
    else
      reach({frames[place.frame].target, frames[place.frame].parent});
  }
  bool isTooMuch = seen.size() > kMostPlaces;
  bool canEnd = std::exchange(endReached, false);
  seen.clear();
  std::vector<Place> places = std::exchange(found, {});
  if (isTooMuch)
    return kTooMany;
  if (places.empty() && !canEnd)
    return kDead;
  std::sort(places.begin(), places.end(), [](const Place &a, const Place &b) {
    return a.position != b.position ? a.position < b.position
                                    : a.frame < b.frame;
  });
  size_t hash = canEnd;
  for (const Place &place : places)
    hash = (hash ^ (uint64_t(place.position) << 32 | place.frame)) *
               0x9E3779B97F4A7C15u +
           (hash >> 29);
  auto [begin, end] = byPlaces.equal_range(hash);
  for (auto at = begin; at != end; ++at)
    if (all[at->second].canEnd == canEnd && all[at->second].places == places)
      return at->second;
  auto id = static_cast<StateId>(all.size());
  used += sizeof(State) + 64 + places.size() * sizeof(Place) +
          classes * sizeof(StateId);
  all.push_back({std::move(places), canEnd, nullptr});
  steps.resize(steps.size() + classes, kUnknown);
  byPlaces.emplace(hash, id);
  return id;
}

StateId States::step(StateId state, uint8_t byteClass) {
  uint8_t byte = automaton->exampleOf(byteClass);
  for (size_t i = 0; i < all[state].places.size(); ++i) {
    Place place = all[state].places[i];
    for (const Automaton::ByteEdge &edge : automaton->byteEdges(place.position))
      if (edge.first <= byte && byte <= edge.last)
        reach({edge.target, place.frame});
  }
  StateId next = finishReaching();
  steps[state * classes + byteClass] = next;
  return next;
}

StateId States::copyFrom(const States &other, StateId state) {
  // Frames come after their parents, so that a parent is there when it is asked for.
  std::vector<FrameId> needed;
  for (const Place &place : other.all[state].places)
    for (FrameId at = place.frame; at != kNoFrame; at = other.frames[at].parent)
      needed.push_back(at);
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  std::unordered_map<FrameId, FrameId> own = {{kNoFrame, kNoFrame}};
  for (FrameId id : needed)
    own[id] = frame(other.frames[id].target, own[other.frames[id].parent]);
  for (const Place &place : other.all[state].places)
    reach({place.position, own[place.frame]});
  endReached = other.all[state].canEnd;
  return finishReaching();
}
