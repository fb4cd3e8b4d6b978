// Every function of the C API with each of its pointers null in turn: a status
// that names the argument, or where there is no status a plain value.

#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <regex>
#include <set>

using namespace effc;
using namespace effc::test;

namespace {
class NullArguments : public testing::Test {
protected:
  NullArguments() {
    info.size = sizeof info;
    entry.size = sizeof entry;
    segment.size = sizeof segment;
    weight.size = sizeof weight;
    prompt.size = sizeof prompt;
    prompt.session = session.get();
    prompt.tokens = &token;
    prompt.count = 1;
  }

  TemporaryFile file{makeToyArtifact()};
  Model model{file.path()};
  Device device = Device::host(1);
  Engine engine{model, device};
  Session session{engine};
  Checkpoint place{session};
  effc_checkpoint_t *outPlace = nullptr;
  Sampler sampler{model};
  Detokenizer detokenizer{model};

  effc_model_t *m = model.get();
  effc_device_t *d = device.get();
  effc_engine_t *e = engine.get();
  effc_session_t *s = session.get();
  effc_sampler_t *p = sampler.get();
  effc_detokenizer_t *t = detokenizer.get();

  // Places that nothing is written to.
  effc_model_t *outModel = nullptr;
  effc_device_t *outDevice = nullptr;
  effc_engine_t *outEngine = nullptr;
  effc_session_t *outSession = nullptr;
  effc_sampler_t *outSampler = nullptr;
  effc_detokenizer_t *outDetokenizer = nullptr;
  effc_state_info_t info = {};
  effc_chat_template_t chat = {};
  effc_tap_t tap = {};
  effc_chat_t *outChat = nullptr;
  effc_chat_text_t *outPrompt = nullptr;
  effc_conversation_t conversation = effc_conversation_default();
  effc_entry_info_t entry = {};
  effc_segment_info_t segment = {};
  effc_weight_info_t weight = {};
  effc_entry_counters_t entryCounters = {};
  StopText stop{{"end"}};
  Scheduler scheduler{engine};
  effc_scheduler_t *c = scheduler.get(), *outScheduler = nullptr;
  effc_request_t request = effc_request_default();
  effc_cache_lookup_t lookup = {};
  effc_event_t event = {};
  uint64_t number = 0;
  effc_stop_t *outStop = nullptr;
  effc_logprob_t logprob = {};
  const effc_logprob_t *outLogprobs = nullptr;
  effc_prompt_t prompt = {};
  char digits[65] = {};
  float logits[kToyVocabulary] = {};
  int32_t token = 3, outToken = 0;
  const char *text = nullptr;
  size_t size = 0;
  std::string path = file.path();
};

struct Call {
  const char *function;
  const char *argument; // that is null, as the message names it
  std::function<effc_status_t *()> call;
};
} // namespace

TEST_F(NullArguments, GiveAStatus) {
  const char *f = path.c_str();
  const std::vector<Call> calls = {
      {"effc_model_load", "'path'",
       [&] { return effc_model_load(nullptr, &outModel); }},
      {"effc_model_load", "'out_model'",
       [&] { return effc_model_load(f, nullptr); }},
      {"effc_model_load_with", "'path'",
       [&] { return effc_model_load_with(nullptr, nullptr, &outModel); }},
      {"effc_model_load_with", "'out_model'",
       [&] { return effc_model_load_with(f, nullptr, nullptr); }},
      {"effc_model_check", "'model'",
       [&] { return effc_model_check(nullptr, nullptr, nullptr); }},
      {"effc_model_sha256", "'model'",
       [&] { return effc_model_sha256(nullptr, nullptr, nullptr, digits); }},
      {"effc_model_sha256", "'out_digits'",
       [&] { return effc_model_sha256(m, nullptr, nullptr, nullptr); }},
      {"effc_model_stop", "'model'",
       [&] { return effc_model_stop(nullptr, 0, &text); }},
      {"effc_model_stop", "'out_text'",
       [&] { return effc_model_stop(m, 0, nullptr); }},
      {"effc_model_tap", "'model'",
       [&] { return effc_model_tap(nullptr, 0, &tap); }},
      {"effc_model_tap", "'out_tap'",
       [&] { return effc_model_tap(m, 0, nullptr); }},
      {"effc_model_chat_template", "'model'",
       [&] { return effc_model_chat_template(nullptr, 0, &chat); }},
      {"effc_model_chat_template", "'out_template'",
       [&] { return effc_model_chat_template(m, 0, nullptr); }},
      {"effc_chat_create", "'model'",
       [&] { return effc_chat_create(nullptr, nullptr, &outChat); }},
      {"effc_chat_create", "'out_chat'",
       [&] { return effc_chat_create(m, nullptr, nullptr); }},
      {"effc_chat_create_from_source", "'source'",
       [&] { return effc_chat_create_from_source(nullptr, 1, m, &outChat); }},
      {"effc_chat_create_from_source", "'out_chat'",
       [&] { return effc_chat_create_from_source("", 0, m, nullptr); }},
      {"effc_profile_start", "'engine'",
       [&] { return effc_profile_start(nullptr, nullptr); }},
      {"effc_profile_save", "'engine'",
       [&] { return effc_profile_save(nullptr, path.c_str()); }},
      {"effc_profile_save", "'path'",
       [&] { return effc_profile_save(e, nullptr); }},
      {"effc_chat_end_token", "'chat'",
       [&] { return effc_chat_end_token(nullptr, m, &token); }},
      {"effc_chat_text_tokenize", "'model'",
       [&] {
         return effc_chat_text_tokenize(nullptr, outPrompt, &token, 1, &size);
       }},
      {"effc_chat_text_tokenize", "'prompt'",
       [&] { return effc_chat_text_tokenize(m, nullptr, &token, 1, &size); }},
      {"effc_chat_render", "'chat'",
       [&] { return effc_chat_render(nullptr, &conversation, &outPrompt); }},
      {"effc_model_state", "'model'",
       [&] { return effc_model_state(nullptr, 0, &info); }},
      {"effc_model_state", "'out_state'",
       [&] { return effc_model_state(m, 0, nullptr); }},
      {"effc_model_entry", "'model'",
       [&] { return effc_model_entry(nullptr, 0, &entry); }},
      {"effc_model_entry", "'out_entry'",
       [&] { return effc_model_entry(m, 0, nullptr); }},
      {"effc_model_segment", "'model'",
       [&] { return effc_model_segment(nullptr, 0, &segment); }},
      {"effc_model_segment", "'out_segment'",
       [&] { return effc_model_segment(m, 0, nullptr); }},
      {"effc_model_weight", "'model'",
       [&] { return effc_model_weight(nullptr, 0, &weight); }},
      {"effc_model_weight", "'out_weight'",
       [&] { return effc_model_weight(m, 0, nullptr); }},
      {"effc_model_tokenize", "'model'",
       [&] {
         return effc_model_tokenize(nullptr, "a", 1, 0, nullptr, 0, &size);
       }},
      {"effc_model_tokenize", "'text'",
       [&] {
         return effc_model_tokenize(m, nullptr, 1, 0, nullptr, 0, &size);
       }},
      {"effc_model_tokenize", "'out_tokens'",
       [&] { return effc_model_tokenize(m, "a", 1, 0, nullptr, 1, &size); }},
      {"effc_model_tokenize", "'out_count'",
       [&] { return effc_model_tokenize(m, "a", 1, 0, nullptr, 0, nullptr); }},
      {"effc_model_detokenize", "'model'",
       [&] {
         return effc_model_detokenize(nullptr, &token, 1, 0, nullptr, 0, &size);
       }},
      {"effc_model_detokenize", "'tokens'",
       [&] {
         return effc_model_detokenize(m, nullptr, 1, 0, nullptr, 0, &size);
       }},
      {"effc_model_detokenize", "'out_text'",
       [&] {
         return effc_model_detokenize(m, &token, 1, 0, nullptr, 1, &size);
       }},
      {"effc_model_detokenize", "'out_size'",
       [&] {
         return effc_model_detokenize(m, &token, 1, 0, nullptr, 0, nullptr);
       }},
      {"effc_detokenizer_create", "'model'",
       [&] { return effc_detokenizer_create(nullptr, 0, &outDetokenizer); }},
      {"effc_detokenizer_create", "'out_detokenizer'",
       [&] { return effc_detokenizer_create(m, 0, nullptr); }},
      {"effc_detokenizer_push", "'detokenizer'",
       [&] { return effc_detokenizer_push(nullptr, 3, &text, &size); }},
      {"effc_detokenizer_push", "'out_text'",
       [&] { return effc_detokenizer_push(t, 3, nullptr, &size); }},
      {"effc_detokenizer_push", "'out_size'",
       [&] { return effc_detokenizer_push(t, 3, &text, nullptr); }},
      {"effc_detokenizer_finish", "'detokenizer'",
       [&] { return effc_detokenizer_finish(nullptr, &text, &size); }},
      {"effc_detokenizer_finish", "'out_text'",
       [&] { return effc_detokenizer_finish(t, nullptr, &size); }},
      {"effc_detokenizer_finish", "'out_size'",
       [&] { return effc_detokenizer_finish(t, &text, nullptr); }},
      {"effc_device_create_host", "'out_device'",
       [&] { return effc_device_create_host(nullptr, nullptr); }},
      {"effc_device_create_sim", "'out_device'",
       [&] { return effc_device_create_sim(nullptr, nullptr); }},
      {"effc_device_create_cuda", "'out_device'",
       [&] { return effc_device_create_cuda(nullptr, nullptr); }},
      {"effc_device_accepts", "'device'",
       [&] { return effc_device_accepts(nullptr, m); }},
      {"effc_device_accepts", "'model'",
       [&] { return effc_device_accepts(d, nullptr); }},
      {"effc_engine_create", "'model'",
       [&] { return effc_engine_create(nullptr, d, nullptr, &outEngine); }},
      {"effc_engine_create", "'device'",
       [&] { return effc_engine_create(m, nullptr, nullptr, &outEngine); }},
      {"effc_engine_create", "'out_engine'",
       [&] { return effc_engine_create(m, d, nullptr, nullptr); }},
      {"effc_engine_entry_counters", "'engine'",
       [&] { return effc_engine_entry_counters(nullptr, 0, &entryCounters); }},
      {"effc_engine_entry_counters", "'out_counters'",
       [&] { return effc_engine_entry_counters(e, 0, nullptr); }},
      {"effc_session_create", "'engine'",
       [&] { return effc_session_create(nullptr, &outSession); }},
      {"effc_session_create", "'out_session'",
       [&] { return effc_session_create(e, nullptr); }},
      {"effc_session_accepts", "'session'",
       [&] { return effc_session_accepts(nullptr, 1); }},
      {"effc_session_fork", "'session'",
       [&] { return effc_session_fork(nullptr, &outSession); }},
      {"effc_session_fork", "'out_session'",
       [&] { return effc_session_fork(s, nullptr); }},
      {"effc_session_assign", "'session'",
       [&] { return effc_session_assign(nullptr, s); }},
      {"effc_session_assign", "'from'",
       [&] { return effc_session_assign(s, nullptr); }},
      {"effc_session_checkpoint", "'session'",
       [&] { return effc_session_checkpoint(nullptr, nullptr, &outPlace); }},
      {"effc_session_checkpoint", "'out_checkpoint'",
       [&] { return effc_session_checkpoint(s, nullptr, nullptr); }},
      {"effc_session_restore", "'session'",
       [&] { return effc_session_restore(nullptr, place.get()); }},
      {"effc_session_restore", "'checkpoint'",
       [&] { return effc_session_restore(s, nullptr); }},
      {"effc_session_rewind", "'session'",
       [&] { return effc_session_rewind(nullptr, 0, nullptr); }},
      {"effc_checkpoint_share", "'checkpoint'",
       [&] { return effc_checkpoint_share(nullptr, &outPlace); }},
      {"effc_checkpoint_share", "'out_checkpoint'",
       [&] { return effc_checkpoint_share(place.get(), nullptr); }},
      {"effc_checkpoint_save", "'checkpoint'",
       [&] { return effc_checkpoint_save(nullptr, "x", nullptr); }},
      {"effc_checkpoint_save", "'path'",
       [&] { return effc_checkpoint_save(place.get(), nullptr, nullptr); }},
      {"effc_checkpoint_load", "'model'",
       [&] { return effc_checkpoint_load(nullptr, "x", &outPlace); }},
      {"effc_checkpoint_load", "'path'",
       [&] { return effc_checkpoint_load(m, nullptr, &outPlace); }},
      {"effc_checkpoint_load", "'out_checkpoint'",
       [&] { return effc_checkpoint_load(m, "x", nullptr); }},
      {"effc_session_save", "'session'",
       [&] { return effc_session_save(nullptr, f); }},
      {"effc_session_save", "'path'",
       [&] { return effc_session_save(s, nullptr); }},
      {"effc_session_save_with", "'session'",
       [&] { return effc_session_save_with(nullptr, f, nullptr); }},
      {"effc_session_save_with", "'path'",
       [&] { return effc_session_save_with(s, nullptr, nullptr); }},
      {"effc_session_load", "'session'",
       [&] { return effc_session_load(nullptr, f); }},
      {"effc_session_load", "'path'",
       [&] { return effc_session_load(s, nullptr); }},
      {"effc_session_save_memory", "'session'",
       [&] { return effc_session_save_memory(nullptr, nullptr, 0, &size); }},
      {"effc_session_save_memory", "'out_bytes'",
       [&] { return effc_session_save_memory(s, nullptr, 1, &size); }},
      {"effc_session_save_memory", "'out_size'",
       [&] { return effc_session_save_memory(s, nullptr, 0, nullptr); }},
      {"effc_session_load_memory", "'session'",
       [&] { return effc_session_load_memory(nullptr, "", 1); }},
      {"effc_session_load_memory", "'bytes'",
       [&] { return effc_session_load_memory(s, nullptr, 1); }},
      {"effc_engine_prefill", "'engine'",
       [&] { return effc_engine_prefill(nullptr, &prompt, 1); }},
      {"effc_engine_prefill", "'prompts'",
       [&] { return effc_engine_prefill(e, nullptr, 1); }},
      {"effc_engine_prefill", "session 0",
       [&] {
         effc_prompt_t other = prompt;
         other.session = nullptr;
         return effc_engine_prefill(e, &other, 1);
       }},
      {"effc_engine_prefill", "'tokens' of prompt 0",
       [&] {
         effc_prompt_t other = prompt;
         other.tokens = nullptr;
         return effc_engine_prefill(e, &other, 1);
       }},
      {"effc_engine_prefill", "'out_logits'",
       [&] {
         effc_prompt_t other = prompt;
         other.wanted = EFFC_LOGITS_LAST;
         return effc_engine_prefill(e, &other, 1);
       }},
      {"effc_engine_decode", "'engine'",
       [&] { return effc_engine_decode(nullptr, &s, &token, 1, logits); }},
      {"effc_engine_decode", "'sessions'",
       [&] { return effc_engine_decode(e, nullptr, &token, 1, logits); }},
      {"effc_engine_decode", "session 0",
       [&] {
         effc_session_t *none = nullptr;
         return effc_engine_decode(e, &none, &token, 1, logits);
       }},
      {"effc_engine_decode", "'tokens'",
       [&] { return effc_engine_decode(e, &s, nullptr, 1, logits); }},
      {"effc_engine_decode_best", "'engine'",
       [&] {
         return effc_engine_decode_best(nullptr, &s, &token, 1, &outToken);
       }},
      {"effc_engine_decode_best", "'sessions'",
       [&] {
         return effc_engine_decode_best(e, nullptr, &token, 1, &outToken);
       }},
      {"effc_engine_decode_best", "'tokens'",
       [&] { return effc_engine_decode_best(e, &s, nullptr, 1, &outToken); }},
      {"effc_engine_decode_best", "'out_tokens'",
       [&] { return effc_engine_decode_best(e, &s, &token, 1, nullptr); }},
      {"effc_engine_decode_draw", "'engine'",
       [&] {
         return effc_engine_decode_draw(nullptr, &s, &p, &token, 1, &outToken);
       }},
      {"effc_engine_decode_draw", "'sessions'",
       [&] {
         return effc_engine_decode_draw(e, nullptr, &p, &token, 1, &outToken);
       }},
      {"effc_engine_decode_draw", "'samplers'",
       [&] {
         return effc_engine_decode_draw(e, &s, nullptr, &token, 1, &outToken);
       }},
      {"effc_engine_decode_draw", "sampler 0",
       [&] {
         effc_sampler_t *none = nullptr;
         return effc_engine_decode_draw(e, &s, &none, &token, 1, &outToken);
       }},
      {"effc_engine_decode_draw", "'tokens'",
       [&] {
         return effc_engine_decode_draw(e, &s, &p, nullptr, 1, &outToken);
       }},
      {"effc_engine_decode_draw", "'out_tokens'",
       [&] { return effc_engine_decode_draw(e, &s, &p, &token, 1, nullptr); }},
      {"effc_engine_decode_steps", "'engine'",
       [&] {
         return effc_engine_decode_steps(nullptr, &s, &p, &token, 1, 1, nullptr,
                                         &outToken, &size);
       }},
      {"effc_engine_decode_steps", "'sessions'",
       [&] {
         return effc_engine_decode_steps(e, nullptr, &p, &token, 1, 1, nullptr,
                                         &outToken, &size);
       }},
      {"effc_engine_decode_steps", "sampler 0",
       [&] {
         effc_sampler_t *none = nullptr;
         return effc_engine_decode_steps(e, &s, &none, &token, 1, 1, nullptr,
                                         &outToken, &size);
       }},
      {"effc_engine_decode_steps", "'tokens'",
       [&] {
         return effc_engine_decode_steps(e, &s, &p, nullptr, 1, 1, nullptr,
                                         &outToken, &size);
       }},
      {"effc_engine_decode_steps", "'out_tokens'",
       [&] {
         return effc_engine_decode_steps(e, &s, &p, &token, 1, 1, nullptr,
                                         nullptr, &size);
       }},
      {"effc_engine_decode_steps", "'out_lengths'",
       [&] {
         return effc_engine_decode_steps(e, &s, &p, &token, 1, 1, nullptr,
                                         &outToken, nullptr);
       }},
      {"effc_engine_decode_steps", "'end_tokens'",
       [&] {
         effc_steps_options_t ends = effc_steps_options_default();
         ends.end_count = 1;
         return effc_engine_decode_steps(e, &s, &p, &token, 1, 1, &ends,
                                         &outToken, &size);
       }},
      {"effc_sampler_guess", "'sampler'",
       [&] { return effc_sampler_guess(nullptr, logits, 0, &token); }},
      {"effc_sampler_guess", "'logits'",
       [&] { return effc_sampler_guess(p, nullptr, 0, &token); }},
      {"effc_sampler_guess", "'out_token'",
       [&] { return effc_sampler_guess(p, logits, 0, nullptr); }},
      {"effc_sampler_create", "'out_sampler'",
       [&] { return effc_sampler_create(nullptr, kToyVocabulary, nullptr); }},
      {"effc_sampler_accept", "'sampler'",
       [&] { return effc_sampler_accept(nullptr, &token, 1); }},
      {"effc_sampler_accept", "'tokens'",
       [&] { return effc_sampler_accept(p, nullptr, 1); }},
      {"effc_sampler_sample", "'sampler'",
       [&] { return effc_sampler_sample(nullptr, logits, &outToken); }},
      {"effc_sampler_sample", "'logits'",
       [&] { return effc_sampler_sample(p, nullptr, &outToken); }},
      {"effc_sampler_sample", "'out_token'",
       [&] { return effc_sampler_sample(p, logits, nullptr); }},
      {"effc_logprobs", "'logits'",
       [&] { return effc_logprobs(nullptr, kToyVocabulary, 3, &logprob, 1); }},
      {"effc_logprobs", "'out_logprobs'",
       [&] { return effc_logprobs(logits, kToyVocabulary, 3, nullptr, 1); }},
      {"effc_sampler_logprobs", "'sampler'",
       [&] { return effc_sampler_logprobs(nullptr, &outLogprobs, &size); }},
      {"effc_sampler_logprobs", "'out_logprobs'",
       [&] { return effc_sampler_logprobs(p, nullptr, &size); }},
      {"effc_sampler_logprobs", "'out_count'",
       [&] { return effc_sampler_logprobs(p, &outLogprobs, nullptr); }},
      {"effc_scheduler_create", "'engine'",
       [&] { return effc_scheduler_create(nullptr, nullptr, &outScheduler); }},
      {"effc_scheduler_create", "'out_scheduler'",
       [&] { return effc_scheduler_create(e, nullptr, nullptr); }},
      {"effc_scheduler_cache_lookup", "'scheduler'",
       [&] { return effc_scheduler_cache_lookup(nullptr, &request, &lookup); }},
      {"effc_scheduler_cache_lookup", "'request'",
       [&] { return effc_scheduler_cache_lookup(c, nullptr, &lookup); }},
      {"effc_scheduler_cache_lookup", "'out_lookup'",
       [&] { return effc_scheduler_cache_lookup(c, &request, nullptr); }},
      {"effc_scheduler_submit", "'scheduler'",
       [&] { return effc_scheduler_submit(nullptr, &request, &number); }},
      {"effc_scheduler_submit", "'request'",
       [&] { return effc_scheduler_submit(c, nullptr, &number); }},
      {"effc_scheduler_submit", "'out_request'",
       [&] { return effc_scheduler_submit(c, &request, nullptr); }},
      {"effc_scheduler_submit", "'tokens'",
       [&] {
         effc_request_t other = request;
         other.token_count = 1;
         return effc_scheduler_submit(c, &other, &number);
       }},
      {"effc_scheduler_submit", "'text'",
       [&] {
         effc_request_t other = request;
         other.text_size = 1;
         return effc_scheduler_submit(c, &other, &number);
       }},
      {"effc_scheduler_submit", "'stop_tokens'",
       [&] {
         effc_request_t other = request;
         other.text = "a";
         other.text_size = other.stop_token_count = 1;
         return effc_scheduler_submit(c, &other, &number);
       }},
      {"effc_scheduler_submit", "'stop_texts'",
       [&] {
         effc_request_t other = request;
         other.text = "a";
         other.text_size = other.stop_text_count = 1;
         return effc_scheduler_submit(c, &other, &number);
       }},
      {"effc_scheduler_step", "'scheduler'",
       [&] { return effc_scheduler_step(nullptr, nullptr); }},
      {"effc_scheduler_start", "'scheduler'",
       [&] { return effc_scheduler_start(nullptr); }},
      {"effc_scheduler_poll", "'scheduler'",
       [&] { return effc_scheduler_poll(nullptr, 0, &event); }},
      {"effc_scheduler_poll", "'out_event'",
       [&] { return effc_scheduler_poll(c, 0, nullptr); }},
      {"effc_stop_create", "'texts'",
       [&] { return effc_stop_create(nullptr, 1, &outStop); }},
      {"effc_stop_create", "'out_stop'",
       [&] { return effc_stop_create(&text, 0, nullptr); }},
      {"effc_stop_push", "'stop'",
       [&] {
         return effc_stop_push(nullptr, "a", 1, &text, &size, &outToken);
       }},
      {"effc_stop_push", "'text'",
       [&] {
         return effc_stop_push(stop.get(), nullptr, 1, &text, &size, &outToken);
       }},
      {"effc_stop_push", "'out_text'",
       [&] {
         return effc_stop_push(stop.get(), "a", 1, nullptr, &size, &outToken);
       }},
      {"effc_stop_push", "'out_size'",
       [&] {
         return effc_stop_push(stop.get(), "a", 1, &text, nullptr, &outToken);
       }},
      {"effc_stop_push", "'out_index'",
       [&] {
         return effc_stop_push(stop.get(), "a", 1, &text, &size, nullptr);
       }},
      {"effc_stop_finish", "'stop'",
       [&] { return effc_stop_finish(nullptr, &text, &size); }},
      {"effc_stop_finish", "'out_text'",
       [&] { return effc_stop_finish(stop.get(), nullptr, &size); }},
      {"effc_stop_finish", "'out_size'",
       [&] { return effc_stop_finish(stop.get(), &text, nullptr); }},
  };
  std::set<std::string> called;
  for (const Call &one : calls) {
    effc_status_t *status = one.call();
    EXPECT_EQ(effc_status_code(status), EFFC_INVALID_ARGUMENT)
        << one.function << ", " << one.argument;
    EXPECT_NE(std::string(effc_status_message(status)).find(one.argument),
              std::string::npos)
        << one.function << ": " << effc_status_message(status);
    effc_status_free(status);
    called.insert(one.function);
  }
  EXPECT_EQ(effc_session_position(s), 0u); // nothing has run

  // The table has every function that returns a status.
  const std::regex declaration(
      R"(EFFC_API\s+effc_status_t\s*\*\s*(effc_\w+)\()");
  for (const char *name :
       {"effc.h", "checkpoint.h", "counters.h", "device.h", "sampler.h",
        "scheduler.h", "state.h", "steps.h", "stop.h", "taps.h"}) {
    std::ifstream stream(std::string(EFFC_HEADERS "/") + name);
    std::string header((std::istreambuf_iterator<char>(stream)), {});
    ASSERT_FALSE(header.empty()) << name;
    for (std::sregex_iterator at(header.begin(), header.end(), declaration),
         end;
         at != end; ++at)
      EXPECT_TRUE(called.count((*at)[1])) << (*at)[1] << " is not called";
  }
}

TEST_F(NullArguments, GiveNothingWhereThereIsNoStatus) {
  EXPECT_EQ(effc_model_vocabulary_size(nullptr), 0u);
  EXPECT_EQ(effc_model_max_context(nullptr), 0u);
  EXPECT_EQ(effc_model_hidden_width(nullptr), 0u);
  EXPECT_EQ(effc_model_tap_count(nullptr), 0u);
  EXPECT_STREQ(effc_model_describe(nullptr), "");
  EXPECT_EQ(effc_model_state_count(nullptr), 0u);
  EXPECT_EQ(effc_model_entry_count(nullptr), 0u);
  EXPECT_EQ(effc_model_segment_count(nullptr), 0u);
  EXPECT_EQ(effc_model_weight_count(nullptr), 0u);
  EXPECT_FALSE(effc_model_has_tokenizer(nullptr));
  EXPECT_EQ(effc_session_position(nullptr), 0u);
  EXPECT_EQ(effc_checkpoint_position(nullptr), 0u);
  EXPECT_EQ(effc_checkpoint_bytes(nullptr), 0u);
  EXPECT_EQ(effc_device_threads(nullptr), 0u);
  EXPECT_STREQ(effc_device_description(nullptr), "");
  EXPECT_STREQ(effc_engine_note(nullptr), "");
  EXPECT_EQ(effc_engine_device_seconds(nullptr), -1);
  EXPECT_EQ(effc_engine_entry_count(nullptr), 0u);
  effc_scheduler_cancel(nullptr, 1);
  effc_scheduler_hold(nullptr, 1, true);
  effc_scheduler_stop(nullptr);
  EXPECT_EQ(effc_scheduler_fd(nullptr), -1);
  effc_scheduler_stats(nullptr, nullptr);
  EXPECT_STREQ(effc_scheduler_note(nullptr), "");
  EXPECT_STREQ(effc_scheduler_no_drafts(nullptr), "");
  effc_session_reset(nullptr);
  effc_sampler_options_t plain = effc_sampler_options_default(),
                         ofNone = effc_sampler_options_for_model(nullptr);
  EXPECT_EQ(ofNone.size, plain.size);
  EXPECT_EQ(ofNone.temperature, plain.temperature);
  EXPECT_EQ(ofNone.repeat_penalty, plain.repeat_penalty);

  effc_generation_t generation = {};
  generation.size = sizeof generation;
  generation.bos = 77;
  effc_model_generation(nullptr, &generation);
  EXPECT_EQ(generation.bos, 77);
  effc_model_generation(m, nullptr);
  effc_memory_t memory = {};
  memory.size = sizeof memory;
  memory.arena = 77;
  effc_model_memory(nullptr, &memory);
  EXPECT_EQ(memory.arena, 77u);
  effc_model_memory(m, nullptr);
  effc_engine_counters_t counters = {};
  counters.size = sizeof counters;
  counters.calls = 77;
  effc_engine_counters(nullptr, &counters);
  EXPECT_EQ(counters.calls, 77u);
  effc_engine_counters(e, nullptr);
}

// Of no elements there need be no array.
TEST_F(NullArguments, AreNoArrays) {
  EXPECT_EQ(effc_engine_prefill(e, nullptr, 0), nullptr);
  EXPECT_EQ(effc_engine_decode(e, nullptr, nullptr, 0, nullptr), nullptr);
  EXPECT_EQ(effc_sampler_accept(p, nullptr, 0), nullptr);
  EXPECT_EQ(effc_model_tokenize(m, nullptr, 0, 0, nullptr, 0, &size), nullptr);
  EXPECT_EQ(effc_model_detokenize(m, nullptr, 0, 0, nullptr, 0, &size),
            nullptr);
}
