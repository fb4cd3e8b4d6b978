#include "runtime/src/serving/Order.h"

#include <algorithm>

using namespace effc::rt;

/// How far a prompt is fed where it may take `room` tokens.
static uint64_t lengthOf(const Prompt &prompt, uint64_t room, uint64_t grid) {
  uint64_t whole = std::min(prompt.left, prompt.stop);
  if (whole <= room)
    return whole;
  uint64_t end = prompt.position + room;
  end -= end % grid;
  return end > prompt.position ? end - prompt.position : 0;
}

std::vector<uint64_t> effc::rt::shareRoom(std::span<const Prompt> prompts,
                                          uint64_t room, uint64_t grid) {
  std::vector<uint64_t> lengths(prompts.size());
  if (prompts.empty())
    return lengths;
  size_t shortest = 0;
  for (size_t i = 1; i < prompts.size(); ++i)
    if (prompts[i].left < prompts[shortest].left)
      shortest = i;
  uint64_t rest = room;
  if (shortest != 0)
    rest -= lengths[shortest] = lengthOf(prompts[shortest], room / 4, grid);
  const Prompt &first = prompts[0];
  uint64_t toGrid = grid - first.position % grid;
  lengths[0] = std::max(lengthOf(first, rest, grid),
                        std::min({first.left, first.stop, toGrid}));
  rest -= std::min(rest, lengths[0]);
  for (size_t i = 1; i < prompts.size(); ++i) {
    if (lengths[i] == 0)
      lengths[i] = lengthOf(prompts[i], rest, grid);
    else if (i == shortest)
      continue;
    rest -= lengths[i];
  }
  return lengths;
}

static uint64_t add(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}
static uint64_t multiply(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t WaitBounds::mostSteps() const {
  if (promptTokens == 0 || newTokens == 0)
    return UINT64_MAX;
  uint64_t fed = room - room / 4; // in a step, by the first prompt
  fed = std::max(grid, fed - fed % grid);
  uint64_t prompt = promptTokens / fed + (promptTokens % fed != 0);
  prompt = add(prompt, stops);
  uint64_t before = queue + running - 1;
  uint64_t steps = uint64_t(ageSteps) * EFFC_PRIORITY_MOST;
  steps = add(steps, multiply(before + 1, prompt));
  uint64_t decoding = multiply(multiply(before, choices), newTokens);
  if (decoding == UINT64_MAX)
    return decoding;
  steps = add(steps, decoding / (together - choices + 1) + 1);
  // A place is given on in the step behind the one that ends a request.
  return add(steps, before + 1);
}
