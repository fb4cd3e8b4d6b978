//===- effc.hpp - effc.h for C++17: handles that free themselves ----------===//
//
// A thin layer over the C API, header-only: what a function means, what it may
// return and who may call it stands in effc.h. A status becomes an exception,
// effc::Error; without exceptions, use effc.h.
//
//   effc::Model model("model.effc");
//   effc::Engine engine(model, effc::Device::host());
//   effc::Session session(engine);
//   auto logits = engine.prefill(session, model.tokenize("Hello"));
//   effc::Sampler sampler(model);
//   int32_t token = sampler.sample(logits);
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_EFFC_HPP
#define EFFC_EFFC_HPP

#include "effc.h"

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace effc {

/// A status that is not ok.
class Error : public std::runtime_error {
public:
  Error(effc_status_code_t code, const std::string &message)
      : std::runtime_error(message), statusCode(code) {}
  effc_status_code_t code() const { return statusCode; }

private:
  effc_status_code_t statusCode;
};

/// Throws unless `status` is null; frees it.
inline void check(effc_status_t *status) {
  if (!status)
    return;
  std::unique_ptr<effc_status_t, void (*)(effc_status_t *)> owner(
      status, effc_status_free);
  throw Error(effc_status_code(status), effc_status_message(status));
}

/// Owns one C handle.
template <typename T, void (*Free)(T *)> class Handle {
public:
  T *get() const { return handle.get(); }

protected:
  explicit Handle(T *raw) : handle(raw) {}

private:
  struct Deleter {
    void operator()(T *raw) const { Free(raw); }
  };
  std::unique_ptr<T, Deleter> handle;
};

class Model : public Handle<effc_model_t, effc_model_free> {
public:
  explicit Model(const std::string &path) : Handle(load(path, nullptr)) {}
  Model(const std::string &path, const effc_model_load_options_t &options)
      : Handle(load(path, &options)) {}

  uint32_t vocabularySize() const { return effc_model_vocabulary_size(get()); }
  /// 0: rows of logits; else rows of so many numbers: hidden states or inner values.
  uint32_t hiddenWidth() const { return effc_model_hidden_width(get()); }
  /// How long a row is that calls give.
  size_t rowWidth() const {
    return hiddenWidth() ? hiddenWidth() : vocabularySize();
  }
  /// The inner values that a row has one after another; empty: it has none.
  std::vector<effc_tap_t> taps() const {
    std::vector<effc_tap_t> taps(effc_model_tap_count(get()));
    for (size_t i = 0; i < taps.size(); ++i) {
      taps[i].size = sizeof(effc_tap_t);
      check(effc_model_tap(get(), i, &taps[i]));
    }
    return taps;
  }
  uint64_t maxContext() const { return effc_model_max_context(get()); }
  /// JSON.
  std::string describe() const {
    if (const char *text = effc_model_describe(get()))
      return text;
    throw std::bad_alloc();
  }
  /// 64 hexadecimal digits, of the whole file.
  std::string sha256() const {
    char digits[65];
    check(effc_model_sha256(get(), nullptr, nullptr, digits));
    return digits;
  }
  bool hasTokenizer() const { return effc_model_has_tokenizer(get()); }

  /// The texts that end a generation, as the checkpoint asks.
  std::vector<std::string> stops() const {
    std::vector<std::string> stops(generation().stop_count);
    for (size_t i = 0; i < stops.size(); ++i) {
      const char *text = nullptr;
      check(effc_model_stop(get(), i, &text));
      stops[i] = text;
    }
    return stops;
  }

  struct ChatTemplate {
    std::string name, source;
  };
  /// How a conversation is written as a text, in Jinja; "default" is taken where none is
  /// asked for.
  std::vector<ChatTemplate> chatTemplates() const {
    std::vector<ChatTemplate> templates(effc_model_chat_template_count(get()));
    for (size_t i = 0; i < templates.size(); ++i) {
      effc_chat_template_t one = {};
      one.size = sizeof one;
      check(effc_model_chat_template(get(), i, &one));
      templates[i] = {one.name, {one.source, one.source_size}};
    }
    return templates;
  }

  effc_generation_t generation() const {
    effc_generation_t generation = {};
    generation.size = sizeof generation;
    effc_model_generation(get(), &generation);
    return generation;
  }

  effc_memory_t memory() const {
    effc_memory_t memory = {};
    memory.size = sizeof memory;
    effc_model_memory(get(), &memory);
    return memory;
  }

  std::vector<effc_entry_info_t> entries() const {
    std::vector<effc_entry_info_t> infos(effc_model_entry_count(get()));
    for (size_t i = 0; i < infos.size(); ++i) {
      infos[i].size = sizeof infos[i];
      check(effc_model_entry(get(), i, &infos[i]));
    }
    return infos;
  }

  std::vector<effc_state_info_t> states() const {
    std::vector<effc_state_info_t> infos(effc_model_state_count(get()));
    for (size_t i = 0; i < infos.size(); ++i) {
      infos[i].size = sizeof infos[i];
      check(effc_model_state(get(), i, &infos[i]));
    }
    return infos;
  }

  std::vector<effc_segment_info_t> segments() const {
    std::vector<effc_segment_info_t> infos(effc_model_segment_count(get()));
    for (size_t i = 0; i < infos.size(); ++i) {
      infos[i].size = sizeof infos[i];
      check(effc_model_segment(get(), i, &infos[i]));
    }
    return infos;
  }

  std::vector<effc_weight_info_t> weights() const {
    std::vector<effc_weight_info_t> infos(effc_model_weight_count(get()));
    for (size_t i = 0; i < infos.size(); ++i) {
      infos[i].size = sizeof infos[i];
      check(effc_model_weight(get(), i, &infos[i]));
    }
    return infos;
  }

  std::vector<int32_t> tokenize(std::string_view text,
                                uint32_t flags = 0) const {
    std::vector<int32_t> tokens(text.size() + 16);
    size_t count = 0;
    check(effc_model_tokenize(get(), text.data(), text.size(), flags,
                              tokens.data(), tokens.size(), &count));
    if (count > tokens.size()) {
      tokens.resize(count);
      check(effc_model_tokenize(get(), text.data(), text.size(), flags,
                                tokens.data(), tokens.size(), &count));
    }
    tokens.resize(count);
    return tokens;
  }

  std::string detokenize(const std::vector<int32_t> &tokens,
                         uint32_t flags = 0) const {
    size_t size = 0;
    check(effc_model_detokenize(get(), tokens.data(), tokens.size(), flags,
                                nullptr, 0, &size));
    std::string text(size, '\0');
    check(effc_model_detokenize(get(), tokens.data(), tokens.size(), flags,
                                text.data(), text.size(), &size));
    return text;
  }

private:
  static effc_model_t *load(const std::string &path,
                            const effc_model_load_options_t *options) {
    effc_model_t *model = nullptr;
    check(effc_model_load_with(path.c_str(), options, &model));
    return model;
  }
};

class Device : public Handle<effc_device_t, effc_device_free> {
public:
  /// `threads` 0: one per usable core. `isa`: the level whose code alone runs;
  /// empty: the best one.
  static Device host(uint32_t threads = 0, const std::string &isa = "") {
    effc_host_options_t options = effc_host_options_default();
    options.threads = threads;
    if (!isa.empty())
      options.isa = isa.c_str();
    effc_device_t *device = nullptr;
    check(effc_device_create_host(&options, &device));
    return Device(device);
  }
  /// `architecture` 0: the newest that the file has code for.
  static Device sim(uint32_t architecture = 0, uint32_t threads = 0) {
    effc_sim_options_t options = effc_sim_options_default();
    options.architecture = architecture;
    options.threads = threads;
    effc_device_t *device = nullptr;
    check(effc_device_create_sim(&options, &device));
    return Device(device);
  }
  /// The GPU of this number.
  static Device cuda(uint32_t ordinal = 0) {
    effc_cuda_options_t options = effc_cuda_options_default();
    options.ordinal = ordinal;
    effc_device_t *device = nullptr;
    check(effc_device_create_cuda(&options, &device));
    return Device(device);
  }
  /// Throws the reason when `model` cannot run here.
  void requireAccepts(const Model &model) const {
    check(effc_device_accepts(get(), model.get()));
  }
  std::string description() const { return effc_device_description(get()); }
  uint32_t threads() const { return effc_device_threads(get()); }

private:
  using Handle::Handle;
};

class Session;

class Engine : public Handle<effc_engine_t, effc_engine_free> {
public:
  Engine(const Model &model, const Device &device, uint32_t maxSessions = 1)
      : Handle(create(model, device, optionsFor(maxSessions))),
        width(model.rowWidth()), context(model.maxContext()) {}
  Engine(const Model &model, const Device &device,
         const effc_engine_options_t &options)
      : Handle(create(model, device, options)), width(model.rowWidth()),
        context(model.maxContext()) {}

  void prefill(const std::vector<effc_prompt_t> &prompts) {
    check(effc_engine_prefill(get(), prompts.data(), prompts.size()));
  }
  /// Feeds one prompt; returns the logits of its last token, or of all.
  inline std::vector<float> prefill(Session &session,
                                    const std::vector<int32_t> &tokens,
                                    effc_wanted_t wanted = EFFC_LOGITS_LAST);
  /// Advances each session by one token, of which there are as many; returns
  /// [sessions, vocabulary].
  std::vector<float> decode(const std::vector<effc_session_t *> &sessions,
                            const std::vector<int32_t> &tokens) {
    requireAsMany("tokens", tokens.size(), sessions.size());
    std::vector<float> logits(sessions.size() * width);
    check(effc_engine_decode(get(), sessions.data(), tokens.data(),
                             sessions.size(), logits.data()));
    return logits;
  }

  /// The same; returns the likeliest token of each, -1 where there is none.
  std::vector<int32_t> decodeBest(const std::vector<effc_session_t *> &sessions,
                                  const std::vector<int32_t> &tokens) {
    requireAsMany("tokens", tokens.size(), sessions.size());
    std::vector<int32_t> best(sessions.size());
    check(effc_engine_decode_best(get(), sessions.data(), tokens.data(),
                                  sessions.size(), best.data()));
    return best;
  }

  /// The same; returns the token that each session's sampler draws, -1 where it
  /// draws none.
  std::vector<int32_t> decodeDraw(const std::vector<effc_session_t *> &sessions,
                                  const std::vector<effc_sampler_t *> &samplers,
                                  const std::vector<int32_t> &tokens) {
    requireAsMany("tokens", tokens.size(), sessions.size());
    requireAsMany("samplers", samplers.size(), sessions.size());
    std::vector<int32_t> drawn(sessions.size());
    check(effc_engine_decode_draw(get(), sessions.data(), samplers.data(),
                                  tokens.data(), sessions.size(),
                                  drawn.data()));
    return drawn;
  }

  /// Up to `steps` such steps, or without samplers of the likeliest tokens; returns
  /// what each session drew, up to a token of `ends` or -1.
  std::vector<std::vector<int32_t>>
  decodeSteps(const std::vector<effc_session_t *> &sessions,
              const std::vector<effc_sampler_t *> &samplers,
              const std::vector<int32_t> &tokens, size_t steps,
              const std::vector<int32_t> &ends = {}) {
    requireAsMany("tokens", tokens.size(), sessions.size());
    if (!samplers.empty())
      requireAsMany("samplers", samplers.size(), sessions.size());
    effc_steps_options_t options = effc_steps_options_default();
    options.end_tokens = ends.data();
    options.end_count = ends.size();
    std::vector<int32_t> drawn(requireRoom(sessions.size(), steps));
    std::vector<size_t> lengths(sessions.size());
    check(effc_engine_decode_steps(get(), sessions.data(),
                                   samplers.empty() ? nullptr : samplers.data(),
                                   tokens.data(), sessions.size(), steps,
                                   &options, drawn.data(), lengths.data()));
    std::vector<std::vector<int32_t>> rows;
    for (size_t i = 0; i < sessions.size(); ++i) {
      const int32_t *row = drawn.data() + i * steps;
      rows.emplace_back(row, row + lengths[i]);
    }
    return rows;
  }

  /// What the engine has done so far.
  effc_engine_counters_t counters() const {
    effc_engine_counters_t counters = {};
    counters.size = sizeof counters;
    effc_engine_counters(get(), &counters);
    return counters;
  }
  /// The same of each of its entries.
  std::vector<effc_entry_counters_t> entryCounters() const {
    std::vector<effc_entry_counters_t> all(effc_engine_entry_count(get()));
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].size = sizeof all[i];
      check(effc_engine_entry_counters(get(), i, &all[i]));
    }
    return all;
  }

  /// Keeps a timeline from now on, and writes it.
  void startProfile() { check(effc_profile_start(get(), nullptr)); }
  void saveProfile(const std::string &path) {
    check(effc_profile_save(get(), path.c_str()));
  }

  /// Of the code that runs: "x86-64-v4", "sm_90a".
  std::string isa() const { return effc_engine_isa(get()); }
  /// What is not as one would expect of how the model runs, or "".
  std::string note() const { return effc_engine_note(get()); }
  /// Negative where no time is kept.
  double deviceSeconds() const { return effc_engine_device_seconds(get()); }

private:
  static void requireAsMany(const char *what, size_t found, size_t expected) {
    if (found != expected)
      throw Error(EFFC_INVALID_ARGUMENT,
                  "expects " + std::to_string(expected) + " " + what +
                      ", one for each session, but got " +
                      std::to_string(found));
  }
  /// How many tokens `rows` sequences draw at most. A context bounds their steps, and
  /// without one what a vector can be asked for.
  size_t requireRoom(size_t rows, size_t steps) const {
    uint64_t most = std::vector<int32_t>().max_size();
    if (rows > 0)
      most /= rows;
    if (context > 0 && context < most)
      most = context;
    if (steps > most)
      throw Error(EFFC_EXHAUSTED, "'steps' is " + std::to_string(steps) +
                                      ", but at most " + std::to_string(most) +
                                      " are expected");
    return rows * steps;
  }
  static effc_engine_options_t optionsFor(uint32_t maxSessions) {
    effc_engine_options_t options = effc_engine_options_default();
    options.max_sessions = maxSessions;
    return options;
  }
  static effc_engine_t *create(const Model &model, const Device &device,
                               const effc_engine_options_t &options) {
    effc_engine_t *engine = nullptr;
    check(effc_engine_create(model.get(), device.get(), &options, &engine));
    return engine;
  }
  size_t width;
  uint64_t context; // 0: no bound
};

/// A copy of a sequence that sessions of its model go on from.
class Checkpoint : public Handle<effc_checkpoint_t, effc_checkpoint_free> {
public:
  inline explicit Checkpoint(const Session &session);
  /// `parent` is an earlier one of the same text.
  inline Checkpoint(const Session &session, const Checkpoint &parent);
  /// Reads a state file.
  Checkpoint(const Model &model, const std::string &path)
      : Handle(load(model, path)) {}
  /// Takes `checkpoint`, or shares one that an event of a scheduler shows.
  explicit Checkpoint(effc_checkpoint_t *checkpoint) : Handle(checkpoint) {}
  static Checkpoint share(const effc_checkpoint_t *shown) {
    effc_checkpoint_t *checkpoint = nullptr;
    check(effc_checkpoint_share(shown, &checkpoint));
    return Checkpoint(checkpoint);
  }
  /// Writes a state file.
  void save(const std::string &path) const {
    check(effc_checkpoint_save(get(), path.c_str(), nullptr));
  }
  uint64_t position() const { return effc_checkpoint_position(get()); }
  /// What was copied, without what the parent has.
  uint64_t bytes() const { return effc_checkpoint_bytes(get()); }

private:
  static effc_checkpoint_t *load(const Model &model, const std::string &path) {
    effc_checkpoint_t *checkpoint = nullptr;
    check(effc_checkpoint_load(model.get(), path.c_str(), &checkpoint));
    return checkpoint;
  }
  static inline effc_checkpoint_t *create(const Session &session,
                                          const effc_checkpoint_t *parent);
};

class Session : public Handle<effc_session_t, effc_session_free> {
public:
  explicit Session(const Engine &engine) : Handle(create(engine)) {}
  void reset() { effc_session_reset(get()); }
  uint64_t position() const { return effc_session_position(get()); }
  /// Throws the reason why it cannot take `count` more tokens.
  void requireAccepts(size_t count) const {
    check(effc_session_accepts(get(), count));
  }
  Session fork() const {
    effc_session_t *session = nullptr;
    check(effc_session_fork(get(), &session));
    return Session(session);
  }
  void assign(const Session &from) {
    check(effc_session_assign(get(), from.get()));
  }
  /// By whose code it was computed: "x86-64-v3, x86-64-v4".
  std::string isas() const { return effc_session_isas(get()); }
  void save(const std::string &path) const {
    check(effc_session_save(get(), path.c_str()));
  }
  void save(const std::string &path, const effc_save_options_t &options) const {
    check(effc_session_save_with(get(), path.c_str(), &options));
  }
  void load(const std::string &path) {
    check(effc_session_load(get(), path.c_str()));
  }
  /// The bytes of a state file.
  std::string save() const {
    size_t size = 0;
    check(effc_session_save_memory(get(), nullptr, 0, &size));
    std::string bytes(size, '\0');
    check(effc_session_save_memory(get(), bytes.data(), size, &size));
    return bytes;
  }
  void loadBytes(std::string_view bytes) {
    check(effc_session_load_memory(get(), bytes.data(), bytes.size()));
  }
  void restore(const Checkpoint &checkpoint) {
    check(effc_session_restore(get(), checkpoint.get()));
  }
  /// Takes the last `count` tokens back; from `mark` on tokens are fed again where
  /// states do not go back by themselves.
  void rewind(uint64_t count) {
    check(effc_session_rewind(get(), count, nullptr));
  }
  void rewind(uint64_t count, const Checkpoint &mark) {
    check(effc_session_rewind(get(), count, mark.get()));
  }

private:
  using Handle::Handle;
  static effc_session_t *create(const Engine &engine) {
    effc_session_t *session = nullptr;
    check(effc_session_create(engine.get(), &session));
    return session;
  }
};

inline effc_checkpoint_t *Checkpoint::create(const Session &session,
                                             const effc_checkpoint_t *parent) {
  effc_checkpoint_t *checkpoint = nullptr;
  check(effc_session_checkpoint(session.get(), parent, &checkpoint));
  return checkpoint;
}
inline Checkpoint::Checkpoint(const Session &session)
    : Handle(create(session, nullptr)) {}
inline Checkpoint::Checkpoint(const Session &session, const Checkpoint &parent)
    : Handle(create(session, parent.get())) {}

inline std::vector<float> Engine::prefill(Session &session,
                                          const std::vector<int32_t> &tokens,
                                          effc_wanted_t wanted) {
  size_t rows =
      wanted == EFFC_LOGITS_ALL ? tokens.size() : wanted == EFFC_LOGITS_LAST;
  std::vector<float> logits(rows * width);
  effc_prompt_t prompt = {session.get(), tokens.data(), tokens.size(),
                          wanted,        logits.data(), sizeof prompt};
  check(effc_engine_prefill(get(), &prompt, 1));
  return logits;
}

class Sampler : public Handle<effc_sampler_t, effc_sampler_free> {
public:
  /// As the checkpoint asks for.
  explicit Sampler(const Model &model)
      : Sampler(effc_sampler_options_for_model(model.get()),
                model.vocabularySize()) {}
  Sampler(const effc_sampler_options_t &options, uint32_t vocabularySize)
      : Handle(create(options, vocabularySize)) {}

  void accept(const std::vector<int32_t> &tokens) {
    check(effc_sampler_accept(get(), tokens.data(), tokens.size()));
  }
  /// `logits` is one row.
  int32_t sample(const float *logits) {
    int32_t token = 0;
    check(effc_sampler_sample(get(), logits, &token));
    return token;
  }
  int32_t sample(const std::vector<float> &logits) {
    return sample(logits.data());
  }

  /// What the draw that is `ahead` behind the next one would give; -1 for none.
  int32_t guess(const std::vector<float> &logits, uint64_t ahead) const {
    int32_t token = 0;
    check(effc_sampler_guess(get(), logits.data(), ahead, &token));
    return token;
  }

  /// Of the token drawn last and of the likeliest, as the options say.
  std::vector<effc_logprob_t> logprobs() const {
    const effc_logprob_t *logprobs = nullptr;
    size_t count = 0;
    check(effc_sampler_logprobs(get(), &logprobs, &count));
    return {logprobs, logprobs + count};
  }

private:
  static effc_sampler_t *create(const effc_sampler_options_t &options,
                                uint32_t vocabularySize) {
    effc_sampler_t *sampler = nullptr;
    check(effc_sampler_create(&options, vocabularySize, &sampler));
    return sampler;
  }
};

class Detokenizer : public Handle<effc_detokenizer_t, effc_detokenizer_free> {
public:
  explicit Detokenizer(const Model &model, uint32_t flags = 0)
      : Handle(create(model, flags)) {}
  /// The text that `token` makes certain; valid until the next call.
  std::string_view push(int32_t token) {
    const char *text = nullptr;
    size_t size = 0;
    check(effc_detokenizer_push(get(), token, &text, &size));
    return {text, size};
  }
  std::string_view finish() {
    const char *text = nullptr;
    size_t size = 0;
    check(effc_detokenizer_finish(get(), &text, &size));
    return {text, size};
  }

private:
  static effc_detokenizer_t *create(const Model &model, uint32_t flags) {
    effc_detokenizer_t *detokenizer = nullptr;
    check(effc_detokenizer_create(model.get(), flags, &detokenizer));
    return detokenizer;
  }
};

class StopText : public Handle<effc_stop_t, effc_stop_free> {
public:
  explicit StopText(const std::vector<std::string> &texts)
      : Handle(create(texts)) {}
  /// What of `text` and what came before is certain; valid until the next call.
  std::string_view push(std::string_view text) {
    const char *shown = nullptr;
    size_t size = 0;
    check(
        effc_stop_push(get(), text.data(), text.size(), &shown, &size, &index));
    return {shown, size};
  }
  /// Which of the texts has come; -1 while none has.
  int32_t found() const { return index; }
  /// What was held back, since nothing more comes.
  std::string_view finish() {
    const char *shown = nullptr;
    size_t size = 0;
    check(effc_stop_finish(get(), &shown, &size));
    index = -1;
    return {shown, size};
  }

private:
  static effc_stop_t *create(const std::vector<std::string> &texts) {
    std::vector<const char *> pointers;
    for (const std::string &text : texts)
      pointers.push_back(text.c_str());
    effc_stop_t *stop = nullptr;
    check(effc_stop_create(pointers.data(), pointers.size(), &stop));
    return stop;
  }
  int32_t index = -1;
};

class Grammar : public Handle<effc_grammar_t, effc_grammar_free> {
public:
  /// One of effc_grammar_create and effc_grammar_create_from_schema.
  using Create = decltype(effc_grammar_create);
  Grammar(const Model &model, std::string_view text,
          Create *create = effc_grammar_create)
      : Handle([&] {
          effc_grammar_t *grammar = nullptr;
          check(create(model.get(), text.data(), text.size(), &grammar));
          return grammar;
        }()) {}
};

class GrammarMatcher
    : public Handle<effc_grammar_matcher_t, effc_grammar_matcher_free> {
public:
  /// `ends` are the tokens that end the text, possibly none.
  GrammarMatcher(const Grammar &grammar, const std::vector<int32_t> &ends)
      : Handle([&] {
          effc_grammar_matcher_t *matcher = nullptr;
          const int32_t none = 0;
          check(effc_grammar_matcher_create(grammar.get(),
                                            ends.empty() ? &none : ends.data(),
                                            ends.size(), &matcher));
          return matcher;
        }()) {}
  /// A bit for each token; until the next call.
  const uint64_t *mask() {
    const uint64_t *mask = nullptr;
    check(effc_grammar_matcher_mask(get(), &mask));
    return mask;
  }
  void accept(int32_t token) {
    check(effc_grammar_matcher_accept(get(), token));
  }
  bool isComplete() const { return effc_grammar_matcher_is_complete(get()); }
};

} // namespace effc

#include "chat.hpp"      // conversations to prompts
#include "scheduler.hpp" // many requests on one engine

#endif // EFFC_EFFC_HPP
