// What the runtime itself costs beside a model: copies of sequences, draws, and
// draws in a batch beside the step that gives their logits.
//
//   effc-runtime-costs MODEL.effc [TOKENS [SEQUENCES [THREADS]]]
//
// Processor time of one thread, medians, but for the batch, which is wall time.

#include "runtime/include/effc/effc.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <unistd.h>

using namespace effc;
using Tokens = std::vector<int32_t>;

static double processorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

static double residentMegabytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

/// The median and the longest of so many runs, in microseconds.
struct Times {
  double median, most;
};
static Times timesOf(size_t runs, const std::function<void(size_t)> &body) {
  std::vector<double> times;
  for (size_t i = 0; i < runs; ++i) {
    double begin = processorSeconds();
    body(i);
    times.push_back((processorSeconds() - begin) * 1e6);
  }
  std::sort(times.begin(), times.end());
  return {times[runs / 2], times.back()};
}

static void copies(const Model &model, const Tokens &prompt) {
  Engine engine(model, Device::host(1), 12);
  Session session(engine);
  engine.prefill(session, prompt, EFFC_LOGITS_NONE);
  std::string bytes = session.save();
  std::vector<Session> forks;
  double before = residentMegabytes();
  Times fork = timesOf(9, [&](size_t) { forks.push_back(session.fork()); });
  double each = (residentMegabytes() - before) / 9;
  Times assign = timesOf(9, [&](size_t i) { forks[i].assign(session); });
  Times save = timesOf(9, [&](size_t) { bytes = session.save(); });
  Times load = timesOf(9, [&](size_t i) { forks[i].loadBytes(bytes); });
  std::printf("%zu tokens: %.1f MB saved; fork %.2f ms and %.1f MB, assign "
              "%.2f, save %.2f, load %.2f ms\n",
              prompt.size(), static_cast<double>(bytes.size()) / 1e6,
              fork.median / 1e3, each, assign.median / 1e3, save.median / 1e3,
              load.median / 1e3);
}

struct Settings {
  const char *name;
  float temperature;
  uint32_t topK;
  float topP, minP, typicalP, repeatPenalty;
};
static const Settings kSettings[] = {
    {"greedy", 0, 0, 1, 0, 0, 1},
    {"temperature 0.8", 0.8f, 0, 1, 0, 0, 1},
    {"top_k 40", 0.8f, 40, 1, 0, 0, 1},
    {"top_p 0.9", 0.8f, 0, 0.9f, 0, 0, 1},
    {"min_p 0.05", 0.8f, 0, 1, 0.05f, 0, 1},
    {"top_k 64, top_p 0.95", 1, 64, 0.95f, 0, 0, 1},
    {"typical_p 0.9", 0.8f, 0, 1, 0, 0.9f, 1},
    {"top_p 0.9, penalty", 0.8f, 0, 0.9f, 0, 0, 1.1f}};

static effc_sampler_options_t optionsOf(const Settings &settings,
                                        uint64_t seed) {
  effc_sampler_options_t options = effc_sampler_options_default();
  options.temperature = settings.temperature;
  options.top_k = settings.topK;
  options.top_p = settings.topP;
  options.min_p = settings.minP;
  options.typical_p = settings.typicalP;
  options.repeat_penalty = settings.repeatPenalty;
  options.seed = seed;
  return options;
}

/// Draws from the logits that each token of the prompt leaves.
static void draws(const Model &model, const Tokens &prompt) {
  Engine engine(model, Device::host(1));
  Session session(engine);
  std::vector<float> rows = engine.prefill(session, prompt, EFFC_LOGITS_ALL);
  for (const Settings &settings : kSettings) {
    Sampler sampler(optionsOf(settings, 7), model.vocabularySize());
    sampler.accept(prompt);
    sampler.sample(rows.data());
    Times times = timesOf(prompt.size(), [&](size_t i) {
      sampler.sample(rows.data() + i * model.vocabularySize());
    });
    std::printf("%-22s %8.1f us, at most %.1f\n", settings.name, times.median,
                times.most);
  }
}

static constexpr int kSteps = 12;

/// Draws of a whole batch beside its steps, by the counters of the engine.
static void batch(const Model &model, const Tokens &prompt, uint32_t sequences,
                  uint32_t threads) {
  Engine engine(model, Device::host(threads), sequences);
  Session first(engine);
  engine.prefill(first, prompt, EFFC_LOGITS_NONE);
  std::vector<Session> sessions;
  std::vector<effc_session_t *> handles = {first.get()};
  while (handles.size() < sequences)
    handles.push_back(sessions.emplace_back(first.fork()).get());
  for (const Settings &settings : kSettings) {
    std::vector<Sampler> samplers;
    std::vector<effc_sampler_t *> drawing;
    for (uint32_t i = 0; i < sequences; ++i)
      drawing.push_back(
          samplers.emplace_back(optionsOf(settings, i), model.vocabularySize())
              .get());
    Tokens tokens(sequences, prompt[0]);
    tokens = engine.decodeDraw(handles, drawing, tokens);
    effc_engine_counters_t before = engine.counters();
    for (int step = 0; step < kSteps; ++step)
      tokens = engine.decodeDraw(handles, drawing, tokens);
    effc_engine_counters_t after = engine.counters();
    double step = (after.seconds - before.seconds) / kSteps;
    double choice = (after.choice_seconds - before.choice_seconds) / kSteps;
    std::printf("%u sequences, %-22s step %.2f ms, draws %.2f ms: %.1f %%\n",
                sequences, settings.name, step * 1e3, choice * 1e3,
                choice / step * 100);
  }
}

int main(int count, char **arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: effc-runtime-costs MODEL.effc [TOKENS "
                         "[SEQUENCES [THREADS]]]\n");
    return 2;
  }
  auto number = [&](int index, int otherwise) {
    return count > index ? std::atoi(arguments[index]) : otherwise;
  };
  try {
    Model model(arguments[1]);
    Tokens prompt = model.tokenize(
        "The history of the city begins in the twelfth century, when a small "
        "group of traders settled near the river and built the first wooden "
        "houses. ");
    Tokens longer;
    for (int i = 0; i < std::max(1, number(2, 200)); ++i)
      longer.push_back(prompt[static_cast<size_t>(i) % prompt.size()]);
    copies(model, longer);
    draws(model, prompt);
    batch(model, prompt, static_cast<uint32_t>(number(3, 64)),
          static_cast<uint32_t>(number(4, 0)));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
