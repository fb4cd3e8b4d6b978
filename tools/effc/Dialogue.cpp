#include "tools/effc/Dialogue.h"

#include "tools/effc/PromptFeed.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Terminal.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <utility>

using namespace effc;
using namespace effc::cli;

Dialogue::Dialogue(const Model &model, Engine &engine, Chat chat,
                   DialogueOptions options)
    : model(model), engine(engine), chat(std::move(chat)),
      options(std::move(options)), kept{Session(engine), {}} {}

namespace {
/// The text of an answer, as it comes, to its parts, which it shows.
class AnswerParts {
public:
  /// `prompt` is what the answer follows: it may end within reasoning.
  AnswerParts(const Chat &chat, std::string_view prompt, bool shows)
      : shows(shows) {
    effc_chat_parser_options_t options = effc_chat_parser_options_default();
    options.prompt = prompt.data();
    options.prompt_size = prompt.size();
    effc_chat_parser_t *made = nullptr;
    check(effc_chat_parser_create(chat.get(), &options, &made));
    parser.reset(made);
  }

  void push(std::string_view text) {
    check(effc_chat_parser_push(parser.get(), text.data(), text.size()));
    take();
  }
  void finish() {
    check(effc_chat_parser_finish(parser.get()));
    take();
    if (!shows)
      return;
    endReasoning();
    print("\n");
    flushOutput();
  }

  std::string content, reasoning;

private:
  void take() {
    while (true) {
      effc_chat_part_t part = {};
      part.size = sizeof part;
      check(effc_chat_parser_next(parser.get(), &part));
      if (part.kind == EFFC_CHAT_NONE)
        return;
      std::string_view text(part.text, part.text_size);
      bool isReasoning = part.kind == EFFC_CHAT_REASONING;
      (isReasoning ? reasoning : content) += text;
      if (shows)
        show(text, isReasoning);
    }
  }

  void show(std::string_view text, bool isReasoning) {
    if (isReasoning) {
      isWithin = true;
      return printAside(text);
    }
    endReasoning();
    print(text);
    flushOutput();
  }
  void endReasoning() {
    if (std::exchange(isWithin, false))
      printAside("\n\n");
  }

  struct Free {
    void operator()(effc_chat_parser_t *parser) const {
      effc_chat_parser_free(parser);
    }
  };
  std::unique_ptr<effc_chat_parser_t, Free> parser;
  bool shows, isWithin = false; // reasoning was shown, and nothing since
};
} // namespace

ChatText Dialogue::render(bool addGenerationPrompt) const {
  Conversation conversation;
  conversation.messages = all.dump();
  conversation.arguments = options.arguments;
  conversation.date = options.date;
  conversation.addGenerationPrompt = addGenerationPrompt;
  return chat.render(conversation);
}

/// Whether `longer` begins with `tokens`, and goes on.
static bool continues(const Tokens &longer, const Tokens &tokens) {
  return tokens.size() < longer.size() &&
         std::equal(tokens.begin(), tokens.end(), longer.begin());
}

/// Brings `kept` to a beginning of `prompt`, the longest that there is; returns its
/// length.
size_t Dialogue::startFrom(const Tokens &prompt) {
  if (live && continues(prompt, live->tokens)) {
    kept.session.assign(live->session);
    kept.tokens = live->tokens;
  } else if (!continues(prompt, kept.tokens)) {
    kept.session.reset();
    kept.tokens.clear();
  }
  live.reset();
  return kept.tokens.size();
}

Turn Dialogue::answer() {
  Turn turn;
  ChatText text = render(true);
  Tokens prompt = text.tokenize(model),
         messages = render(false).tokenize(model);
  if (prompt.empty())
    throw Failure("the template makes no tokens of the conversation");
  // The next turn keeps the messages, and often not what begins an answer.
  size_t end =
      static_cast<size_t>(std::mismatch(prompt.begin(), prompt.end(),
                                        messages.begin(), messages.end())
                              .first -
                          prompt.begin());
  end = std::min(end, prompt.size() - 1);
  size_t begin = startFrom(prompt);
  turn.promptTokens = prompt.size();
  turn.readTokens = prompt.size() - begin;
  auto start = std::chrono::steady_clock::now();
  if (end > begin) {
    try {
      feedPrompt(model, engine, kept.session,
                 std::span(prompt).subspan(begin, end - begin), nullptr);
    } catch (...) {
      kept.tokens.assign(prompt.begin(),
                         prompt.begin() +
                             static_cast<ptrdiff_t>(kept.session.position()));
      throw;
    }
    kept.tokens.assign(prompt.begin(),
                       prompt.begin() + static_cast<ptrdiff_t>(end));
  }
  std::chrono::duration<double> reading =
      std::chrono::steady_clock::now() - start;
  GenerationOptions settings = options.generation;
  // What follows a grammar does so from its first token on, and is content.
  AnswerParts parts(chat, settings.grammar ? "" : text.bytes(), options.shows);
  settings.onText = [&](std::string_view more) { parts.push(more); };
  settings.show = Show::Nothing;
  settings.before = kept.tokens;
  settings.sampling.seed += asked++;
  Session session(engine);
  session.assign(kept.session);
  Generation generation(model, engine, std::move(session), settings);
  generation.feed(
      Tokens(prompt.begin() + static_cast<ptrdiff_t>(kept.tokens.size()),
             prompt.end()));
  generation.run();
  parts.finish();
  generation.feedLastToken();
  turn.answer = generation.results()[0];
  turn.content = std::move(parts.content);
  turn.reasoning = std::move(parts.reasoning);
  turn.prefill = {turn.readTokens,
                  reading.count() + generation.prefill.seconds};
  turn.decode = generation.decode;
  prompt.insert(prompt.end(), turn.answer.tokens.begin(),
                turn.answer.tokens.end());
  prompt.resize(generation.session().position());
  live.emplace(Held{generation.takeSession(), std::move(prompt)});
  return turn;
}

Turn Dialogue::ask(const std::string &question) {
  Json before = all;
  try {
    all.push_back({{"role", "user"}, {"content", question}});
    Turn turn = answer();
    all.push_back({{"role", "assistant"}, {"content", turn.content}});
    if (!turn.reasoning.empty())
      all.back()["reasoning_content"] = turn.reasoning;
    return turn;
  } catch (...) {
    all = std::move(before);
    throw;
  }
}

std::optional<std::string> Dialogue::takeBack() {
  for (size_t i = all.size(); i-- > 0;) {
    if (all[i].value("role", "") != "user")
      continue;
    std::optional<std::string> question;
    if (all[i].contains("content") && all[i]["content"].is_string())
      question = all[i]["content"].get<std::string>();
    all.erase(all.begin() + static_cast<ptrdiff_t>(i), all.end());
    return question;
  }
  return std::nullopt;
}

void Dialogue::clear() {
  Json system = Json::array();
  if (!all.empty() && all[0].value("role", "") == "system")
    system.push_back(all[0]);
  all = std::move(system);
}

void Dialogue::setSystem(const std::string &text) {
  if (!all.empty() && all[0].value("role", "") == "system")
    all.erase(all.begin());
  if (!text.empty())
    all.insert(all.begin(), Json{{"role", "system"}, {"content", text}});
}

Tokens Dialogue::saveState(const std::string &path) const {
  const Held &held = live ? *live : kept;
  held.session.save(path);
  return held.tokens;
}

void Dialogue::loadState(const std::string &path, Tokens tokens) {
  Session loaded(engine);
  loaded.load(path);
  if (loaded.position() != tokens.size())
    throw Failure("'" + path + "' holds " + std::to_string(loaded.position()) +
                  " tokens, but " + std::to_string(tokens.size()) +
                  " were expected");
  kept.session.assign(loaded);
  kept.tokens = std::move(tokens);
}
