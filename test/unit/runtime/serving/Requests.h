//===- Requests.h - Requests, and what each gets alone --------------------===//
#ifndef EFFC_TEST_UNIT_RUNTIME_SERVING_REQUESTS_H
#define EFFC_TEST_UNIT_RUNTIME_SERVING_REQUESTS_H

#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <map>
#include <random>
#include <string>
#include <vector>

namespace effc::test {

/// A request with what its pointers lead to.
struct Asked {
  std::vector<int32_t> prompt;
  effc_sampler_options_t sampling = effc_sampler_options_default();
  uint64_t maxTokens = 20;
  uint32_t priority = 0, choices = 1;

  effc_request_t request() const {
    effc_request_t request = effc_request_default();
    request.tokens = prompt.data();
    request.token_count = prompt.size();
    request.sampling = &sampling;
    request.max_tokens = maxTokens;
    request.priority = priority;
    request.choices = choices;
    return request;
  }
};

/// Of any length and by any rules of sampling.
inline Asked randomRequest(std::mt19937 &random) {
  Asked asked;
  asked.prompt.resize(1 + random() % 60);
  for (int32_t &token : asked.prompt)
    token = static_cast<int32_t>(random() % kToyVocabulary);
  effc_sampler_options_t &options = asked.sampling;
  options.temperature = random() % 3 == 0 ? 0 : 0.5f + 0.25f * (random() % 9);
  options.seed = random();
  options.top_k = random() % 3 == 0 ? 12 : 0;
  options.top_p = random() % 3 == 0 ? 0.8f : 1;
  options.repeat_penalty = random() % 4 == 0 ? 1.2f : 1;
  options.frequency_penalty = random() % 4 == 0 ? 0.5f : 0;
  asked.maxTokens = 1 + random() % 40;
  asked.priority = random() % 8;
  asked.choices = random() % 4 == 0 ? 2 + random() % 3 : 1;
  return asked;
}

/// The tokens of a request's choice by the toy's reference and a sampler, one step
/// after another, up to the model's end.
inline std::vector<int32_t> alone(Asked asked, uint32_t choice = 0) {
  asked.sampling.seed += choice;
  ToyReference reference;
  std::vector<float> all = reference.feed(asked.prompt);
  std::vector<float> row(all.end() - kToyVocabulary, all.end());
  Sampler sampler(asked.sampling, kToyVocabulary);
  sampler.accept(asked.prompt);
  std::vector<int32_t> made;
  while (made.size() < asked.maxTokens) {
    int32_t token = sampler.sample(row);
    if (token == kToyEnd)
      break;
    made.push_back(token);
    row = reference.step(token);
  }
  return made;
}

/// What came of each request.
struct Heard {
  std::vector<int32_t> tokens;
  std::string text, message;
  int ends = 0;
  effc_end_t end = EFFC_END_FAILED;
  int32_t stop = -1;

  void take(const effc_event_t &event) {
    text.append(event.text, event.text_size);
    if (event.kind == EFFC_EVENT_TOKEN)
      tokens.push_back(event.token);
    if (event.kind != EFFC_EVENT_END)
      return;
    ++ends;
    end = event.end;
    stop = event.stop;
    message = event.message;
  }
};
/// By request, and by the numbers behind it for its other choices.
using Hearing = std::map<uint64_t, Heard>;

inline void hear(Scheduler &scheduler, Hearing &hearing) {
  for (effc_event_t event = scheduler.poll(); event.kind != EFFC_EVENT_NONE;
       event = scheduler.poll())
    hearing[event.request + event.choice].take(event);
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_RUNTIME_SERVING_REQUESTS_H
