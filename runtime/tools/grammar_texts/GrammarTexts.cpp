// effc-grammar-texts VOCABULARY SEED: random texts that follow schemas.
//
// VOCABULARY is an .effc file, or a list of tokens: a line of hexadecimal digits for
// each, empty for one without a text; the last token ends a text. A line of the
// standard input is a schema, or `gbnf ` and a grammar as a JSON-free line in which
// `\n` stands for line ends. For each a line is printed: `text SIZE`, `long SIZE`
// where no end has come in 4096 tokens, `refused SIZE`, or `failed SIZE`, and so
// many bytes. Tokens are drawn by a sampler from logits of a random model: normal
// noise of its own for each place, which has learned nothing but that texts end.
// In the end times of masks are printed to the standard error.

#include "runtime/include/effc/effc.h"
#include "runtime/src/Sampler.h"
#include "runtime/src/capi/Handles.h"
#include "runtime/src/grammar/GbnfReader.h"
#include "runtime/src/grammar/Grammar.h"
#include "runtime/src/grammar/SchemaReader.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <time.h>

using namespace effc::rt;
using namespace effc::rt::grammar;

namespace {
struct Tokens {
  effc_model_t *model = nullptr;
  std::unique_ptr<TokenTexts> own;
  const TokenTexts *texts = nullptr;
  uint32_t size = 0;
  std::vector<int32_t> ends;
};

/// Times of one kind, in milliseconds.
struct Times {
  std::vector<double> all;
  void print(const char *what) {
    if (all.empty())
      return;
    std::sort(all.begin(), all.end());
    std::fprintf(stderr,
                 "%s: %zu, median %.4f ms, 99%% %.4f ms, most %.4f ms\n", what,
                 all.size(), all[all.size() / 2], all[all.size() * 99 / 100],
                 all.back());
  }
};

/// Of this thread's work, whatever else the machine does.
class Clock {
public:
  double milliseconds() const { return (now() - start) / 1e6; }

private:
  static double now() {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 +
           static_cast<double>(time.tv_nsec);
  }
  double start = now();
};
} // namespace

static Tokens fromList(const char *path) {
  std::ifstream file(path);
  std::vector<std::string> texts;
  for (std::string line; std::getline(file, line);) {
    std::string bytes;
    for (size_t i = 0; i + 1 < line.size(); i += 2)
      bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
    texts.push_back(bytes);
  }
  Tokens made;
  made.size = static_cast<uint32_t>(texts.size());
  made.ends = {static_cast<int32_t>(texts.size() - 1)};
  made.own = std::make_unique<TokenTexts>(texts, false);
  made.texts = made.own.get();
  return made;
}

static Tokens fromModel(const char *path) {
  Tokens made;
  if (effc_status_t *status = effc_model_load(path, &made.model)) {
    std::fprintf(stderr, "%s\n", effc_status_message(status));
    std::exit(1);
  }
  made.size = effc_model_vocabulary_size(made.model);
  effc_generation_t generation = {};
  generation.size = sizeof generation;
  effc_model_generation(made.model, &generation);
  made.ends.assign(generation.eos, generation.eos + generation.eos_count);
  auto texts = made.model->model->tokenizer()->tokenTexts();
  if (!texts) {
    std::fprintf(stderr, "%s\n", texts.error().message.c_str());
    std::exit(1);
  }
  made.texts = *texts;
  return made;
}

static void say(const char *kind, const std::string &text) {
  std::printf("%s %zu\n%s\n", kind, text.size(), text.c_str());
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr,
                 "usage: effc-grammar-texts VOCABULARY SEED <SCHEMAS\n");
    return 2;
  }
  std::string path = argv[1];
  Clock loading;
  Tokens vocabulary =
      path.ends_with(".effc") ? fromModel(argv[1]) : fromList(argv[1]);
  std::fprintf(stderr, "%u tokens, ready in %.1f ms\n", vocabulary.size,
               loading.milliseconds());
  std::mt19937 random(static_cast<uint32_t>(std::atoi(argv[2])));
  std::normal_distribution<float> noise(0, 2);
  // One long row, from which each place takes its own stretch.
  std::vector<float> row(vocabulary.size * 2);
  for (float &logit : row)
    logit = noise(random);
  Times reading, first, later, accepting;
  for (std::string line; std::getline(std::cin, line);) {
    Clock clock;
    bool isGbnf = line.starts_with("gbnf ");
    for (size_t at = 0; isGbnf && (at = line.find("\\n", at)) != line.npos;)
      line.replace(at, 2, "\n");
    Result<Rules> rules =
        isGbnf ? readGbnf(std::string_view(line).substr(5)) : readSchema(line);
    if (!rules) {
      say("refused", rules.error().message);
      continue;
    }
    auto grammar =
        Grammar::create(*rules, nullptr, *vocabulary.texts, vocabulary.size);
    reading.all.push_back(clock.milliseconds());
    if (!grammar) {
      say("failed", grammar.error().message);
      continue;
    }
    effc_sampler_options_t options = effc_sampler_options_default();
    options.temperature = 1;
    options.seed = random();
    Sampler sampler = std::move(*Sampler::create(options, vocabulary.size));
    Matcher matcher(*grammar, vocabulary.ends);
    std::string text;
    const char *kind = "text";
    for (size_t made = 0; !matcher.isComplete(); ++made) {
      if (made == 4096) {
        kind = "long";
        break;
      }
      Matcher again = matcher;
      Clock cold;
      auto mask = matcher.mask();
      first.all.push_back(cold.milliseconds());
      if (!mask) {
        kind = "failed";
        text += "\n" + mask.error().message;
        break;
      }
      Clock warm;
      (void)again.mask();
      later.all.push_back(warm.milliseconds());
      std::vector<float> logits(row.begin() + random() % vocabulary.size,
                                row.end());
      logits.resize(vocabulary.size);
      // Towards ends, the more the longer the text is.
      float push = static_cast<float>(std::min<size_t>(made, 400)) * 0.05f;
      for (const char *closing : {"\"", "}", "]", "\"}", "]}", "}}", "]]"})
        for (int32_t id = 0; id < 2000 && id < int32_t(vocabulary.size); ++id)
          if (vocabulary.texts->of(id) == closing)
            logits[static_cast<size_t>(id)] += push;
      for (int32_t end : vocabulary.ends)
        logits[static_cast<size_t>(end)] += push;
      sampler.setMask(mask->data());
      Result<int32_t> token = sampler.sample(logits);
      if (!token) {
        kind = "failed";
        text += "\n" + token.error().message;
        break;
      }
      text += made == 0 ? vocabulary.texts->ofFirst(*token)
                        : vocabulary.texts->of(*token);
      Clock taking;
      Check error = matcher.accept(*token);
      accepting.all.push_back(taking.milliseconds());
      if (error) {
        kind = "failed";
        text += "\n" + error->message;
        break;
      }
    }
    say(kind, text);
  }
  reading.print("grammar made");
  first.print("mask, as it came");
  later.print("mask, known");
  accepting.print("token taken");
  effc_model_free(vocabulary.model);
  return 0;
}
