#include "runtime/src/grammar/Grammar.h"

#include <algorithm>

using namespace effc::rt;
using namespace effc::rt::grammar;

static Error tooManyWays() {
  return fail(EFFC_EXHAUSTED, "the grammar reads the text in more than ",
              States::kMostPlaces,
              " ways at once: write it so that what comes tells sooner which "
              "choice it is");
}

Grammar::Grammar(Automaton made, std::shared_ptr<const void> owner,
                 const TokenTexts &tokens, uint32_t vocabulary)
    : automaton(std::make_shared<const Automaton>(std::move(made))),
      owner(std::move(owner)), tokens(tokens), vocabulary(vocabulary),
      current(std::make_shared<Table>(automaton)) {}

Result<std::shared_ptr<const Grammar>>
Grammar::create(const Rules &rules, std::shared_ptr<const void> owner,
                const TokenTexts &tokens, uint32_t vocabulary) {
  Result<Automaton> automaton = Automaton::create(rules);
  if (!automaton)
    return automaton.error();
  std::shared_ptr<const Grammar> made(
      new Grammar(std::move(*automaton), std::move(owner), tokens, vocabulary));
  StateId start = made->current->states.start();
  if (start == States::kTooMany)
    return tooManyWays();
  if (!made->current->states.canGoOn(start))
    return invalidArgument("the empty text alone fits the grammar");
  return made;
}

StateId Grammar::enter(std::shared_ptr<Table> &table, StateId state) const {
  if (current->states.bytes() + current->maskBytes > kMostTableBytes)
    current = std::make_shared<Table>(automaton);
  if (table == current)
    return state;
  StateId entered = current->states.copyFrom(table->states, state);
  table = current;
  return entered;
}

/// Adds the tokens between two nodes whose bytes lead on from `state`.
Check Grammar::walk(Table &table, StateId state, size_t begin, size_t end,
                    Mask &mask) const {
  States &states = table.states;
  std::span<const TokenTexts::Node> nodes = tokens.nodes();
  if (begin == end)
    return {};
  size_t above = nodes[begin].depth - size_t(1);
  std::vector<StateId> path(tokens.mostDepth() + 1);
  path[above] = state;
  size_t most = states.bytes() + kMostMaskBytes;
  for (size_t at = begin; at < end;) {
    const TokenTexts::Node &node = nodes[at];
    StateId next = states.next(path[node.depth - size_t(1)], node.byte);
    if (next == States::kDead) {
      at = node.end;
      continue;
    }
    if (next == States::kTooMany)
      return tooManyWays();
    if (states.bytes() > most)
      return fail(EFFC_EXHAUSTED,
                  "the grammar has too many states that tokens "
                  "can lead to: more than ",
                  kMostMaskBytes, " bytes");
    path[node.depth] = next;
    for (int32_t token : tokens.tokensAt(at))
      if (static_cast<uint32_t>(token) < vocabulary)
        mask[static_cast<uint32_t>(token) / 64] |= uint64_t(1) << (token % 64);
    ++at;
  }
  return {};
}

Result<std::shared_ptr<const Mask>> Grammar::maskOf(Table &table, StateId state,
                                                    bool isFirst) const {
  bool drops = isFirst && tokens.dropsFirstSpace();
  if (table.states.mask(state, drops))
    return table.states.mask(state, drops);
  auto mask = std::make_shared<Mask>((vocabulary + 63) / 64);
  size_t count = tokens.nodes().size(), space = tokens.spaceNode();
  Check error;
  if (drops && space < count) {
    // Tokens that begin with a space stand for what follows it.
    size_t below = tokens.nodes()[space].end;
    error = walk(table, state, 0, space, *mask);
    if (!error)
      error = walk(table, state, space + 1, below, *mask);
    if (!error)
      error = walk(table, state, below, count, *mask);
  } else {
    error = walk(table, state, 0, count, *mask);
  }
  if (error)
    return *error;
  table.maskBytes += mask->size() * sizeof(uint64_t);
  table.states.mask(state, drops) = mask;
  return std::shared_ptr<const Mask>(mask);
}

Matcher::Matcher(std::shared_ptr<const Grammar> given,
                 std::vector<int32_t> ends)
    : grammar(std::move(given)), ends(std::move(ends)) {
  std::lock_guard guard(grammar->lock);
  table = grammar->current;
  state = table->states.start();
  mayEnd = table->states.canEnd(state);
  mayGoOn = table->states.canGoOn(state);
}

bool Matcher::isEnd(int32_t token) const {
  return std::find(ends.begin(), ends.end(), token) != ends.end();
}

Result<std::span<const uint64_t>> Matcher::mask() {
  if (hasEnded)
    return fail(EFFC_EXHAUSTED, "the text has ended: no token can come");
  {
    std::lock_guard guard(grammar->lock);
    state = grammar->enter(table, state);
    Result<std::shared_ptr<const Mask>> found =
        grammar->maskOf(*table, state, isFirst);
    if (!found)
      return found.error();
    allowed = **found;
  }
  for (int32_t end : ends) {
    if (end < 0 || static_cast<uint32_t>(end) >= grammar->vocabulary)
      continue;
    uint64_t bit = uint64_t(1) << (end % 64);
    uint64_t &word = allowed[static_cast<uint32_t>(end) / 64];
    word = mayEnd ? word | bit : word & ~bit;
  }
  if (std::all_of(allowed.begin(), allowed.end(),
                  [](uint64_t word) { return word == 0; }))
    return fail(EFFC_EXHAUSTED,
                "no token of the vocabulary fits the grammar here",
                mayEnd ? ", where the text may end, and none ends it" : "");
  return std::span<const uint64_t>(allowed);
}

Check Matcher::accept(int32_t token) {
  if (hasEnded)
    return invalidArgument("token ", token,
                           " comes behind the end of the text");
  if (isEnd(token)) {
    if (!mayEnd)
      return invalidArgument("token ", token,
                             " ends the text where the grammar does not");
    hasEnded = true;
    return {};
  }
  std::string_view bytes =
      isFirst ? grammar->tokens.ofFirst(token) : grammar->tokens.of(token);
  if (bytes.empty())
    return invalidArgument("token ", token,
                           " has no text, so that no grammar allows it");
  std::lock_guard guard(grammar->lock);
  StateId next = state = grammar->enter(table, state);
  for (char byte : bytes) {
    next = table->states.next(next, static_cast<uint8_t>(byte));
    if (next == States::kTooMany)
      return tooManyWays();
    if (next == States::kDead)
      return invalidArgument("token ", token, ", '", std::string(bytes),
                             "', does not fit the grammar here");
  }
  state = next;
  isFirst = false;
  mayEnd = table->states.canEnd(state);
  mayGoOn = table->states.canGoOn(state);
  return {};
}

bool Matcher::canEnd() const { return mayEnd; }

bool Matcher::isComplete() const { return hasEnded || (mayEnd && !mayGoOn); }
