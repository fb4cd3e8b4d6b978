#include "tools/effc-verify/Feeding.h"

#include <algorithm>
#include <random>

using namespace effc;
using namespace effc::verify;

Tokens verify::pickTokens(uint32_t vocabulary, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed); // its numbers are the same everywhere
  Tokens tokens(count);
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(random() % vocabulary);
  return tokens;
}

std::vector<size_t> verify::pickSplit(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<size_t> lengths;
  while (count > 0) {
    // Every third piece is a single token.
    size_t length = lengths.size() % 3 == 2 ? 1 : 1 + random() % 17;
    lengths.push_back(std::min(length, count));
    count -= lengths.back();
  }
  return lengths;
}

Feeding::Feeding(const Model &model, Engine on)
    : engine(std::move(on)), columns(model.rowWidth()) {}

Feeding::Feeding(const Model &model, const Device &device)
    : Feeding(model, Engine(model, device, kMostSequences)) {}

static void append(Logits &all, const Logits &more) {
  all.insert(all.end(), more.begin(), more.end());
}

Logits Feeding::inOnePrefill(const Tokens &tokens) {
  Session session(engine);
  return engine.prefill(session, tokens, EFFC_LOGITS_ALL);
}

Logits Feeding::inSteps(const Tokens &tokens) {
  Session session(engine);
  Logits all;
  for (int32_t token : tokens)
    append(all, engine.decode({session.get()}, {token}));
  return all;
}

Logits Feeding::inPieces(const Tokens &tokens,
                         const std::vector<size_t> &lengths) {
  Session session(engine);
  Logits all;
  bool step = false;
  auto at = tokens.begin();
  for (size_t length : lengths) {
    Tokens piece(at, at + static_cast<ptrdiff_t>(length));
    at += static_cast<ptrdiff_t>(length);
    if (length == 1)
      step = !step;
    append(all, length == 1 && step
                    ? engine.decode({session.get()}, piece)
                    : engine.prefill(session, piece, EFFC_LOGITS_ALL));
  }
  return all;
}

std::vector<Logits> Feeding::inBatch(const std::vector<Tokens> &sequences) {
  size_t steps = 8;
  for (const Tokens &tokens : sequences)
    steps = std::min(steps, tokens.size() - 1);
  std::vector<Session> sessions;
  std::vector<effc_session_t *> handles;
  std::vector<Logits> all;
  std::vector<effc_prompt_t> prompts;
  for (const Tokens &tokens : sequences) {
    sessions.emplace_back(engine);
    handles.push_back(sessions.back().get());
    size_t first = tokens.size() - steps;
    all.emplace_back(first * columns);
    prompts.push_back({handles.back(), tokens.data(), first, EFFC_LOGITS_ALL,
                       all.back().data(), sizeof(effc_prompt_t)});
  }
  engine.prefill(prompts);
  for (size_t step = steps; step > 0; --step) {
    Tokens next;
    for (const Tokens &tokens : sequences)
      next.push_back(tokens[tokens.size() - step]);
    Logits rows = engine.decode(handles, next);
    for (size_t i = 0; i < sequences.size(); ++i)
      all[i].insert(all[i].end(),
                    rows.begin() + static_cast<ptrdiff_t>(i * columns),
                    rows.begin() + static_cast<ptrdiff_t>((i + 1) * columns));
  }
  return all;
}

Logits Feeding::throughASavedState(const Tokens &tokens) {
  auto middle = tokens.begin() + static_cast<ptrdiff_t>(tokens.size() / 2);
  Session before(engine), after(engine);
  Logits all =
      engine.prefill(before, Tokens(tokens.begin(), middle), EFFC_LOGITS_ALL);
  after.loadBytes(before.save());
  append(all,
         engine.prefill(after, Tokens(middle, tokens.end()), EFFC_LOGITS_ALL));
  return all;
}

Logits Feeding::lastRowAlone(const Tokens &tokens) {
  Session session(engine);
  return engine.prefill(session, tokens, EFFC_LOGITS_LAST);
}

Logits Feeding::withoutLogitsThenAStep(const Tokens &tokens) {
  Session session(engine);
  engine.prefill(session, Tokens(tokens.begin(), tokens.end() - 1),
                 EFFC_LOGITS_NONE);
  return engine.decode({session.get()}, {tokens.back()});
}
