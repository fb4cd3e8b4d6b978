#include "runtime/src/serving/Job.h"

#include "runtime/src/Limits.h"
#include "runtime/src/Status.h"
#include "runtime/src/grammar/GrammarHandle.h"

#include <algorithm>

using namespace effc::rt;

OwnedSampling::OwnedSampling(const effc_sampler_options_t &given,
                             std::span<const int32_t> moreEnds)
    : copy(given),
      biases(given.logit_bias, given.logit_bias + given.logit_bias_count),
      ends(given.end_tokens, given.end_tokens + given.end_count) {
  ends.insert(ends.end(), moreEnds.begin(), moreEnds.end());
  copy.logit_bias = biases.data();
  copy.end_tokens = ends.data();
  copy.end_count = ends.size();
}

Job::Job(const effc_request_t &request)
    : maxTokens(request.max_tokens), promptLogprobs(request.prompt_logprobs),
      deadline(request.deadline_ns), user(request.user),
      sampling(*request.sampling,
               {request.stop_tokens, request.stop_token_count}),
      stopTokens(request.stop_tokens,
                 request.stop_tokens + request.stop_token_count) {
  place.priority = request.priority;
  if (request.salt && *request.salt) {
    // Nobody needs to know it, and files hold what it becomes.
    std::string_view text = request.salt;
    Sha256Digest digest =
        sha256({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
    salt.assign(digest.begin(), digest.end());
  }
  marks.assign(request.marks, request.marks + request.mark_count);
  cacheFlags = request.cache_flags;
  if (request.from)
    from = *request.from;
  keepsStates = request.keep_states;
}

Result<std::vector<int32_t>> Job::promptOf(const effc_request_t &request,
                                           const Model &model) {
  if (Check error =
          requireArray({"tokens", request.tokens}, request.token_count))
    return *error;
  if (Check error = requireArray({"text", request.text}, request.text_size))
    return *error;
  if (request.token_count > 0 && request.text_size > 0)
    return invalidArgument("a request has 'tokens' or 'text', but both are "
                           "given");
  std::vector<int32_t> tokens(request.tokens,
                              request.tokens + request.token_count);
  if (tokens.empty()) {
    if (!request.text)
      return invalidArgument("a request needs a prompt: 'tokens' or 'text'");
    if (!model.tokenizer())
      return fail(EFFC_UNSUPPORTED,
                  "the model has no tokenizer; give 'tokens'");
    Tokenizer::Options options;
    options.addSpecial = !(request.tokenize_flags & EFFC_TOKENIZE_NO_SPECIAL);
    if (request.tokenize_flags & EFFC_TOKENIZE_PLAIN)
      options.plain = PlainSpans::all(request.text_size);
    auto cut =
        model.tokenizer()->tokenize({request.text, request.text_size}, options);
    if (!cut)
      return cut.error();
    tokens = std::move(*cut);
  }
  if (tokens.empty())
    return invalidArgument("the prompt has no tokens");
  uint32_t vocabulary = model.program().vocabulary_size();
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] < 0 || static_cast<uint32_t>(tokens[i]) >= vocabulary)
      return invalidArgument("token ", i, " of the prompt is ", tokens[i],
                             ", but the vocabulary has ", vocabulary);
  return tokens;
}

/// The bounds that the scheduler's options set.
static Check checkBounds(const effc_request_t &request, size_t prompt,
                         const Model &model,
                         const effc_scheduler_options_t &options) {
  bool isEmpty = request.max_tokens == 0 && request.prompt_logprobs == 0 &&
                 !request.keep_states;
  if (isEmpty || request.max_tokens > options.max_new_tokens)
    return invalidArgument("'max_tokens' is ", request.max_tokens,
                           ", but 1 to ", options.max_new_tokens,
                           " are possible with this scheduler");
  if (request.choices == 0 || request.choices > options.max_choices)
    return invalidArgument("'choices' is ", request.choices, ", but 1 to ",
                           options.max_choices,
                           " are possible with this scheduler");
  if (request.priority > EFFC_PRIORITY_MOST)
    return invalidArgument("'priority' is ", request.priority, ", but 0 to ",
                           EFFC_PRIORITY_MOST, " are possible");
  uint64_t vocabulary = model.program().vocabulary_size();
  if (request.prompt_logprobs > vocabulary + 1)
    return invalidArgument("'prompt_logprobs' is ", request.prompt_logprobs,
                           ", but 0 to 1 + ", vocabulary, " are possible");
  if (request.draft_tokens > EFFC_DRAFT_MOST)
    return invalidArgument("'draft_tokens' is ", request.draft_tokens,
                           ", but at most ", EFFC_DRAFT_MOST, " are possible");
  uint64_t context = model.program().max_context();
  if (context == 0)
    context = kMaxContext;
  if (prompt > context)
    return fail(EFFC_EXHAUSTED, "the prompt has ", prompt,
                " tokens, but the model's context is ", context);
  if (options.max_prompt_tokens != 0 && prompt > options.max_prompt_tokens)
    return invalidArgument("the prompt has ", prompt, " tokens, but ",
                           options.max_prompt_tokens,
                           " are possible with this scheduler");
  return {};
}

/// What concerns the cache.
static Check checkMarks(const effc_request_t &request, size_t prompt,
                        const Model &model) {
  if (request.from && request.from->model.get() != &model)
    return invalidArgument("'from' is of another model");
  if (request.from && request.from->states.position >= prompt)
    return invalidArgument("'from' is at position ",
                           request.from->states.position,
                           ", but the prompt has ", prompt,
                           " tokens, of which the last is to be fed");
  if (Check error = requireArray({"marks", request.marks}, request.mark_count))
    return error;
  if (request.mark_count > EFFC_MARKS_MOST)
    return invalidArgument("there are ", request.mark_count,
                           " marks, but at most ", EFFC_MARKS_MOST,
                           " are possible");
  for (size_t i = 0; i < request.mark_count; ++i)
    if (request.marks[i] == 0 || request.marks[i] > prompt)
      return invalidArgument("mark ", i, " is ", request.marks[i],
                             ", but 1 to ", prompt,
                             ", the tokens of the prompt, are possible");
  constexpr uint32_t kKnown = EFFC_CACHE_NO_READ | EFFC_CACHE_NO_WRITE;
  if (request.cache_flags & ~kKnown)
    return invalidArgument("'cache_flags' is ", request.cache_flags,
                           ", of which ", request.cache_flags & ~kKnown,
                           " is no flag");
  return {};
}

static Result<std::vector<std::string>>
stopTextsOf(const effc_request_t &request, const Model &model) {
  if (Check error = requireArray({"stop_texts", request.stop_texts},
                                 request.stop_text_count))
    return *error;
  std::vector<std::string> texts;
  for (size_t i = 0; i < request.stop_text_count; ++i) {
    const char *text = request.stop_texts[i];
    if (!text || !*text)
      return invalidArgument("stop text ", i, " is ", text ? "empty" : "null");
    texts.push_back(text);
  }
  if (!texts.empty() && !model.tokenizer())
    return fail(EFFC_UNSUPPORTED, "the model has no tokenizer, and so no text "
                                  "that a stop text could come in");
  return texts;
}

Result<std::unique_ptr<Job>>
Job::create(const effc_request_t &request, const Model &model,
            const effc_scheduler_options_t &options) {
  auto prompt = promptOf(request, model);
  if (!prompt)
    return prompt.error();
  if (Check error = checkBounds(request, prompt->size(), model, options))
    return *error;
  if (Check error = checkMarks(request, prompt->size(), model))
    return *error;
  if (Check error = requireArray({"stop_tokens", request.stop_tokens},
                                 request.stop_token_count))
    return *error;
  auto stops = stopTextsOf(request, model);
  if (!stops)
    return stops.error();

  uint32_t vocabulary = model.program().vocabulary_size();
  if (auto checked = Sampler::create(*request.sampling, vocabulary); !checked)
    return checked.error();
  std::unique_ptr<Job> job(new Job(request));
  auto sampler = Sampler::create(job->sampling.options(), vocabulary);
  if (!sampler) // for the stop tokens among its ends
    return sampler.error();
  job->sampler.emplace(effc_sampler{std::move(*sampler)});
  if (Check error = job->sampler->sampler.accept(*prompt))
    return *error;
  job->prompt = std::move(*prompt);
  job->vocabulary = vocabulary;
  job->draftTokens = request.draft_tokens;
  if (request.draft_tokens > 0) {
    job->drafts.emplace(request.draft_tokens);
    for (int32_t token : job->prompt)
      job->drafts->add(token);
  }
  job->stop = StopText(std::move(*stops));
  const artifact::Generation *generation = model.program().generation();
  if (!request.ignore_end && generation && generation->eos())
    job->ends.assign(generation->eos()->begin(), generation->eos()->end());
  if (model.tokenizer())
    job->stream.emplace(*model.tokenizer(),
                        /*skipSpecial=*/!request.show_special);
  if (request.grammar)
    if (Check error = job->follow(request, model))
      return *error;
  return job;
}

/// Has the text follow the request's grammar.
Check Job::follow(const effc_request_t &request, const Model &model) {
  const grammar::Grammar &given = *request.grammar->grammar;
  if (!given.isFor(&model))
    return invalidArgument("'grammar' is made for another model");
  std::vector<int32_t> all = ends;
  all.insert(all.end(), stopTokens.begin(), stopTokens.end());
  matcher.emplace(request.grammar->grammar, std::move(all));
  return maskNextDraw();
}

/// Tells the sampler which tokens can come.
Check Job::maskNextDraw() {
  if (!matcher)
    return {};
  auto mask = matcher->mask();
  if (!mask)
    return mask.error();
  sampler->sampler.setMask(mask->data());
  return {};
}

static bool has(const std::vector<int32_t> &tokens, int32_t token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

Spoken Job::take(int32_t token) {
  if (token < 0)
    return {"", EFFC_END_FAILED, -1,
            "no token can be drawn: a logit is not a number, or all are minus "
            "infinity"};
  if (has(ends, token))
    return {"", EFFC_END_TOKEN, -1, ""};
  if (has(stopTokens, token))
    return {"", EFFC_END_STOP, -1, ""};
  drawn.push_back(token);
  if (drafts)
    drafts->add(token);
  Spoken spoken;
  if (matcher)
    if (Check error = matcher->accept(token))
      return {"", EFFC_END_FAILED, -1, error->message};
  if (stream) {
    Result<std::string_view> text = stream->push(token);
    if (!text)
      return {"", EFFC_END_FAILED, -1, text.error().message};
    spoken.text = stop.push(*text);
  }
  if (std::optional<size_t> found = stop.found()) {
    spoken.end = EFFC_END_STOP;
    spoken.stop = static_cast<int32_t>(*found);
  } else if (matcher && matcher->isComplete()) {
    spoken.end = EFFC_END_TOKEN;
  } else if (drawn.size() >= maxTokens) {
    spoken.end = EFFC_END_LENGTH;
  } else if (Check error = maskNextDraw()) {
    spoken.end = EFFC_END_FAILED;
    spoken.message = error->message;
  }
  return spoken;
}

Scored Job::score(std::span<const float> rows, SamplingScratch &scratch) {
  Scored found;
  found.begin = std::max(scored, fed + 1);
  size_t end = std::min(fed + rows.size() / vocabulary + 1, prompt.size());
  if (end <= found.begin)
    return found;
  found.logprobs.resize((end - found.begin) * promptLogprobs);
  std::span<effc_logprob_t> left = found.logprobs;
  for (; scored < end; ++scored) {
    if (!scratch.logprobs(
            rows.subspan((scored - 1 - fed) * vocabulary, vocabulary),
            prompt[scored], left.first(promptLogprobs))) {
      found.logprobs.resize(found.count * promptLogprobs);
      found.isWhole = false;
      return found;
    }
    left = left.subspan(promptLogprobs);
    ++found.count;
  }
  return found;
}

std::string Job::finishText() {
  if (!stream)
    return "";
  std::string text;
  if (Result<std::string_view> rest = stream->finish())
    text = stop.push(*rest);
  text += stop.finish();
  return text;
}

Check Job::restart() {
  auto anew = Sampler::create(sampling.options(), vocabulary);
  if (!anew)
    return anew.error();
  sampler->sampler = std::move(*anew);
  if (Check error = sampler->sampler.accept(prompt))
    return error;
  for (int32_t token : drawn) {
    sampler->sampler.nextDraw();
    sampler->sampler.drew(token);
  }
  fed = 0;
  stops.clear();
  lookedAt = 0;
  phase = Phase::Prompt;
  return maskNextDraw();
}
