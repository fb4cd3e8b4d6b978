#include "tools/effc/Guesser.h"

#include "tools/terminal/Terminal.h"

#include <algorithm>

using namespace effc;
using namespace effc::cli;

Guesser::Guesser(Drafter &drafter, uint32_t most)
    : model(drafter.model), engine(drafter.place.engine), session(engine),
      needsMark(model.memory().fixed_per_session > 0), length(most) {}

Tokens Guesser::guess(const Tokens &text, const Sampler &sampler, size_t most) {
  if (hasFailed || most == 0 || length.pauses())
    return {};
  uint64_t context = model.maxContext();
  if (context != 0) // the last guess is not fed
    most =
        std::min<uint64_t>(most, context - std::min(context, text.size() - 1));
  try {
    return guessNow(text, sampler, std::min<uint64_t>(most, length.now()));
  } catch (const Error &error) {
    hasFailed = true;
    printNote("nothing is guessed any more: " + std::string(error.what()));
    return {};
  }
}

/// Has the sequence hold nothing but a beginning of `text`, and not all of it.
void Guesser::goBack(const Tokens &text) {
  auto end = std::mismatch(fed.begin(), fed.end(), text.begin(), text.end());
  auto common = static_cast<size_t>(end.first - fed.begin());
  common = std::min(common, text.size() - 1);
  if (mark && mark->position() > common)
    mark.reset();
  if (common == fed.size())
    return;
  if (!needsMark)
    session.rewind(fed.size() - common);
  else if (mark)
    session.rewind(fed.size() - common, *mark);
  else
    session.reset();
  fed.resize(session.position());
}

Tokens Guesser::guessNow(const Tokens &text, const Sampler &sampler,
                         size_t count) {
  Tokens guesses;
  if (count == 0)
    return guesses;
  goBack(text);
  std::vector<float> row = engine.prefill(
      session, Tokens(text.begin() + ptrdiff_t(fed.size()), text.end()));
  fed = text;
  if (needsMark && count > 1)
    mark = mark ? Checkpoint(session, *mark) : Checkpoint(session);
  while (true) {
    int32_t token = sampler.guess(row, guesses.size());
    if (token < 0)
      return guesses;
    guesses.push_back(token);
    if (guesses.size() == count)
      return guesses;
    row = engine.decode({session.get()}, {token});
    fed.push_back(token);
  }
}

GuessingPlace::GuessingPlace(const DraftChoice &choice,
                             const DeviceChoice &device,
                             const ModelAccess &access, const Engine &engine)
    : drafter(choice.open(device, access, 1)) {
  if (!drafter)
    return;
  // Asked for what it would refuse, and for nothing else.
  choice.scheduler(engine, effc_scheduler_options_default(), drafter);
  made.emplace(*drafter, choice.modelTokens);
}
