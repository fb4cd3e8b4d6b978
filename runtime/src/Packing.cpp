#include "runtime/src/Packing.h"

#include <algorithm>

using namespace effc::rt;

Packer::Packer(std::vector<EntryShape> shapes) : entries(std::move(shapes)) {
  std::sort(
      entries.begin(), entries.end(),
      [](const EntryShape &a, const EntryShape &b) { return a.rows < b.rows; });
}

const EntryShape &Packer::choose(std::span<const Feed> feeds) const {
  uint64_t waiting = 0;
  for (const Feed &feed : feeds)
    waiting += feed.remaining;
  for (const EntryShape &entry : entries)
    if (entry.rows >= waiting)
      return entry;
  return entries.back();
}

uint32_t Packer::nextCall(std::span<Feed> feeds,
                          std::vector<Piece> &pieces) const {
  const EntryShape &entry = choose(feeds);
  uint64_t room = entry.rows;
  pieces.clear();
  for (uint32_t i = 0; i < feeds.size() && room > 0; ++i) {
    Feed &feed = feeds[i];
    uint64_t length = feed.remaining;
    if (length > room) {
      uint64_t end = feed.position + room;
      end -= end % entry.chunk;
      length = end > feed.position ? end - feed.position : 0;
    }
    if (length == 0)
      continue;
    feed.remaining -= length;
    pieces.push_back(
        {i, feed.position, static_cast<uint32_t>(length), feed.remaining == 0});
    feed.position += length;
    room -= length;
  }
  return entry.index;
}
