#include "runtime/src/serving/DraftModel.h"

#include "runtime/src/ModelChecks.h"
#include "runtime/src/system/FloatMode.h"
#include "runtime/src/tokenizer/Tokenizer.h"

#include <algorithm>
#include <utility>

using namespace effc;
using namespace effc::rt;

/// A text that is so many tokens ahead is read before it is guessed.
static constexpr uint64_t kFarAhead = 128;

static std::span<const uint8_t> tokenizerBytes(const Model &model) {
  return model.segmentBytes(
      *findSegment(model.program(), artifact::SegmentKind::Tokenizer));
}

/// Fails where a token is another text in the two models, which name tokens alike where
/// their tokenizers are the same but for templates of conversations.
static Check requireSameTokens(const Model &draft, const Model &model) {
  if (!draft.tokenizer() || !model.tokenizer() ||
      std::ranges::equal(tokenizerBytes(draft), tokenizerBytes(model)))
    return {};
  auto count = static_cast<int32_t>(model.program().vocabulary_size());
  for (int32_t id = 0; id < count; ++id) {
    auto here = draft.tokenizer()->detokenize({&id, 1}, /*skipSpecial=*/false);
    if (!here)
      return here.error();
    auto there = model.tokenizer()->detokenize({&id, 1}, /*skipSpecial=*/false);
    if (!there)
      return there.error();
    if (*here != *there)
      return invalidArgument("'draft_engine' has a model of another tokenizer: "
                             "token ",
                             id, " is '", *here, "' there, and '", *there,
                             "' in the model that it is to guess for");
  }
  return {};
}

Check DraftModel::fits(const Engine &draft, const Engine &engine) {
  if (&draft == &engine)
    return invalidArgument("'draft_engine' is the scheduler's own engine");
  if (Check error = draft.requireLogits())
    return fail(error->code, "'draft_engine': ", error->message);
  uint32_t found = draft.model().program().vocabulary_size(),
           expected = engine.model().program().vocabulary_size();
  if (found != expected)
    return invalidArgument(
        "'draft_engine' has a model of ", found,
        " tokens, but the model that it is to guess for has ", expected);
  return requireSameTokens(draft.model(), engine.model());
}

DraftModel::DraftModel(std::shared_ptr<Engine> given, uint32_t most)
    : engine(std::move(given)), most(most),
      context(engine->model().program().max_context()),
      budget(engine->stateBudget()) {
  scratch.reserve(engine->model().program().vocabulary_size());
}

uint64_t DraftModel::bytesOf(uint64_t tokens) const {
  return engine->bytesOf(context == 0 ? tokens : std::min(tokens, context));
}

std::optional<DraftModel::Follower> DraftModel::follow(uint64_t bytes) {
  if (bytes > budget - reserved)
    return std::nullopt;
  Result<uint32_t> slot = engine->takeSlot();
  if (!slot)
    return std::nullopt;
  reserved += bytes;
  Follower follower = {{}, bytes, DraftLength(most)};
  follower.session.engine = engine;
  follower.session.slot = *slot;
  return follower;
}

void DraftModel::leave(const Follower &follower) {
  engine->giveSlot(follower.session.slot);
  reserved -= follower.reserved;
}

Check DraftModel::copy(const Text &from, Follower &to) {
  Text settled = from;
  if (Check error = settle(settled))
    return error;
  return engine->copy(from.follower->session, to.session);
}

/// Takes back what was guessed and has not come.
Check DraftModel::settle(Text &text) {
  Follower &follower = *text.follower;
  std::vector<int32_t> guessed = std::exchange(follower.guessed, {});
  uint64_t begin = follower.mark.position, right = 0;
  while (right < guessed.size() && begin + right < text.size() &&
         guessed[right] == text.at(begin + right))
    ++right;
  if (right == guessed.size())
    return {};
  return engine->rewind(follower.session, follower.mark, right);
}

Result<bool> DraftModel::read(std::span<Text> texts, uint64_t room, bool all) {
  std::vector<std::vector<int32_t>> pieces;
  std::vector<effc_prompt_t> prompts;
  for (Text &text : texts) {
    if (Check error = settle(text))
      return *error;
    effc_session &session = text.follower->session;
    uint64_t end = text.size() - 1;
    if (context != 0)
      end = std::min(end, context);
    if (session.position >= end ||
        (!all && end - session.position <= kFarAhead))
      continue;
    uint64_t count = std::min(end - session.position, room);
    if (count == 0)
      break;
    room -= count;
    std::vector<int32_t> &piece = pieces.emplace_back();
    for (uint64_t i = 0; i < count; ++i)
      piece.push_back(text.at(session.position + i));
    prompts.push_back({&session, piece.data(), count, EFFC_LOGITS_NONE, nullptr,
                       sizeof(effc_prompt_t)});
  }
  if (prompts.empty())
    return false;
  if (Check error = engine->prefill(prompts.data(), prompts.size()))
    return *error;
  return true;
}

Check DraftModel::guess(std::span<Text> texts) {
  std::vector<Text *> guessing;
  for (Text &text : texts) {
    if (Check error = settle(text))
      return error;
    uint64_t ahead = text.size() - text.follower->session.position;
    // The last guess is not fed.
    uint64_t room = UINT64_MAX;
    if (context != 0)
      room = context - std::min(context, text.size() - 1);
    text.most =
        std::min({text.most, room, engine->copyLayout().mostTakenBack()});
    if (text.most > 0 && ahead > 0 && ahead <= kFarAhead + 1)
      guessing.push_back(&text);
  }
  if (guessing.empty())
    return {};
  if (Check error = guessFirst(guessing))
    return error;
  for (uint64_t step = 1;; ++step) {
    std::erase_if(guessing, [&](const Text *text) {
      return text->guesses.size() < step || text->most <= step;
    });
    if (guessing.empty())
      return {};
    if (Check error = guessNext(guessing, step))
      return error;
  }
}

/// Feeds what is new of the texts, and draws from its logits.
Check DraftModel::guessFirst(std::span<Text *const> texts) {
  uint64_t vocabulary = engine->model().program().vocabulary_size();
  logits.resize(std::max(logits.size(), texts.size() * vocabulary));
  std::vector<std::vector<int32_t>> pieces(texts.size());
  std::vector<effc_prompt_t> prompts;
  for (size_t i = 0; i < texts.size(); ++i) {
    effc_session &session = texts[i]->follower->session;
    for (uint64_t at = session.position; at < texts[i]->size(); ++at)
      pieces[i].push_back(texts[i]->at(at));
    prompts.push_back({&session, pieces[i].data(), pieces[i].size(),
                       EFFC_LOGITS_LAST, logits.data() + i * vocabulary,
                       sizeof(effc_prompt_t)});
  }
  if (Check error = engine->prefill(prompts.data(), prompts.size()))
    return error;
  draw(texts, 0);
  for (Text *text : texts) {
    Follower &follower = *text->follower;
    follower.mark = {};
    follower.mark.position = follower.session.position;
    if (text->most == 1)
      continue;
    auto mark = engine->mark(follower.session, text->most - 1);
    if (!mark)
      return mark.error();
    follower.mark = std::move(*mark);
  }
  return {};
}

/// Feeds the last guesses, and draws from their logits.
Check DraftModel::guessNext(std::span<Text *const> texts, uint64_t step) {
  std::vector<effc_session_t *> sessions;
  std::vector<int32_t> tokens;
  for (Text *text : texts) {
    sessions.push_back(&text->follower->session);
    tokens.push_back(text->guesses.back());
  }
  if (Check error = engine->decode(sessions, tokens, logits.data()))
    return error;
  for (size_t i = 0; i < texts.size(); ++i)
    texts[i]->follower->guessed.push_back(tokens[i]);
  draw(texts, step);
  return {};
}

/// A guess is what the text's own sampler would draw there: where both models say
/// nearly the same, the same noise has the same token win.
void DraftModel::draw(std::span<Text *const> texts, uint64_t step) {
  uint64_t vocabulary = engine->model().program().vocabulary_size();
  DefaultFloatMode mode; // as where others draw
  for (size_t i = 0; i < texts.size(); ++i) {
    std::span<const float> row(logits.data() + i * vocabulary, vocabulary);
    int32_t token = texts[i]->sampler->guess(row, step, scratch);
    if (token >= 0)
      texts[i]->guesses.push_back(token);
  }
}
