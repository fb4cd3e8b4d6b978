#include "tools/effc-serve/engine/Generation.h"

#include <algorithm>

using namespace effc;
using namespace effc::serve;

ApiError effc::serve::apiErrorOf(const Error &error) {
  switch (error.code()) {
  case EFFC_EXHAUSTED:
    return ApiError(429, error.what(), "", "queue_full");
  case EFFC_OUT_OF_MEMORY:
    return ApiError(400, error.what(), "", "out_of_memory");
  case EFFC_INVALID_ARGUMENT:
  case EFFC_UNSUPPORTED:
  case EFFC_BAD_DATA:
    return ApiError(400, error.what());
  case EFFC_DEVICE_ERROR:
    return ApiError(500, error.what(), "", "device_lost");
  default:
    return ApiError(500, error.what());
  }
}

Generation::Generation(Generations &all, GenerationPlan given,
                       std::shared_ptr<GenerationListener> to)
    : all(all), plan(std::move(given)), listener(std::move(to)),
      choicesLeft(plan.choiceCount()) {
  uint32_t most = all.model().slots();
  for (size_t prompt = 0; prompt < plan.prompts.size(); ++prompt)
    for (uint32_t first = 0; first < plan.choices; first += most)
      units.push_back(
          {this, prompt, first, std::min(most, plan.choices - first)});
}

void Generation::submit(Unit &unit) {
  effc_sampler_options_t sampling = plan.sampling;
  sampling.seed += unit.first;
  sampling.logit_bias = plan.biases.data();
  sampling.logit_bias_count = plan.biases.size();
  std::vector<const char *> stops;
  for (const std::string &stop : plan.stops)
    stops.push_back(stop.c_str());
  effc_request_t request = effc_request_default();
  request.tokens = plan.prompts[unit.prompt].data();
  request.token_count = plan.prompts[unit.prompt].size();
  request.sampling = &sampling;
  request.max_tokens = plan.maxTokens;
  request.choices = unit.count;
  request.stop_tokens = plan.stopTokens.data();
  request.stop_token_count = plan.stopTokens.size();
  request.stop_texts = stops.data();
  request.stop_text_count = stops.size();
  request.ignore_end = plan.ignoreEnd;
  request.prompt_logprobs = plan.promptLogprobs;
  request.grammar = plan.grammar.get();
  request.show_special = plan.showsSpecial;
  if (unit.prompt == 0) {
    request.marks = plan.marks.data();
    request.mark_count = plan.marks.size();
  }
  request.from = plan.from ? plan.from->get() : nullptr;
  request.keep_states = plan.keepsStates;
  request.salt = plan.salt.c_str();
  request.priority = plan.priority;
  request.draft_tokens = plan.draftTokens;
  if (plan.deadline.count() > 0) {
    auto left = since + plan.deadline - std::chrono::steady_clock::now();
    request.deadline_ns = static_cast<uint64_t>(
        std::max<int64_t>(std::chrono::nanoseconds(left).count(), 1));
  }
  request.user = &unit;
  unit.number = all.model().scheduler().submit(request);
  unit.endsLeft = unit.count;
}

void Generation::submitMore() {
  // Twice what runs at once: the next ones wait when the first end.
  size_t most = size_t(2) * all.model().slots();
  while (listener && !isHeld && next < units.size() &&
         (running == 0 || running + units[next].count <= most)) {
    try {
      submit(units[next]);
    } catch (const Error &error) {
      bool wasTaken = next > 0;
      if (error.code() != EFFC_EXHAUSTED || !wasTaken)
        return fail(apiErrorOf(error));
      // Others fill the queue: what is left waits outside.
      if (running == 0 && !retryIsPosted) {
        retryIsPosted = true;
        all.later([self = shared_from_this()] {
          self->retryIsPosted = false;
          self->submitMore();
        });
      }
      return;
    }
    running += units[next++].count;
  }
}

void Generation::take(Unit &unit, const effc_event_t &event) {
  auto self = shared_from_this(); // whoever listens may end it
  size_t base = unit.prompt * plan.choices + unit.first;
  bool isEnd = event.kind == EFFC_EVENT_END;
  tokensCame |= event.kind == EFFC_EVENT_TOKEN;
  if (isEnd) {
    --unit.endsLeft;
    --running;
    --choicesLeft;
  }
  if (auto heard = listener) {
    if (event.kind == EFFC_EVENT_PROMPT)
      for (uint32_t i = 0; i < unit.count; ++i)
        heard->onEvent(base + i, event);
    else
      heard->onEvent(base + event.choice, event);
  }
  if (listener && isEnd && choicesLeft == 0)
    std::exchange(listener, nullptr)->onDone();
  if (listener && isEnd)
    submitMore();
  if (running == 0 && (!listener || choicesLeft == 0))
    all.live.erase(self);
}

void Generation::hold(bool waits) {
  isHeld = waits;
  for (const Unit &unit : units)
    if (unit.endsLeft > 0)
      all.model().scheduler().hold(unit.number, waits);
  submitMore();
}

void Generation::cancel() {
  auto self = shared_from_this();
  listener = nullptr;
  for (const Unit &unit : units)
    if (unit.endsLeft > 0)
      all.model().scheduler().cancel(unit.number);
  if (running == 0)
    all.live.erase(self);
}

void Generation::fail(const ApiError &error) {
  auto heard = std::move(listener);
  cancel();
  if (heard)
    heard->onFailed(error);
}

std::shared_ptr<Generation>
Generations::start(GenerationPlan plan,
                   std::shared_ptr<GenerationListener> listener) {
  auto generation =
      std::make_shared<Generation>(*this, std::move(plan), listener);
  live.insert(generation);
  if (!whyBroken.empty())
    generation->fail(ApiError(503, whyBroken));
  else
    generation->submitMore();
  return generation;
}

void Generations::pump() {
  // Not for ever, so that other connections have their turn.
  for (int i = 0; i < 4096; ++i) {
    try {
      effc_event_t event = served.scheduler().poll();
      if (event.kind == EFFC_EVENT_NONE)
        return;
      if (event.end == EFFC_END_FAILED && event.code == EFFC_DEVICE_ERROR &&
          event.kind == EFFC_EVENT_END)
        lastDeviceFailure = event.message;
      auto &unit = *static_cast<Generation::Unit *>(event.user);
      unit.owner->take(unit, event);
    } catch (const Error &error) {
      whyBroken = error.what();
      return failAll(ApiError(500, whyBroken), /*alsoThoseWithTokens=*/true);
    }
  }
}

void Generations::failAll(const ApiError &error, bool alsoThoseWithTokens) {
  auto all = live; // those that end leave it
  for (const auto &generation : all)
    if (alsoThoseWithTokens || !generation->hasTokens())
      generation->fail(error);
}
