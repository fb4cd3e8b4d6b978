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
  effc_cache_lookup_t lookup = {};
  lookup.prompt_tokens = (*job)->prompt.size();
  lookup.cached_tokens = use.position;
  lookup.matched_tokens = use.matched;
  lookup.miss = use.miss;
  lookup.is_near = use.isNear;
  return lookup;
}

/// Prompts of which nothing has been fed look again when there is something new.
void Scheduler::goOnFromCache(std::span<Job *const> feeding) {
  for (Job *job : feeding) {
    if (!cache || job->fed > 0 || job->lookedAt == cache->version())
      continue;
    job->lookedAt = cache->version();
    CacheUse use;
    if (job->reads()) {
      auto restored = cache->restore(job->session, job->salt, job->prompt);
      if (!restored) {
        hit({&job, 1}, restored.error());
        continue;
      }
      use = *restored;
    }
    job->fed = use.position;
    job->cached = use;
    if (job->writes())
      job->stops = cache->stopsOf(use, job->prompt.size(), job->marks);
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
