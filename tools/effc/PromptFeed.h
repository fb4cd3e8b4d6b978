// Feeds a prompt to a session, in the parts that calls take.
#ifndef EFFC_TOOLS_EFFC_PROMPTFEED_H
#define EFFC_TOOLS_EFFC_PROMPTFEED_H

#include "tools/effc/Inputs.h"

#include <span>

namespace effc::cli {

/// Feeds `tokens`, of which there is at least one; long prompts show their progress.
/// `logits` takes those of the last token; null: nobody wants them. Throws Failure
/// where the model's context has no room, before anything is computed, and
/// Interrupted where the user interrupts: then the session has taken a part, which its
/// position tells.
void feedPrompt(const Model &model, Engine &engine, Session &session,
                std::span<const int32_t> tokens, float *logits);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_PROMPTFEED_H
