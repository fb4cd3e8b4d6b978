#include "runtime/src/serving/StateCache.h"

#include <algorithm>

using namespace effc::rt;

/// A place that the caller has marked counts as used so often from the start.
static constexpr uint64_t kUsesOfMarks = 4;

static Sha256Digest digestOf(std::string_view salt) {
  Sha256Digest digest = {};
  std::copy_n(salt.begin(), std::min(salt.size(), digest.size()),
              digest.begin());
  return digest;
}

StateCache::StateCache(Engine &engine, const Options &options,
                       std::unique_ptr<DiskCache> disk)
    : engine(engine), options(options),
      exactness(exactnessOf(engine.model().program(), engine.plan())),
      disk(std::move(disk)), tree(engine.copyLayout(), options.bytes) {
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
  PrefixMatch match;
  {
    std::lock_guard guard(lock);
    match = tree.find(salt, prompt, most, exactness, options.takesNear);
  }
  if (uint64_t reach = disk ? disk->find(digestOf(salt), prompt, match.position,
                                         most, options.takesNear)
                            : 0) {
    match.position = reach;
    match.matched = std::max(match.matched, reach);
    match.inexact = match.inexact > reach ? match.inexact : 0;
    match.evicted = match.evicted > reach ? match.evicted : 0;
  }
  return describe(match, most);
}

/// Puts the states of a file into the tree that take the prompt further than what it
/// has, and says whether there are any now.
bool StateCache::bringFromDisk(std::string_view salt,
                               std::span<const int32_t> prompt,
                               const PrefixMatch &match, uint64_t most) {
  if (!disk)
    return false;
  auto loaded = disk->load(digestOf(salt), prompt, match.position, most,
                           options.takesNear);
  if (!loaded)
    return false;
  const std::vector<int32_t> &tokens = loaded->origin.tokens;
  std::lock_guard guard(lock);
  PrefixTree::Gap gap = tree.gapOf(salt, tokens);
  if (gap.isKept)
    return true;
  if (!tree.makeRoom(salt, tokens, gap.bytes)) {
    ++counted.unkept;
    return false;
  }
  tree.put(salt, tokens, engine.copyLayout().copy(loaded->state, gap.firstRow),
           loaded->origin.byPrefill);
  counted.mostBytes = std::max(counted.mostBytes, tree.bytes());
  return true;
}

void StateCache::writeToDisk(std::string_view salt,
                             std::span<const int32_t> tokens, bool byPrefill) {
  PrefixMatch match;
  {
    std::lock_guard guard(lock);
    match = tree.find(salt, tokens, tokens.size(), exactness, true);
  }
  if (match.position != tokens.size())
    return;
  match.states.codes.add(engine.isa());
  disk->write({digestOf(salt), byPrefill, {tokens.begin(), tokens.end()}},
              std::move(match.states));
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
  if (bringFromDisk(salt, prompt, match, most)) {
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

/// Where a long run of rows that any position will do for is cut, so that its end can
/// be given up without its beginning.
std::vector<uint64_t> StateCache::cutsOf(uint64_t from, uint64_t to) const {
  std::vector<uint64_t> cuts;
  const CopyLayout &layout = engine.copyLayout();
  uint64_t every = options.rules.every;
  if (layout.hasFixed() || layout.losesRows() || every == 0)
    return cuts;
  for (uint64_t at = from - from % every + every; at < to; at += every)
    cuts.push_back(at);
  return cuts;
}

bool StateCache::keep(const Session &session, std::string_view salt,
                      std::span<const int32_t> tokens, bool byPrefill,
                      bool isMarked) {
  if (!whyNever.empty() || session.lost || session.position != tokens.size())
    return false;
  try {
    PrefixTree::Gap gap;
    std::vector<uint64_t> cuts;
    bool hasRoom = true;
    {
      std::lock_guard guard(lock);
      gap = tree.gapOf(salt, tokens);
      if (gap.isKept)
        return true;
      cuts = cutsOf(gap.firstRow, tokens.size());
      hasRoom = tree.makeRoom(salt, tokens,
                              gap.bytes + cuts.size() * PrefixTree::kNodeBytes);
    }
    if (hasRoom)
      if (auto copy = engine.copyOut(session, gap.firstRow)) {
        {
          std::lock_guard guard(lock);
          tree.put(salt, tokens, *copy, byPrefill, isMarked ? kUsesOfMarks : 1);
          for (uint64_t cut : cuts) {
            CopiedStates place; // whose rows are there
            place.position = cut;
            tree.put(salt, tokens.first(cut), place, byPrefill);
          }
          ++counted.kept;
          counted.mostBytes = std::max(counted.mostBytes, tree.bytes());
          ++changes;
        }
        if (disk)
          writeToDisk(salt, tokens, byPrefill);
        return true;
      }
  } catch (const std::bad_alloc &) {
    // The request goes on without.
  }
  std::lock_guard guard(lock);
  ++counted.unkept;
  return false;
}

void StateCache::fill(effc_scheduler_stats_t &stats) const {
  if (disk) {
    DiskCache::Numbers numbers = disk->numbers();
    stats.cache_files_now = numbers.files;
    stats.cache_disk_bytes_now = numbers.bytes;
    stats.cache_files_written = numbers.written;
    stats.cache_files_loaded = numbers.loaded;
    stats.cache_files_refused = numbers.refused;
    stats.cache_files_dropped = numbers.dropped;
    stats.cache_disk_failures = numbers.failures;
  }
  std::lock_guard guard(lock);
  stats.cache_kept = counted.kept;
  stats.cache_unkept = counted.unkept;
  stats.cache_evicted = tree.evictions();
  stats.cache_places_now = tree.places();
  stats.cache_bytes_now = tree.bytes();
  stats.cache_bytes_most = counted.mostBytes;
}
