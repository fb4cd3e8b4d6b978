#include "tools/effc/DraftChoice.h"

#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"

#include <CLI/CLI.hpp>

using namespace effc;
using namespace effc::cli;

void DraftChoice::declare(CLI::App &command, const std::string &none) {
  command
      .add_option("--draft-tokens,--draft-max", tokens,
                  "Guess up to so many tokens of how a text goes on, where its "
                  "end stood earlier in it, and compute them at once: the same "
                  "texts in fewer steps, where they repeat themselves or their "
                  "prompt; 0: " +
                      none + " (default: 0, with --draft-model 16)")
      ->type_name("N")
      ->check(wholeNumber(0, EFFC_DRAFT_MOST));
  declareModel(command);
}

void DraftChoice::declareModel(CLI::App &command) {
  command
      .add_option("--draft-model,--model-draft", file,
                  "A smaller compiled model with the same tokens, which "
                  "guesses how texts go on, several tokens at once; texts stay "
                  "the same")
      ->type_name("FILE");
  command
      .add_option("--draft-model-tokens", modelTokens,
                  "Tokens that it guesses at once, at most")
      ->type_name("N")
      ->check(wholeNumber(1, EFFC_DRAFT_MOST))
      ->capture_default_str();
}

std::optional<Drafter> DraftChoice::open(const DeviceChoice &device,
                                         const ModelAccess &access,
                                         uint32_t sessions) const {
  if (file.empty())
    return std::nullopt;
  if (mostTokens() == 0)
    throw UsageError("--draft-model guesses nothing with --draft-tokens 0");
  // The rest of the access is of the other file.
  ModelAccess own;
  own.copy = access.copy;
  Model model = openModel(file, own);
  Place place = openEngine(device, model, {.sessions = sessions});
  return Drafter{std::move(model), std::move(place)};
}

Scheduler DraftChoice::scheduler(const Engine &engine,
                                 effc_scheduler_options_t options,
                                 const std::optional<Drafter> &drafter) const {
  if (!drafter)
    return Scheduler(engine, options);
  options.draft_engine = drafter->place.engine.get();
  options.draft_model_tokens = modelTokens;
  try {
    return Scheduler(engine, options);
  } catch (const Error &error) {
    throw Failure("--draft-model '" + file + "': " + error.what());
  }
}
