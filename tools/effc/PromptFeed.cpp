#include "tools/effc/PromptFeed.h"

#include "tools/effc/Evaluation.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Quantities.h"
#include "tools/terminal/Signals.h"

#include <algorithm>

using namespace effc;
using namespace effc::cli;

/// Throws Failure where the model's context has no room for `count` tokens behind
/// what `session` holds.
static void requireRoom(const Model &model, const Session &session,
                        size_t count) {
  uint64_t held = session.position(), most = model.maxContext();
  if (most == 0 || count <= most - held)
    return;
  throw Failure(
      "the prompt has " + formatCount(count) + " tokens" +
      (held ? ", which follow " + formatCount(held) + " before them" : "") +
      ", but the model's context is " + formatCount(most) +
      " tokens (effc compile --max-context makes another)");
}

void effc::cli::feedPrompt(const Model &model, Engine &engine, Session &session,
                           std::span<const int32_t> tokens, float *logits) {
  requireRoom(model, session, tokens.size());
  session.requireAccepts(tokens.size());
  uint64_t stride = callStride(model);
  Progress progress("prompt", "tokens", tokens.size());
  for (uint64_t at = 0; at < tokens.size();) {
    // Up to the next multiple of the stride past a whole one.
    uint64_t count = std::min<uint64_t>(tokens.size() - at,
                                        stride - session.position() % stride);
    float *wanted = at + count == tokens.size() ? logits : nullptr;
    engine.prefill({{session.get(), tokens.data() + at, count,
                     wanted ? EFFC_LOGITS_LAST : EFFC_LOGITS_NONE, wanted,
                     sizeof(effc_prompt_t)}});
    at += count;
    progress.update(at);
    if (Interruption::came() && at < tokens.size())
      throw Interrupted("interrupted behind " + formatCount(at) + " of the " +
                        formatCount(tokens.size()) +
                        " tokens of the prompt: there is no text, and no state "
                        "was saved");
  }
}
