#include "tools/effc-serve/api/Answer.h"

#include "tools/effc-serve/wire/CacheReason.h"
#include "tools/effc-serve/wire/JsonText.h"

#include <ctime>
#include <random>

using namespace effc;
using namespace effc::serve;

/// Counted where the client went before its answer, as other servers do.
static constexpr int kClientGone = 499;

/// 24 hexadecimal digits that nobody guesses or meets again.
static std::string newId(const char *prefix) {
  static std::mt19937_64 random{uint64_t(std::random_device{}()) << 32 ^
                                std::random_device{}()};
  char digits[40];
  std::snprintf(digits, sizeof digits, "%016llx%08llx",
                static_cast<unsigned long long>(random()),
                static_cast<unsigned long long>(random() >> 32));
  return prefix + std::string(digits);
}

/// "finish_reason" of an end; null where it is an error.
static const char *finishOf(effc_end_t end) {
  switch (end) {
  case EFFC_END_TOKEN:
  case EFFC_END_STOP:
    return "stop";
  case EFFC_END_LENGTH:
  case EFFC_END_CONTEXT:
    return "length";
  default:
    return nullptr;
  }
}

static ApiError failureOf(const effc_event_t &event) {
  if (event.end == EFFC_END_UNREAD)
    return ApiError(500, "nobody read the answer", "", "slow_reader");
  if (event.end == EFFC_END_DEADLINE)
    return ApiError(408, "the deadline came before a token", "deadline_ms",
                    "deadline_exceeded");
  if (event.end != EFFC_END_FAILED)
    return ApiError(500, "the request was ended");
  const char *code = event.code == EFFC_DEVICE_ERROR ? "device_lost"
                     : event.code == EFFC_BAD_DATA   ? "numeric_error"
                                                     : "";
  return ApiError(500, event.message, "", code);
}

Answer::Answer(std::shared_ptr<Exchange> given, Generations &generations,
               Asked request, Metrics &metrics)
    : exchange(std::move(given)), generations(generations),
      asked(std::move(request)), metrics(metrics), since(Clock::now()) {
  choices.resize(asked.plan.choiceCount());
  for (size_t i = 0; i < choices.size(); ++i) {
    if (asked.logprobs > 0)
      choices[i].logprobs = asked.shape->logprobs();
    if (asked.echoes)
      addPrompt(choices[i], i / asked.plan.choices);
    if (asked.manner)
      choices[i].parts.emplace(generations.model().chat()->chatHandle(),
                               *asked.manner);
  }
  for (const auto &prompt : asked.plan.prompts)
    promptTokens += prompt.size();
  std::string id = newId(asked.shape->idPrefix());
  head = "{\"id\":\"" + id + "\",\"object\":\"" +
         (asked.isStream ? asked.shape->chunkObject()
                         : asked.shape->wholeObject()) +
         "\",\"created\":" + std::to_string(std::time(nullptr)) + ",\"model\":";
  appendQuoted(head, generations.model().name());
  head += ",\"system_fingerprint\":\"" + generations.model().fingerprint() +
          "\",\"choices\":[";
}

/// Of the prompt's first token the model says nothing.
void Answer::addPrompt(Choice &choice, size_t prompt) {
  choice.said.content = asked.promptTexts[prompt];
  if (choice.logprobs) {
    choice.logprobs->add(asked.plan.prompts[prompt][0], {});
    choice.hasLogprobs = true;
  }
}

void Answer::start() {
  if (exchange->isGone())
    return;
  exchange->onGone([weak = weak_from_this()] {
    auto self = weak.lock();
    if (!self || self->isOver)
      return;
    self->endRequest("cancelled", kClientGone);
    if (auto running = self->generation.lock())
      running->cancel();
  });
  exchange->onPressure([weak = weak_from_this()](bool isFull) {
    auto self = weak.lock();
    if (auto running = self ? self->generation.lock() : nullptr)
      running->hold(isFull);
  });
  if (asked.plan.maxTokens == 0 && asked.plan.promptLogprobs == 0) {
    // Nothing is to be computed.
    for (size_t i = 0; i < choices.size(); ++i) {
      choices[i].finish = "length";
      sendPart(i);
    }
    return onDone();
  }
  generation = generations.start(asked.plan, shared_from_this());
  if (isOver || !asked.isStream || hasBegun)
    return;
  sendPart(choices.size()); // the head: the request was taken
}

void Answer::onEvent(size_t index, const effc_event_t &event) {
  if (isOver)
    return;
  Choice &choice = choices[index];
  if (event.kind == EFFC_EVENT_PROMPT) {
    if (!choice.logprobs)
      return;
    const auto &prompt = asked.plan.prompts[index / asked.plan.choices];
    size_t each = asked.plan.promptLogprobs;
    for (size_t i = 0; i < event.prompt_count; ++i)
      choice.logprobs->add(prompt[event.prompt_begin + i],
                           {event.logprobs + i * each, each});
    return;
  }
  addText(choice, event);
  if (event.kind == EFFC_EVENT_TOKEN) {
    took(choice, event);
    if (asked.session)
      drawn.push_back(event.token);
  } else {
    if (event.choice == 0)
      takeCached(event);
    choice.finish = finishOf(event.end);
    // What has come by then is an answer that was cut.
    if (event.end == EFFC_END_DEADLINE && event.new_tokens > 0)
      choice.finish = "length";
    drafted += event.drafted_tokens;
    accepted += event.accepted_tokens;
    // The client is to answer them. One that was cut is no whole call.
    if (choice.parts && choice.parts->hasCalls() && choice.finish &&
        event.end != EFFC_END_LENGTH && event.end != EFFC_END_CONTEXT &&
        event.end != EFFC_END_DEADLINE)
      choice.finish = "tool_calls";
    newTokens += event.new_tokens;
    addTimes(event);
    if (!choice.finish) {
      ApiError error = failureOf(event);
      if (auto running = generation.lock())
        return running->fail(error); // which comes back to onFailed()
      return onFailed(error);
    }
    if (asked.session)
      growSession(event);
  }
  sendPart(index);
}

/// The session has the prompt and the answer. Whoever hears of its end may go on with
/// it, so the lease ends first.
void Answer::growSession(const effc_event_t &event) {
  NamedSession next = asked.session->session();
  next.tokens = asked.plan.prompts[0];
  next.tokens.insert(next.tokens.end(), drawn.begin(), drawn.end());
  next.states =
      event.states
          ? std::make_shared<Checkpoint>(Checkpoint::share(event.states))
          : nullptr;
  next.isNear = event.is_near;
  sessionPart = ",\"session\":{\"id\":\"" + next.id +
                "\",\"tokens\":" + std::to_string(next.tokens.size()) + "}";
  uint64_t bytes = generations.model().stateBytes(next.position());
  std::exchange(asked.session, nullptr)->keep(std::move(next), bytes);
}

void Answer::addText(Choice &choice, const effc_event_t &event) {
  std::string_view text(event.text, event.text_size);
  if (!choice.parts) {
    choice.said.content += text;
    return;
  }
  choice.parts->push(text, choice.said);
  if (event.kind == EFFC_EVENT_END)
    choice.parts->finish(choice.said);
}

void Answer::took(Choice &choice, const effc_event_t &event) {
  if (choice.logprobs) {
    choice.logprobs->add(event.token, {event.logprobs, event.logprob_count});
    choice.hasLogprobs = true;
  }
  auto now = Clock::now();
  if (choice.lastToken != Clock::time_point())
    times().interToken.add(now - choice.lastToken);
  else
    times().firstToken.add(now - since);
  choice.lastToken = now;
}

Times &Answer::times() { return metrics.times[generations.model().name()]; }

/// What the scheduler says of an ended choice: what it came to.
void Answer::addTimes(const effc_event_t &event) {
  times().queue.add(std::chrono::nanoseconds(event.queued_ns));
  if (event.new_tokens == 0)
    return;
  times().prefill.add(std::chrono::nanoseconds(event.prompt_ns));
  times().decode.add(std::chrono::nanoseconds(event.decode_ns));
}

void Answer::appendLogprobs(std::string &out, Choice &choice) {
  out += ",\"logprobs\":";
  if (choice.hasLogprobs)
    choice.logprobs->take(out);
  else
    out += "null";
  choice.hasLogprobs = false;
}

/// Sends what a choice has to say, if that is anything. With an index behind the
/// last choice: the beginning alone.
void Answer::sendPart(size_t index) {
  if (!asked.isStream)
    return;
  part.clear();
  auto chunk = [&](size_t i, std::string_view body) {
    part += "data: ";
    part += head;
    part += "{\"index\":";
    appendNumber(part, uint64_t(i));
    part += body;
  };
  const char *rest = asked.includesUsage ? "],\"usage\":null}\n\n" : "]}\n\n";
  bool begins = !hasBegun;
  hasBegun = true;
  if (begins && !asked.shape->opening().empty())
    for (size_t i = 0; i < choices.size(); ++i) {
      chunk(i, asked.shape->opening());
      part += ",\"logprobs\":null,\"finish_reason\":null}";
      part += rest;
    }
  if (index < choices.size()) {
    Choice &choice = choices[index];
    // A token within a character, or what may become a stop text, waits.
    if (!choice.said.isEmpty() || choice.hasLogprobs || choice.finish) {
      chunk(index, "");
      asked.shape->appendPart(part, choice.said);
      choice.said = {};
      appendLogprobs(part, choice);
      part += ",\"finish_reason\":";
      if (choice.finish)
        appendQuoted(part, choice.finish);
      else
        part += "null";
      part += '}';
      part += rest;
    }
  }
  if (begins) {
    HttpResponse response;
    response.type = "text/event-stream";
    response.headers.push_back({"Cache-Control", "no-cache"});
    response.headers.push_back({"X-Accel-Buffering", "no"});
    response.body = part;
    exchange->begin(std::move(response));
  } else if (!part.empty()) {
    exchange->write(part);
  }
}

void Answer::appendUsage(std::string &out) const {
  out += "\"usage\":{\"prompt_tokens\":";
  appendNumber(out, promptTokens);
  out += ",\"completion_tokens\":";
  appendNumber(out, newTokens);
  out += ",\"total_tokens\":";
  appendNumber(out, promptTokens + newTokens);
  out += ",\"prompt_tokens_details\":{\"cached_tokens\":";
  appendNumber(out, cached.tokens);
  out += ",\"cache_write_tokens\":";
  appendNumber(out, cached.kept);
  out += "}}";
}

void Answer::takeCached(const effc_event_t &event) {
  cached.tokens += event.cached_tokens;
  cached.matched += event.matched_tokens;
  cached.kept += event.kept_tokens;
  cached.isNear |= event.is_near;
  if (cached.miss == EFFC_CACHE_HIT)
    cached.miss = event.cache_miss;
}

void Answer::appendExtension(std::string &out) const {
  out += "\"effc\":{\"seed\":";
  out += std::to_string(static_cast<int64_t>(asked.plan.sampling.seed));
  out += ",\"ignored\":[";
  for (size_t i = 0; i < asked.ignored.size(); ++i) {
    out += i == 0 ? "" : ",";
    appendQuoted(out, asked.ignored[i]);
  }
  out += "],\"cache\":{\"hit\":";
  appendNumber(out, cached.tokens);
  out += ",\"matched\":";
  appendNumber(out, cached.matched);
  out += cached.isNear ? ",\"kind\":\"near\"" : ",\"kind\":\"exact\"";
  out += ",\"reason\":\"";
  out += cacheReason(cached.miss);
  out += "\"}";
  if (asked.plan.draftTokens > 0) {
    out += ",\"speculation\":{\"drafted\":";
    appendNumber(out, drafted);
    out += ",\"accepted\":";
    appendNumber(out, accepted);
    out += '}';
  }
  out += sessionPart + "}";
}

void Answer::onDone() {
  if (isOver)
    return;
  endRequest("done", 200);
  if (!asked.isStream)
    return finishWhole();
  part = "data: " + head + "],";
  if (asked.includesUsage) {
    appendUsage(part);
    part += ',';
    appendExtension(part);
    part += "}\n\n";
  } else {
    part.clear();
  }
  part += "data: [DONE]\n\n";
  exchange->write(part);
  exchange->end();
}

void Answer::finishWhole() {
  HttpResponse response;
  std::string &body = response.body = head;
  for (size_t i = 0; i < choices.size(); ++i) {
    body += i == 0 ? "{\"index\":" : ",{\"index\":";
    appendNumber(body, uint64_t(i));
    asked.shape->appendWhole(body, choices[i].said);
    appendLogprobs(body, choices[i]);
    body += ",\"finish_reason\":";
    appendQuoted(body, choices[i].finish);
    body += '}';
  }
  body += "],";
  appendUsage(body);
  body += ',';
  appendExtension(body);
  body += '}';
  exchange->answer(std::move(response));
}

void Answer::onFailed(const ApiError &error) {
  if (isOver)
    return;
  endRequest("failed", error.status);
  if (!hasBegun)
    return exchange->answer(error.response());
  exchange->write("data: " + error.body() + "\n\n");
  exchange->end();
}

void Answer::endRequest(const char *reason, int status) {
  isOver = true;
  asked.session.reset();
  ++metrics.answers[{exchange->request().path, status}];
  times().request.add(Clock::now() - since);
  metrics.log.request({exchange->request().path, generations.model().name(),
                       reason, promptTokens, newTokens, Clock::now() - since,
                       asked.isStream});
}
