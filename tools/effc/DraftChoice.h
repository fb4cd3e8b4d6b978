//===- DraftChoice.h - How tokens are guessed before they are computed ----===//
#ifndef EFFC_TOOLS_EFFC_DRAFTCHOICE_H
#define EFFC_TOOLS_EFFC_DRAFTCHOICE_H

#include "tools/effc/ModelAccess.h"

#include <optional>

namespace CLI {
class App;
}

namespace effc::cli {

/// A model that guesses for another one.
struct Drafter {
  Model model;
  Place place;
};

struct DraftChoice {
  std::optional<uint32_t> tokens; // at once, by whatever guesses
  std::string file;               // of a model that guesses; empty: none
  uint32_t modelTokens = 4;       // that it guesses at once

  /// Declares --draft-tokens, --draft-model and --draft-model-tokens, in the group that
  /// is current. `none` says what 0 tokens mean.
  void declare(CLI::App &command, const std::string &none);

  /// Declares the latter two.
  void declareModel(CLI::App &command);

  /// How many are guessed at once, at most.
  uint32_t mostTokens() const { return tokens.value_or(file.empty() ? 0 : 16); }

  /// The model that guesses, on the device of the other, for so many sequences.
  std::optional<Drafter> open(const DeviceChoice &device,
                              const ModelAccess &access,
                              uint32_t sessions) const;
  /// A scheduler of `engine` for which `drafter` guesses, if it is there. Throws
  /// Failure, which names the option, where it cannot.
  Scheduler scheduler(const Engine &engine, effc_scheduler_options_t options,
                      const std::optional<Drafter> &drafter) const;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_DRAFTCHOICE_H
