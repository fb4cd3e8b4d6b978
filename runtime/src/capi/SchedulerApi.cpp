// effc_scheduler_*: many requests on one engine.

#include "runtime/src/serving/Scheduler.h"

#include "runtime/src/Status.h"
#include "runtime/src/capi/Handles.h"

using namespace effc::rt;

effc_scheduler_options_t effc_scheduler_options_default(void) {
  effc_scheduler_options_t options = {};
  options.size = sizeof options;
  options.max_queue = 256;
  options.step_tokens = 64;
  options.max_new_tokens = 4096;
  options.max_choices = 8;
  options.age_steps = 32;
  options.max_unread = 4096;
  options.reader_ns = 10000000000;
  options.max_retries = 2;
  options.checkpoint_every = 2048;
  options.draft_model_tokens = 4;
  return options;
}

effc_status_t *effc_scheduler_create(effc_engine_t *engine,
                                     const effc_scheduler_options_t *options,
                                     effc_scheduler_t **out_scheduler) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven(
            {{"engine", engine}, {"out_scheduler", out_scheduler}}))
      return error;
    auto given = readSized(options, effc_scheduler_options_default());
    if (!given)
      return given.error();
    auto scheduler = Scheduler::create(
        engine->engine, *given,
        given->draft_engine ? given->draft_engine->engine : nullptr);
    if (!scheduler)
      return scheduler.error();
    *out_scheduler = new effc_scheduler{std::move(*scheduler)};
    return {};
  });
}

void effc_scheduler_free(effc_scheduler_t *scheduler) { delete scheduler; }

effc_request_t effc_request_default(void) {
  effc_request_t request = {};
  request.size = sizeof request;
  request.max_tokens = 128;
  request.choices = 1;
  return request;
}

const char *effc_scheduler_note(const effc_scheduler_t *scheduler) {
  return scheduler ? scheduler->scheduler->note().c_str() : "";
}

const char *effc_scheduler_no_drafts(const effc_scheduler_t *scheduler) {
  return scheduler ? scheduler->scheduler->whyNoDrafts().c_str() : "";
}

/// A request over the defaults, with sampling options that last as long.
struct FilledRequest {
  effc_request_t request;
  effc_sampler_options_t sampling;
};

static Result<FilledRequest> filled(const effc_request_t *request,
                                    const Scheduler &scheduler) {
  auto given = readSized(request, effc_request_default());
  if (!given)
    return given.error();
  effc_model model{scheduler.sharedModel()};
  auto sampling =
      readSized(given->sampling, effc_sampler_options_for_model(&model));
  if (!sampling)
    return sampling.error();
  return FilledRequest{*given, *sampling};
}

effc_status_t *effc_scheduler_cache_lookup(const effc_scheduler_t *scheduler,
                                           const effc_request_t *request,
                                           effc_cache_lookup_t *out_lookup) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"scheduler", scheduler},
                                    {"request", request},
                                    {"out_lookup", out_lookup}}))
      return error;
    auto given = filled(request, *scheduler->scheduler);
    if (!given)
      return given.error();
    given->request.sampling = &given->sampling;
    auto found = scheduler->scheduler->lookUp(given->request);
    if (!found)
      return found.error();
    copySized(*found, out_lookup);
    return {};
  });
}

effc_status_t *effc_scheduler_submit(effc_scheduler_t *scheduler,
                                     const effc_request_t *request,
                                     uint64_t *out_request) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"scheduler", scheduler},
                                    {"request", request},
                                    {"out_request", out_request}}))
      return error;
    auto given = filled(request, *scheduler->scheduler);
    if (!given)
      return given.error();
    given->request.sampling = &given->sampling;
    auto number = scheduler->scheduler->submit(given->request);
    if (!number)
      return number.error();
    *out_request = *number;
    return {};
  });
}

void effc_scheduler_cancel(effc_scheduler_t *scheduler, uint64_t request) {
  if (scheduler)
    scheduler->scheduler->cancel(request);
}

void effc_scheduler_hold(effc_scheduler_t *scheduler, uint64_t request,
                         bool hold) {
  if (scheduler)
    scheduler->scheduler->hold(request, hold);
}

effc_status_t *effc_scheduler_step(effc_scheduler_t *scheduler, bool *out_did) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"scheduler", scheduler}}))
      return error;
    auto did = scheduler->scheduler->step();
    if (!did)
      return did.error();
    if (out_did)
      *out_did = *did;
    return {};
  });
}

effc_status_t *effc_scheduler_start(effc_scheduler_t *scheduler) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"scheduler", scheduler}}))
      return error;
    scheduler->scheduler->start();
    return {};
  });
}

void effc_scheduler_stop(effc_scheduler_t *scheduler) {
  if (scheduler)
    scheduler->scheduler->stop();
}

effc_status_t *effc_scheduler_poll(effc_scheduler_t *scheduler,
                                   uint64_t timeout_ns,
                                   effc_event_t *out_event) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"scheduler", scheduler}, {"out_event", out_event}}))
      return error;
    effc_event_t none = {};
    none.token = none.stop = -1;
    none.text = none.message = "";
    auto event = scheduler->scheduler->poll(timeout_ns);
    if (!event)
      return event.error();
    copySized(*event ? **event : none, out_event);
    return {};
  });
}

int effc_scheduler_fd(const effc_scheduler_t *scheduler) {
  return scheduler ? scheduler->scheduler->descriptor() : -1;
}

void effc_scheduler_stats(const effc_scheduler_t *scheduler,
                          effc_scheduler_stats_t *out_stats) {
  if (scheduler && out_stats)
    copySized(scheduler->scheduler->stats(), out_stats);
}
