#include "tools/effc/Sampling.h"

#include "tools/terminal/Failure.h"

#include <algorithm>
#include <map>

using namespace effc;
using namespace effc::cli;

namespace {
/// What has been asked for and has not all ended.
class SampleQueue {
public:
  SampleQueue(const std::vector<SamplePrompt> &prompts, size_t first,
              const Model &model, const Engine &engine,
              const SamplingOptions &options)
      : prompts(prompts), options(options),
        scheduler(options.drafts.scheduler(engine, optionsFor(model, options),
                                           drafterOf(options))),
        next(first), told(first) {
    for (const std::string &stop : options.stops)
      stops.push_back(stop.c_str());
    std::string why = scheduler.whyNoDrafts();
    if (options.drafts.mostTokens() > 0 && !why.empty())
      throw Failure("--draft-tokens is not possible: " + why);
  }

  void run(const std::function<bool(size_t, std::vector<OneSample>)> &done) {
    while (told < prompts.size()) {
      fill();
      scheduler.step();
      for (effc_event_t event = scheduler.poll(); event.kind != EFFC_EVENT_NONE;
           event = scheduler.poll())
        take(event);
      for (auto at = open.begin();
           at != open.end() && at->first == told && at->second.left == 0;
           at = open.erase(at), ++told)
        if (!done(told, std::move(at->second.samples)))
          return;
    }
  }

private:
  struct Open { // a prompt
    std::vector<OneSample> samples;
    uint64_t left; // that have not ended
  };
  struct Asked { // a request
    size_t prompt;
    uint64_t firstSample;
    uint64_t left; // samples of it that have not ended
  };

  static const std::optional<Drafter> &
  drafterOf(const SamplingOptions &options) {
    static const std::optional<Drafter> none;
    return options.drafter ? *options.drafter : none;
  }

  static effc_scheduler_options_t optionsFor(const Model &model,
                                             const SamplingOptions &options) {
    effc_scheduler_options_t scheduler = effc_scheduler_options_default();
    scheduler.max_running = options.together;
    scheduler.max_choices = options.together;
    scheduler.max_new_tokens = options.newTokens;
    scheduler.max_queue = 2 * options.together;
    // Nobody waits for a single answer: prompts in calls that are full.
    scheduler.step_tokens = 4096;
    scheduler.max_unread = UINT32_MAX;
    return scheduler;
  }

  /// Asks for as much as keeps the engine busy behind what runs now.
  void fill() {
    while (running < 2 * options.together && next < prompts.size()) {
      auto [at, isNew] = open.try_emplace(next);
      Open &prompt = at->second;
      if (isNew)
        prompt = {std::vector<OneSample>(options.samples), options.samples};
      uint64_t count =
          std::min<uint64_t>(options.together, options.samples - begun);
      effc_sampler_options_t sampling = options.sampling;
      sampling.seed += next * options.samples + begun;
      effc_request_t request = effc_request_default();
      request.tokens = prompts[next].tokens.data();
      request.token_count = prompts[next].tokens.size();
      request.sampling = &sampling;
      request.max_tokens = options.newTokens;
      request.choices = static_cast<uint32_t>(count);
      request.stop_texts = stops.data();
      request.stop_text_count = stops.size();
      request.draft_tokens = options.drafts.mostTokens();
      request.grammar = options.grammar ? options.grammar->get() : nullptr;
      asked[scheduler.submit(request)] = {next, begun, count};
      for (uint64_t i = 0; i < count; ++i)
        prompt.samples[begun + i].seed = sampling.seed + i;
      running += count;
      begun += count;
      if (begun == options.samples) {
        begun = 0;
        ++next;
      }
    }
  }

  void take(const effc_event_t &event) {
    Asked &request = asked.at(event.request);
    Open &prompt = open.at(request.prompt);
    OneSample &sample = prompt.samples[request.firstSample + event.choice];
    sample.text.append(event.text, event.text_size);
    if (event.kind == EFFC_EVENT_TOKEN) {
      sample.tokens.push_back(event.token);
      if (event.logprob_count > 0)
        sample.logprobs.push_back(event.logprobs[0].logprob);
      return;
    }
    sample.reason = reasonOf(event);
    --running;
    --prompt.left;
    if (--request.left == 0)
      asked.erase(event.request);
  }

  static const char *reasonOf(const effc_event_t &event) {
    switch (event.end) {
    case EFFC_END_TOKEN:
      return "end";
    case EFFC_END_STOP:
      return "stop";
    case EFFC_END_LENGTH:
      return "length";
    case EFFC_END_CONTEXT:
      return "context";
    default:
      throw Failure(std::string("a sample failed: ") + event.message);
    }
  }

  const std::vector<SamplePrompt> &prompts;
  const SamplingOptions &options;
  Scheduler scheduler;
  std::vector<const char *> stops;
  std::map<size_t, Open> open; // by prompt
  std::map<uint64_t, Asked> asked;
  size_t next;          // the prompt that samples are asked of next,
  uint64_t begun = 0;   // of which so many have been
  size_t told;          // the next to hand over
  uint64_t running = 0; // samples that have not ended
};
} // namespace

void effc::cli::sampleAll(
    const std::vector<SamplePrompt> &prompts, size_t first, const Model &model,
    const Engine &engine, const SamplingOptions &options,
    const std::function<bool(size_t, std::vector<OneSample>)> &done) {
  SampleQueue(prompts, first, model, engine, options).run(done);
}
