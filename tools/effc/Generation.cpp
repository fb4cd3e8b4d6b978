#include "tools/effc/Generation.h"

#include "tools/effc/PromptFeed.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Quantities.h"
#include "tools/terminal/Signals.h"
#include "tools/terminal/Terminal.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

using namespace effc;
using namespace effc::cli;

std::string Rate::text() const {
  std::string perSecond =
      seconds > 0 ? formatNumber(static_cast<double>(tokens) / seconds) : "-";
  return formatCount(tokens) + " tokens, " + perSecond + " tokens/s";
}

namespace {
/// Adds the time it lives to a rate.
class Stopwatch {
public:
  explicit Stopwatch(Rate &rate) : rate(rate), start(Clock::now()) {}
  ~Stopwatch() {
    rate.seconds += std::chrono::duration<double>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Rate &rate;
  Clock::time_point start;
};
} // namespace

struct Generation::Sample {
  size_t index;
  Session session;
  Sampler sampler;
  StopText stop;
  std::optional<GrammarMatcher> matcher;
  std::unique_ptr<Detokenizer> stream; // null without a tokenizer
  std::string text;                    // not yet shown
  std::optional<int32_t> unfed;        // drawn, not part of the state yet
  std::optional<Ending> ending;        // none while it goes on
  SampleResult result;
};

const char *effc::cli::nameOf(Ending ending) {
  switch (ending) {
  case Ending::EndToken:
    return "end";
  case Ending::Complete:
    return "grammar";
  case Ending::Stop:
    return "stop";
  case Ending::Length:
    return "length";
  case Ending::Context:
    return "context";
  case Ending::Interrupted:
    return "interrupted";
  }
  return "";
}

static Sampler makeSampler(const Model &model, const GenerationOptions &given,
                           size_t index) {
  effc_sampler_options_t options = given.sampling;
  options.seed += index;
  options.logit_bias = given.biases.data();
  options.logit_bias_count = given.biases.size();
  // What ends a text has to wait: the model's ends, and the user's.
  Tokens ends(options.end_tokens, options.end_tokens + options.end_count);
  ends.insert(ends.end(), given.stops.tokens.begin(), given.stops.tokens.end());
  options.end_tokens = ends.data();
  options.end_count = ends.size();
  try {
    return Sampler(options, model.vocabularySize());
  } catch (const Error &error) {
    throw UsageError(error.what());
  }
}

/// What ends a text that follows a grammar, where the grammar may end.
static Tokens endsOf(const Model &model, const GenerationOptions &options) {
  Tokens ends = options.stops.tokens;
  effc_generation_t generation = model.generation();
  if (!options.ignoreEnd)
    ends.insert(ends.end(), generation.eos,
                generation.eos + generation.eos_count);
  return ends;
}

Generation::Generation(const Model &model, Engine &engine, Session session,
                       GenerationOptions given)
    : model(model), engine(engine), options(std::move(given)),
      vocabulary(model.vocabularySize()) {
  auto add = [&](Session own) {
    size_t index = samples.size();
    samples.push_back(std::unique_ptr<Sample>(
        new Sample{.index = index,
                   .session = std::move(own),
                   .sampler = makeSampler(model, options, index),
                   .stop = StopText(options.stops.texts),
                   .matcher = {},
                   .stream = nullptr,
                   .text = {},
                   .unfed = {},
                   .ending = {},
                   .result = {}}));
    if (options.grammar)
      samples.back()->matcher.emplace(*options.grammar, endsOf(model, options));
    samples.back()->result.seed = options.sampling.seed + index;
    // From the start, for a sample may end before its first token.
    if (options.samples > 1 && options.show == Show::Text)
      samples.back()->text = "--- sample " + std::to_string(index) + ", seed " +
                             std::to_string(options.sampling.seed + index) +
                             " ---\n";
    if (model.hasTokenizer())
      samples.back()->stream =
          std::make_unique<Detokenizer>(model, EFFC_DETOKENIZE_SKIP_SPECIAL);
  };
  add(std::move(session));
  while (samples.size() < options.samples)
    add(Session(engine));
}

Generation::~Generation() = default;

const Session &Generation::session() const { return samples[0]->session; }

Session Generation::takeSession() { return std::move(samples[0]->session); }

void Generation::feed(const Tokens &prompt) {
  Stopwatch watch(prefill);
  prefill.tokens += prompt.size();
  Session &first = samples[0]->session;
  logits.resize(vocabulary * samples.size());
  drawn.reset();
  text = options.before;
  text.insert(text.end(), prompt.begin(), prompt.end());
  feedPrompt(model, engine, first, prompt, logits.data());
  for (auto &sample : samples) {
    sample->session.assign(first);
    sample->sampler.accept(options.before);
    sample->sampler.accept(prompt);
    if (sample->index > 0)
      std::copy_n(logits.data(), vocabulary,
                  logits.data() + sample->index * vocabulary);
  }
}

bool Generation::endsSequence(int32_t token) const {
  effc_generation_t generation = model.generation();
  return std::find(generation.eos, generation.eos + generation.eos_count,
                   token) != generation.eos + generation.eos_count;
}

/// Shows what `sample` has to say now, if its turn has come.
void Generation::show(Sample &sample) {
  if (sample.index != shown || options.show == Show::Nothing)
    return;
  print(std::exchange(sample.text, ""));
  flushOutput();
}

void Generation::tell(const Sample &sample, std::string_view text) const {
  if (options.onText && sample.index == 0 && !text.empty())
    options.onText(text);
}

/// Takes a token; returns why the sample ends behind it, if it does.
std::optional<Ending> Generation::push(Sample &sample, int32_t token) {
  if (!options.ignoreEnd && endsSequence(token))
    return Ending::EndToken;
  if (std::find(options.stops.tokens.begin(), options.stops.tokens.end(),
                token) != options.stops.tokens.end()) {
    sample.result.stop = model.hasTokenizer() ? model.detokenize({token})
                                              : std::to_string(token);
    return Ending::Stop;
  }
  sample.unfed = token;
  Tokens &made = sample.result.tokens;
  std::string text;
  if (sample.stream)
    text = sample.stop.push(sample.stream->push(token));
  sample.result.text += text;
  tell(sample, text);
  if (options.show == Show::Tokens)
    text = (made.empty() ? "" : ",") + std::to_string(token);
  made.push_back(token);
  if (options.sampling.logprobs > 0)
    sample.result.logprobs.push_back(sample.sampler.logprobs());
  sample.text += text;
  show(sample);
  if (sample.matcher)
    sample.matcher->accept(token);
  if (int32_t stop = sample.stop.found(); stop >= 0) {
    sample.result.stop = options.stops.texts[static_cast<size_t>(stop)];
    return Ending::Stop;
  }
  if (sample.matcher && sample.matcher->isComplete())
    return Ending::Complete;
  if (static_cast<int64_t>(made.size()) >= options.newTokens)
    return Ending::Length;
  return std::nullopt;
}

/// Ends a sample, and shows those behind it that have ended before.
void Generation::end(Sample &sample, Ending ending) {
  sample.ending = sample.result.ending = ending;
  if (sample.stream) {
    std::string rest(sample.stop.push(sample.stream->finish()));
    rest += sample.stop.finish();
    sample.result.text += rest;
    tell(sample, rest);
    if (options.show == Show::Text)
      sample.text += rest;
  }
  sample.text += "\n";
  while (shown < samples.size()) {
    show(*samples[shown]);
    if (!samples[shown]->ending)
      break;
    ++shown;
  }
}

std::vector<SampleResult> Generation::results() const {
  std::vector<SampleResult> results;
  for (const auto &sample : samples)
    results.push_back(sample->result);
  return results;
}

/// Feeds what was drawn, and draws what comes next where logits need not come
/// here for it.
void Generation::advance(const std::vector<Sample *> &running) {
  Stopwatch watch(decode);
  std::vector<effc_session_t *> sessions;
  std::vector<effc_sampler_t *> samplers;
  Tokens tokens;
  for (Sample *sample : running) {
    maskNextDraw(*sample);
    sessions.push_back(sample->session.get());
    samplers.push_back(sample->sampler.get());
    tokens.push_back(*std::exchange(sample->unfed, std::nullopt));
  }
  drawn = engine.decodeDraw(sessions, samplers, tokens);
  decode.tokens += running.size();
}

/// How many tokens the sample has taken.
uint64_t Generation::position(const Sample &sample) const {
  return options.guesser ? text.size() : sample.session.position();
}

/// Takes back what was fed and has not been drawn. Some of the text may have to be
/// fed again.
void Generation::goBack(Sample &sample) {
  uint64_t fed = sample.session.position();
  if (fed > text.size() && mark)
    sample.session.rewind(fed - text.size(), *mark);
  else if (fed > text.size())
    sample.session.rewind(fed - text.size());
}

/// Goes on to the logits of the token drawn last: those that are there, where it was
/// guessed, else those of a call that feeds it and more guesses.
void Generation::advanceByGuesses(Sample &sample) {
  Stopwatch watch(decode);
  ++decode.tokens;
  int32_t token = *std::exchange(sample.unfed, std::nullopt);
  bool wasGuessed = at < guesses.size() && guesses[at] == token;
  if (!wasGuessed) {
    if (!guesses.empty())
      options.guesser->learn(guesses.size(), at);
    goBack(sample);
  }
  text.push_back(token);
  ++at;
  if (wasGuessed)
    return;
  // Each token fed needs room for one that is drawn behind it.
  uint64_t most = static_cast<uint64_t>(options.newTokens) -
                  sample.result.tokens.size() - 1;
  if (model.maxContext() != 0)
    most = std::min(most, model.maxContext() - text.size());
  guesses = options.guesser->guess(text, sample.sampler, most);
  bool isFixed = model.memory().fixed_per_session > 0;
  if (!guesses.empty() && isFixed) {
    bool follows = mark && mark->position() <= sample.session.position();
    mark = follows ? Checkpoint(sample.session, *mark)
                   : Checkpoint(sample.session);
  }
  Tokens feed(text.begin() + ptrdiff_t(sample.session.position()), text.end());
  at = feed.size() - 1;
  feed.insert(feed.end(), guesses.begin(), guesses.end());
  if (feed.size() == 1)
    logits = engine.decode({sample.session.get()}, feed);
  else
    logits = engine.prefill(sample.session, feed, EFFC_LOGITS_ALL);
  logits.erase(logits.begin(), logits.begin() + ptrdiff_t(at * vocabulary));
  at = 0;
}

/// Tells the sampler which tokens the grammar allows.
void Generation::maskNextDraw(Sample &sample) {
  if (!sample.matcher)
    return;
  try {
    effc_sampler_set_mask(sample.sampler.get(), sample.matcher->mask());
  } catch (const Error &error) {
    throw Failure(error.what());
  }
}

/// The token that comes next in the running sample `row`.
int32_t Generation::draw(Sample &sample, size_t row) {
  if (!drawn)
    maskNextDraw(sample);
  if (!drawn)
    return sample.sampler.sample(logits.data() +
                                 (options.guesser ? at : row) * vocabulary);
  if ((*drawn)[row] < 0)
    throw Failure("no token can be drawn: a logit is not a number, or all are "
                  "minus infinity");
  return (*drawn)[row];
}

void Generation::run() {
  std::vector<Sample *> running;
  for (auto &sample : samples)
    running.push_back(sample.get());
  while (!running.empty()) {
    std::vector<Sample *> next;
    for (size_t i = 0; i < running.size(); ++i) {
      Sample &sample = *running[i];
      std::optional<Ending> ending = Ending::Length;
      if (options.newTokens > 0)
        ending = push(sample, draw(sample, i));
      if (!ending && Interruption::came())
        ending = Ending::Interrupted;
      if (ending)
        end(sample, *ending);
      else
        next.push_back(&sample);
    }
    // All samples are equally long.
    if (!next.empty() && model.maxContext() &&
        position(*next[0]) == model.maxContext()) {
      for (Sample *sample : next)
        end(*sample, Ending::Context);
      printNote("the model's context of " + formatCount(model.maxContext()) +
                " tokens is full");
      next.clear();
    }
    if (!next.empty() && options.guesser)
      advanceByGuesses(*next[0]);
    else if (!next.empty())
      advance(next);
    running = std::move(next);
  }
}

void Generation::feedLastToken() {
  Sample &first = *samples[0];
  if (options.guesser)
    goBack(first);
  bool fits = !model.maxContext() || position(first) < model.maxContext();
  if (first.unfed && !fits)
    printNote("the state lacks the last token: the model's context is full");
  if (options.guesser) {
    Stopwatch watch(decode);
    if (first.unfed && fits) {
      text.push_back(*std::exchange(first.unfed, std::nullopt));
      ++decode.tokens;
    }
    if (first.session.position() < text.size())
      engine.prefill(first.session,
                     Tokens(text.begin() + ptrdiff_t(first.session.position()),
                            text.end()),
                     EFFC_LOGITS_NONE);
  } else if (first.unfed && fits) {
    advance({&first});
  }
}
