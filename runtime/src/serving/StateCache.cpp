#include "runtime/src/serving/StateCache.h"

#include <algorithm>

using namespace effc::rt;

/// A place that the caller has marked counts as used so often from the start.
static constexpr uint64_t kUsesOfMarks = 4;

StateCache::StateCache(Engine &engine, const Options &options)
    : engine(engine), options(options),
      exactness(exactnessOf(engine.model().program(), engine.plan())),
      tree(engine.copyLayout(), options.bytes) {
  if (exactness.kind == Exactness::Kind::Nowhere && !options.takesNear)
    whyNever = "the cache can never hit: the file's code for " +
               std::string(engine.plan().name) +
               " does not give the same bits wherever a prompt is cut "
               "(compile it with --bit-stable, or allow 'cache_near')";
}

uint64_t StateCache::mostStops(uint64_t tokens) const {
  return mostCheckpoints(options.rules, tokens, EFFC_MARKS_MOST);
}

CacheUse StateCache::describe(const PrefixMatch &match, uint64_t most) const {
  CacheUse use;
  use.position = match.position;
  use.matched = match.matched;
  use.isNear = match.position > 0 && !match.isExact;
  uint64_t could = std::max(std::min(match.matched, most), match.evicted);
  use.lost = could - std::min(could, match.position);
  if (match.matched == 0 && match.evicted == 0)
    use.miss = match.isNewSalt ? EFFC_CACHE_NEW_SALT : EFFC_CACHE_NO_PREFIX;
  else if (use.lost == 0)
    use.miss = EFFC_CACHE_HIT;
  else if (match.inexact >= match.evicted && match.inexact > 0)
    use.miss = EFFC_CACHE_INEXACT;
  else if (match.evicted > 0)
    use.miss = EFFC_CACHE_EVICTED;
  else
    use.miss = EFFC_CACHE_NEAREST;
  if (match.matched == 0 && match.evicted == 0)
    use.lost = most;
  return use;
}

CacheUse StateCache::look(std::string_view salt,
                          std::span<const int32_t> prompt) const {
  uint64_t most = prompt.size() - 1;
  if (!whyNever.empty()) {
    CacheUse use;
    use.miss = EFFC_CACHE_INEXACT;
    use.lost = most;
    return use;
  }
  std::lock_guard guard(lock);
  return describe(tree.find(salt, prompt, most, exactness, options.takesNear),
                  most);
}

Result<CacheUse> StateCache::restore(Session &session, std::string_view salt,
                                     std::span<const int32_t> prompt) {
  if (!whyNever.empty())
    return look(salt, prompt);
  uint64_t most = prompt.size() - 1;
  PrefixMatch match;
  {
    std::lock_guard guard(lock);
    match = tree.find(salt, prompt, most, exactness, options.takesNear);
  }
  if (match.position > 0) {
    match.states.codes.add(engine.isa());
    if (Check error = engine.restore(session, match.states))
      return *error;
    std::lock_guard guard(lock);
    tree.use(salt, prompt, match.position);
  }
  return describe(match, most);
}

std::vector<uint64_t>
StateCache::stopsOf(const CacheUse &use, uint64_t tokens,
                    std::span<const uint64_t> marks) const {
  if (!whyNever.empty())
    return {};
  const CopyLayout &layout = engine.copyLayout();
  if (layout.hasFixed() || layout.losesRows())
    return checkpointsOf(options.rules, tokens, use.position, use.matched,
                         marks);
  return {tokens}; // where any position will do
}

bool StateCache::keepsDecoded() const {
  return exactness.kind == Exactness::Kind::Anywhere || options.takesNear;
}

bool StateCache::keep(const Session &session, std::string_view salt,
                      std::span<const int32_t> tokens, bool byPrefill,
                      bool isMarked) {
  if (!whyNever.empty() || session.lost || session.position != tokens.size())
    return false;
  try {
    PrefixTree::Gap gap;
    bool hasRoom = true;
    {
      std::lock_guard guard(lock);
      gap = tree.gapOf(salt, tokens);
      if (gap.isKept)
        return true;
      hasRoom = tree.makeRoom(salt, tokens, gap.bytes);
    }
    if (hasRoom)
      if (auto copy = engine.copyOut(session, gap.firstRow)) {
        std::lock_guard guard(lock);
        tree.put(salt, tokens, *copy, byPrefill, isMarked ? kUsesOfMarks : 1);
        ++counted.kept;
        counted.mostBytes = std::max(counted.mostBytes, tree.bytes());
        ++changes;
        return true;
      }
  } catch (const std::bad_alloc &) {
    // The request goes on without.
  }
  std::lock_guard guard(lock);
  ++counted.unkept;
  return false;
}

StateCache::Numbers StateCache::numbers() const {
  std::lock_guard guard(lock);
  Numbers numbers = counted;
  numbers.bytes = tree.bytes();
  numbers.places = tree.places();
  numbers.evictions = tree.evictions();
  return numbers;
}
