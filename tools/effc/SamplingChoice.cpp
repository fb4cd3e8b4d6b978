#include "tools/effc/SamplingChoice.h"

#include "tools/effc/TokenNames.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <cmath>

using namespace effc;
using namespace effc::cli;

void SamplingChoice::declare(CLI::App &command) {
  command.option_defaults()->group("Sampling");
  command
      .add_option("--temperature,--temp", temperature,
                  "0: the most likely token (default: what the model asks for)")
      ->check(numberThat([](float x) { return std::isfinite(x) && x >= 0; },
                         "a finite number from 0 on"));
  command.add_option("--top-k", topK, "Draw from the K most likely; 0: all")
      ->check(wholeNumber(0, UINT32_MAX));
  command
      .add_option("--top-p", topP,
                  "Draw from the fewest tokens of this probability; 1: all, "
                  "0: the likeliest alone")
      ->check(numberThat([](float x) { return x >= 0 && x <= 1; },
                         "a number from 0 to 1"));
  command
      .add_option("--min-p", minP,
                  "Draw from tokens at least this likely relative to the best")
      ->check(numberThat([](float x) { return x >= 0 && x <= 1; },
                         "a number from 0 to 1"));
  command
      .add_option("--repeat-penalty", repeatPenalty,
                  "Make tokens seen before less likely; 1: no")
      ->check(numberThat([](float x) { return std::isfinite(x) && x > 0; },
                         "a positive finite number"));
  command
      .add_option("--presence-penalty", presencePenalty,
                  "Lower the logits of tokens generated before by so much; 0: "
                  "no")
      ->check(numberThat([](float x) { return std::isfinite(x); },
                         "a finite number"));
  command
      .add_option("--frequency-penalty", frequencyPenalty,
                  "Lower the logits of tokens generated before by so much for "
                  "each time; 0: no")
      ->check(numberThat([](float x) { return std::isfinite(x); },
                         "a finite number"));
  command
      .add_option("--typical,--typical-p", typicalP,
                  "Draw from the tokens of this probability whose surprise is "
                  "nearest to the expected one; 1: all")
      ->check(numberThat([](float x) { return x > 0 && x <= 1; },
                         "a number above 0, up to 1"));
  command
      .add_option("-l,--logit-bias", biases,
                  "Add to the logit of a token, an id or a token's text: "
                  "15043=-1, or -inf for never; may be given again")
      ->type_name("TOKEN=BIAS")
      ->allow_extra_args(false);
  addWholeNumber(command, "-s,--seed", seed, "Of the draws");
}

effc_sampler_options_t SamplingChoice::optionsFor(const Model &model) const {
  effc_sampler_options_t options = effc_sampler_options_for_model(model.get());
  options.temperature = temperature.value_or(options.temperature);
  options.top_k = topK.value_or(options.top_k);
  options.top_p = topP.value_or(options.top_p);
  options.min_p = minP.value_or(options.min_p);
  options.repeat_penalty = repeatPenalty.value_or(options.repeat_penalty);
  options.seed = seed;
  options.typical_p = typicalP;
  options.presence_penalty = presencePenalty;
  options.frequency_penalty = frequencyPenalty;
  return options;
}

void SamplingChoice::noteIdle(const effc_sampler_options_t &sampling) const {
  if (sampling.temperature != 0)
    return;
  std::string list;
  unsigned count = 0;
  auto add = [&](const char *name, bool isGiven) {
    if (isGiven)
      list += (count++ > 0 ? ", " : "") + std::string(name);
  };
  add("--top-k", topK.value_or(0) > 0);
  add("--top-p", topP.value_or(1) < 1);
  add("--min-p", minP.value_or(0) > 0);
  add("--typical", typicalP < 1);
  if (count > 0)
    printNote(list + (count == 1 ? " changes" : " change") +
              " nothing: the temperature is 0, so that the likeliest token is "
              "taken");
}

std::vector<effc_logit_bias_t>
SamplingChoice::biasesFor(const Model &model) const {
  std::vector<effc_logit_bias_t> named;
  for (const std::string &bias : biases)
    named.push_back(biasNamed(model, bias));
  return named;
}
