// Where the scheduler meets the cache of states: prompts that go on from kept ones,
// and copies on their way and at the ends of texts.

#include "runtime/src/serving/Scheduler.h"

#include <algorithm>

using namespace effc::rt;

Result<effc_scheduler_options_t>
Scheduler::withRoomForCache(const Engine &engine,
                            const effc_scheduler_options_t &options) {
  effc_scheduler_options_t taken = options;
  uint64_t states = engine.stateBudget();
  if (options.cache_bytes == 0 || states == UINT64_MAX)
    return taken;
  uint64_t least = engine.bytesOf(1) * engine.mostSessions();
  if (least > states || options.cache_bytes > states - least)
    return fail(EFFC_OUT_OF_MEMORY, "'cache_bytes' is ", options.cache_bytes,
                ", but the system has ", states, " bytes left, of which ",
                engine.mostSessions(), " sequences take ", least,
                " for a token each: ask for a smaller cache");
  states -= options.cache_bytes;
  if (taken.max_state_bytes == 0 || taken.max_state_bytes > states)
    taken.max_state_bytes = states;
  return taken;
}

Result<std::unique_ptr<DiskCache>>
Scheduler::diskOf(const Engine &engine,
                  const effc_scheduler_options_t &options) {
  if (!options.cache_dir)
    return std::unique_ptr<DiskCache>();
  if (options.cache_bytes == 0 || options.cache_disk_bytes == 0)
    return invalidArgument("'cache_dir' is '", options.cache_dir, "', but '",
                           options.cache_bytes ? "cache_disk_bytes"
                                               : "cache_bytes",
                           "' is 0: states go to the disk by way of memory");
  return DiskCache::open(engine, {options.cache_dir, options.cache_disk_bytes,
                                  options.cache_bytes});
}

const std::string &Scheduler::note() const {
  static const std::string none;
  return cache ? cache->note() : none;
}

Result<effc_cache_lookup_t>
Scheduler::lookUp(const effc_request_t &request) const {
  auto job = Job::create(request, model(), options);
  if (!job)
    return job.error();
  CacheUse use;
  if (cache && (*job)->reads())
    use = cache->look((*job)->salt, (*job)->prompt);
  use = withGiven(**job, use);
  effc_cache_lookup_t lookup = {};
  lookup.prompt_tokens = (*job)->prompt.size();
  lookup.cached_tokens = use.position;
  lookup.matched_tokens = use.matched;
  lookup.miss = use.miss;
  lookup.is_near = use.isNear;
  return lookup;
}

/// What a prompt has of the states that its request brought, where it has `use` of
/// the cache.
CacheUse Scheduler::withGiven(const Job &job, CacheUse use) const {
  uint64_t position = job.from ? job.from->states.position : 0;
  if (!job.reads() || position <= use.position)
    return use;
  use.matched = std::max(use.matched, position);
  bool isExact =
      !job.from->isNear && exactness.holds(position, job.from->byPrefill) &&
      std::string_view(job.from->states.codes.text()) == engine->isa();
  if (isExact || options.cache_near) {
    use.position = position;
    use.isNear = !isExact;
  }
  use.lost = use.matched - use.position;
  if (use.lost == 0)
    use.miss = EFFC_CACHE_HIT;
  else if (use.position < position)
    use.miss = EFFC_CACHE_INEXACT;
  return use;
}

/// Has a job go on from the longest beginning of its prompt that there is.
Result<CacheUse> Scheduler::restore(Job &job) {
  CacheUse use;
  if (cache && job.from)
    use = cache->look(job.salt, job.prompt);
  CacheUse more = withGiven(job, use);
  if (more.position == use.position) {
    if (!cache)
      return more;
    auto restored = cache->restore(job.session, job.salt, job.prompt);
    return restored ? Result<CacheUse>(withGiven(job, *restored)) : restored;
  }
  CopiedStates states = job.from->states;
  states.codes.add(engine->isa());
  if (Check error = engine->restore(job.session, states))
    return *error;
  return more;
}

/// Prompts of which nothing has been fed look again when there is something new.
void Scheduler::goOnFromCache(std::span<Job *const> feeding) {
  uint64_t version = cache ? cache->version() : 1;
  for (Job *job : feeding) {
    if (job->fed > 0 || job->lookedAt == version)
      continue;
    job->lookedAt = version;
    CacheUse use;
    if (job->reads()) {
      auto restored = restore(*job);
      if (!restored) {
        hit({&job, 1}, restored.error());
        continue;
      }
      use = *restored;
    }
    job->fed = use.position;
    job->cached = use;
    if (cache && job->writes())
      job->stops = cache->stopsOf(use, job->prompt.size(), job->marks);
  }
}

/// Copies the states of a job that ends into its last event, where it asked for them.
void Scheduler::bringStates(const Job &job, Event &event) {
  const Session &session = job.session;
  uint64_t position = session.position;
  if (!job.keepsStates || !session.engine || job.hasFailed || session.lost ||
      position == 0 || position > job.prompt.size() + job.drawn.size())
    return;
  try {
    // Rows of what it went on from are shared.
    bool isShared =
        job.from && job.from->states.position == job.cached.position;
    auto copy = engine->copyOut(session, isShared ? job.cached.position : 0);
    if (!copy)
      return;
    uint64_t copied = copy->bytes();
    if (isShared)
      copy->rows.insert(copy->rows.begin(), job.from->states.rows.begin(),
                        job.from->states.rows.end());
    bool isNear = job.cached.isNear;
    event.states.emplace(engine->sharedModel(), std::move(*copy), copied,
                         position <= job.prompt.size() && !isNear, isNear);
  } catch (const std::bad_alloc &) {
    // The request ends without.
  }
}

/// What a prompt had of the cache counts when it is first fed.
void Scheduler::countCached(Job &job) {
  if (!cache || job.isCounted)
    return;
  job.isCounted = true;
  const CacheUse &use = job.cached;
  std::lock_guard guard(lock);
  ++counted.cache_prompts[use.miss];
  counted.cache_lost_tokens[use.miss] +=
      use.miss == EFFC_CACHE_DISABLED ? job.prompt.size() - 1 : use.lost;
  counted.cached_prompts += use.position > 0;
  counted.cached_tokens += use.position;
  counted.near_prompts += use.isNear;
}

/// Keeps the states of a prompt that has been fed up to one of its stops.
void Scheduler::keepAtStop(Job &job) {
  if (!cache || job.session.position > job.prompt.size() ||
      std::find(job.stops.begin(), job.stops.end(), job.session.position) ==
          job.stops.end())
    return;
  uint64_t position = job.session.position;
  bool isMarked = false;
  for (uint64_t mark : job.marks)
    isMarked |= mark - mark % grid == position;
  if (cache->keep(job.session, job.salt, std::span(job.prompt).first(position),
                  !job.cached.isNear, isMarked))
    job.cached.kept = position - job.cached.position;
}

/// Keeps the states of texts that have ended, for the next turn.
void Scheduler::keepEnds() {
  if (!cache || !cache->keepsDecoded())
    return;
  for (Job *job : running) {
    if (!job->hasEnded || job->hasFailed || !job->writes() ||
        job->phase != Job::Phase::Decoding)
      continue;
    std::vector<int32_t> tokens = job->prompt;
    tokens.insert(tokens.end(), job->drawn.begin(), job->drawn.end());
    if (job->session.position > tokens.size())
      continue;
    tokens.resize(job->session.position);
    cache->keep(job->session, job->salt, tokens, /*byPrefill=*/false,
                /*isMarked=*/false);
  }
}
