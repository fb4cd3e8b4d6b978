// Several steps of decoding in one call. What a step draws lies where the caller wants
// it, and the next step reads it there, so that nothing is kept besides.

#include "runtime/src/Engine.h"

#include <algorithm>

using namespace effc;
using namespace effc::rt;

Check Engine::decodeSteps(std::span<effc_session_t *const> sessions,
                          std::span<effc_sampler_t *const> samplers,
                          std::span<const int32_t> tokens, uint64_t steps,
                          std::span<const int32_t> ends, int32_t *outTokens,
                          size_t *outLengths) {
  if (Check error = addDraws(sessions, samplers, tokens, steps, outTokens))
    return error;
  uint64_t more = 0;
  for (const Intake &intake : intakes)
    more +=
        bytesToReach(intake.session->slot, intake.session->position + steps);
  coolDownFor(more);
  if (Check error = requireMemory(more, "the steps take"))
    return error;

  std::fill_n(outTokens, sessions.size() * steps, -1);
  std::fill_n(outLengths, sessions.size(), 0);
  while (!intakes.empty()) {
    if (Check error = runAll(*decodePacker, artifact::CallResult::Choices))
      return error;
    size_t left = 0;
    for (const Intake &ran : intakes) {
      Intake next = ran;
      size_t &length =
          outLengths[static_cast<uint64_t>(ran.token - outTokens) / steps];
      next.tokens = next.token++;
      bool hasEnded = *next.tokens < 0 || std::find(ends.begin(), ends.end(),
                                                    *next.tokens) != ends.end();
      if (++length < steps && !hasEnded)
        intakes[left++] = next;
    }
    intakes.erase(intakes.begin() + static_cast<ptrdiff_t>(left),
                  intakes.end());
    feeds.clear();
    for (const Intake &intake : intakes)
      feeds.push_back({intake.session->position, 1});
  }
  return {};
}
