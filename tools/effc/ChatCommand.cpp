// `effc chat`: a conversation in a terminal, or from a script.

#include "tools/effc/ChatFile.h"
#include "tools/effc/Commands.h"
#include "tools/effc/Dialogue.h"
#include "tools/effc/GrammarChoice.h"
#include "tools/effc/ModelAccess.h"
#include "tools/effc/SamplingChoice.h"
#include "tools/effc/TokenLimit.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/LineEditor.h"
#include "tools/terminal/Quantities.h"
#include "tools/terminal/Signals.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <span>

using namespace effc;
using namespace effc::cli;
using Json = nlohmann::ordered_json;

namespace {
struct ChatOptions {
  std::string file;
  std::optional<std::string> message, conversation, system;
  std::optional<std::string> templateName, templateFile;
  std::string arguments, date;
  ModelAccess access;
  DeviceChoice device;
  SamplingChoice sampling;
  GrammarChoice grammar;
  DraftChoice drafts;
  int64_t newTokens = 4096;
  bool keepState = false, stats = false, json = false;
};

/// A conversation, and what shows it.
class ChatLoop {
public:
  ChatLoop(const ChatOptions &options, Dialogue dialogue)
      : options(options), dialogue(std::move(dialogue)), stats(options.stats) {
    if (options.conversation)
      file.emplace(*options.conversation);
  }

  void load();
  void keepState();
  /// Answers one message; false where the user interrupted before there was a text.
  bool answer(const std::string &message);
  /// Reads messages and commands until the input or the user ends.
  void run();

private:
  struct Command {
    const char *name, *argument, *help;
    /// Returns whether the conversation goes on.
    bool (ChatLoop::*run)(const std::string &argument);
  };
  static std::span<const Command> commands();

  bool help(const std::string &);
  bool system(const std::string &text);
  bool undo(const std::string &);
  bool again(const std::string &);
  bool clear(const std::string &);
  bool save(const std::string &path);
  bool toggleStats(const std::string &);
  bool exit(const std::string &) { return false; }

  bool obey(const std::string &line);
  std::optional<std::string> readMessage();
  void keep();
  void report(const Turn &turn);

  const ChatOptions &options;
  Dialogue dialogue;
  std::optional<ChatFile> file; // of the conversation
  LineEditor editor;
  bool stats;
};
} // namespace

void ChatLoop::load() {
  if (file && file->isThere())
    dialogue.setMessages(file->messages());
  if (options.system)
    dialogue.setSystem(*options.system);
  std::optional<ChatFile::State> state = file ? file->state() : std::nullopt;
  if (!state)
    return;
  // Without the state the conversation is read again, which is no loss but time.
  try {
    dialogue.loadState(state->path, std::move(state->tokens));
  } catch (const std::exception &error) {
    printNote("the conversation is read again: " + std::string(error.what()));
  }
}

void ChatLoop::keepState() {
  if (options.keepState)
    file->writeState(
        [&](const std::string &path) { return dialogue.saveState(path); });
}

void ChatLoop::keep() {
  if (file)
    file->write(dialogue.messages());
}

void ChatLoop::report(const Turn &turn) {
  if (options.json) {
    Json json;
    json["role"] = "assistant";
    json["content"] = turn.content;
    if (!turn.reasoning.empty())
      json["reasoning_content"] = turn.reasoning;
    json["tokens"] = turn.answer.tokens;
    json["seed"] = turn.answer.seed;
    json["stop_reason"] = nameOf(turn.answer.ending);
    json["prompt_tokens"] = turn.promptTokens;
    json["read_tokens"] = turn.readTokens;
    json["prefill_seconds"] = turn.prefill.seconds;
    json["decode_seconds"] = turn.decode.seconds;
    print(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    flushOutput();
  }
  if (stats)
    printNote("the conversation has " + formatCount(turn.promptTokens) +
              " tokens; read now: " + turn.prefill.text() +
              "; decode: " + turn.decode.text());
  if (turn.answer.ending == Ending::Length)
    printNote("the answer was cut: -n " +
              std::to_string(turn.answer.tokens.size()));
}

bool ChatLoop::answer(const std::string &message) {
  Interruption::forget();
  try {
    Interruption interruption;
    report(dialogue.ask(message));
  } catch (const Interrupted &) {
    printNote("interrupted while the conversation was read: the message is "
              "dropped");
    return false;
  }
  keep();
  return true;
}

std::span<const ChatLoop::Command> ChatLoop::commands() {
  static constexpr Command kCommands[] = {
      {"/help", "", "what can be typed", &ChatLoop::help},
      {"/system", "TEXT", "what the model is told first; no TEXT: nothing",
       &ChatLoop::system},
      {"/undo", "", "drop the last message and its answer", &ChatLoop::undo},
      {"/again", "", "answer the last message anew", &ChatLoop::again},
      {"/clear", "", "begin a new conversation", &ChatLoop::clear},
      {"/save", "FILE", "write the conversation, for --conversation",
       &ChatLoop::save},
      {"/stats", "", "say after each answer what it took, or no longer",
       &ChatLoop::toggleStats},
      {"/exit", "", "end; so does Ctrl-D", &ChatLoop::exit},
  };
  return kCommands;
}

bool ChatLoop::help(const std::string &) {
  for (const Command &command : commands()) {
    std::string name = command.name;
    if (*command.argument)
      name += std::string(" ") + command.argument;
    name.resize(std::max<size_t>(name.size(), 14), ' ');
    print(name + command.help + "\n");
  }
  print("A line that ends with \\ goes on in the next one. Ctrl-C ends an "
        "answer.\n");
  return true;
}

bool ChatLoop::system(const std::string &text) {
  dialogue.setSystem(text);
  keep();
  return true;
}

bool ChatLoop::undo(const std::string &) {
  if (!dialogue.takeBack())
    printNote("there is no message to drop");
  keep();
  return true;
}

bool ChatLoop::again(const std::string &) {
  Json before = dialogue.messages();
  std::optional<std::string> question = dialogue.takeBack();
  if (!question)
    printNote("there is no message to answer");
  else if (!answer(*question))
    dialogue.setMessages(std::move(before)); // the old answer stays
  return true;
}

bool ChatLoop::clear(const std::string &) {
  dialogue.clear();
  keep();
  return true;
}

bool ChatLoop::save(const std::string &path) {
  if (path.empty())
    throw Failure("/save expects a file");
  ChatFile(path).write(dialogue.messages());
  return true;
}

bool ChatLoop::toggleStats(const std::string &) {
  stats = !stats;
  return true;
}

/// Does what a line that begins with '/' asks for; returns whether to go on.
bool ChatLoop::obey(const std::string &line) {
  size_t space = line.find(' ');
  std::string name = line.substr(0, space), argument;
  if (space != std::string::npos)
    argument = line.substr(line.find_last_not_of(' ') < space
                               ? line.size()
                               : line.find_first_not_of(' ', space));
  for (const Command &command : commands())
    if (name == command.name)
      return (this->*command.run)(argument);
  throw Failure("there is no command '" + name +
                "' (/help lists them); a message may begin with a space");
}

/// One message, of one line or several; none at the end of the input.
std::optional<std::string> ChatLoop::readMessage() {
  std::string message;
  const char *prompt = "> ";
  while (std::optional<std::string> line = editor.read(prompt)) {
    if (!line->ends_with('\\')) {
      message += *line;
      editor.remember(message);
      return message;
    }
    line->back() = '\n';
    message += *line;
    prompt = ". ";
  }
  return message.empty() ? std::nullopt : std::optional(message);
}

void ChatLoop::run() {
  if (LineEditor::isInteractive())
    printNote("/help lists commands, Ctrl-D ends");
  while (std::optional<std::string> message = readMessage()) {
    if (message->find_first_not_of(" \t\n") == std::string::npos)
      continue;
    try {
      if (message->starts_with('/')) {
        if (!obey(*message))
          return;
      } else {
        answer(*message);
      }
    } catch (const Failure &failure) {
      printError(failure.what()); // the conversation is what it was
    } catch (const Error &error) {
      printError(error.what());
    }
  }
  if (LineEditor::isInteractive())
    print("\n");
}

/// The template that is asked for.
static Chat chatOf(const Model &model, const ChatOptions &options) {
  if (options.templateFile)
    return Chat::fromSource(readWholeFile(*options.templateFile), model);
  return Chat(model, options.templateName.value_or("default"));
}

static DialogueOptions settingsOf(const Model &model, const Chat &chat,
                                  const ChatOptions &options) {
  DialogueOptions settings;
  settings.arguments = options.arguments;
  settings.date = options.date;
  GenerationOptions &generation = settings.generation;
  generation.newTokens = options.newTokens;
  generation.sampling = options.sampling.optionsFor(model);
  options.sampling.noteIdle(generation.sampling);
  generation.biases = options.sampling.biasesFor(model);
  generation.stops = resolveStops(model, model.stops(), {});
  if (int32_t end = chat.endToken(model); end >= 0)
    generation.stops.tokens.push_back(end);
  settings.shows = !options.json;
  return settings;
}

static void chat(const ChatOptions &options) {
  if (options.templateName && options.templateFile)
    throw UsageError("expects one of --template and --template-file, but got "
                     "both");
  if (options.keepState && !options.conversation)
    throw UsageError("--keep-state needs the file of --conversation");
  options.grammar.check();
  if (options.grammar.grammar == "-" && !options.message)
    throw UsageError("--grammar - and messages cannot both come by standard "
                     "input: give a file, or a MESSAGE");
  Model model = openModel(options.file, options.access);
  if (!model.hasTokenizer())
    throw Failure("'" + options.file +
                  "' has no tokenizer: effc compile "
                  "--tokenizer DIR gives it one");
  Chat chat = chatOf(model, options);
  DialogueOptions settings = settingsOf(model, chat, options);
  std::optional<Grammar> grammar = options.grammar.open(model);
  settings.generation.grammar = grammar ? &*grammar : nullptr;
  Place place =
      openEngine(options.device, model, {.sessions = Dialogue::kSessions});
  GuessingPlace guessing(options.drafts, options.device, options.access,
                         place.engine);
  settings.generation.guesser = guessing.guesser();
  ChatLoop loop(options, Dialogue(model, place.engine, std::move(chat),
                                  std::move(settings)));
  loop.load();
  if (!options.message)
    loop.run();
  else if (!loop.answer(*options.message))
    throw Interrupted("");
  loop.keepState();
}

void effc::cli::addChatCommand(CLI::App &app) {
  auto options = std::make_shared<ChatOptions>();
  CLI::App *command =
      app.add_subcommand("chat", "Talk with a model that has a chat template");
  addModelFile(*command, options->file);
  command->option_defaults()->group("Conversation");
  command
      ->add_option("MESSAGE,--message", options->message,
                   "Answer this one and end; without it, messages are read "
                   "line by line")
      ->type_name("TEXT");
  command
      ->add_option("--conversation", options->conversation,
                   "Go on with the conversation of this file, if it is there, "
                   "and keep it there after each answer")
      ->type_name("FILE");
  command->add_flag("--keep-state", options->keepState,
                    "Keep the state beside the file of --conversation, so that "
                    "whoever goes on reads nothing again; it takes what a "
                    "state file takes");
  command
      ->add_option("--system", options->system,
                   "What the model is told first; in place of the file's")
      ->type_name("TEXT");
  command
      ->add_option("--template", options->templateName,
                   "The model's template of this name (default: default)")
      ->type_name("NAME");
  command
      ->add_option("--template-file", options->templateFile,
                   "A template of your own, in Jinja")
      ->type_name("FILE");
  command
      ->add_option("--arguments", options->arguments,
                   "More variables of the template, as JSON: "
                   "'{\"enable_thinking\": false}'")
      ->type_name("JSON");
  command
      ->add_option("--date", options->date,
                   "The day that the template sees (default: today)")
      ->type_name("YYYY-MM-DD");
  command->option_defaults()->group("Length and end");
  addTokenLimit(*command, options->newTokens);
  options->sampling.declare(*command);
  options->grammar.declare(*command);
  command->option_defaults()->group("Feeding");
  options->drafts.declareModel(*command);
  command->option_defaults()->group("Output");
  command->add_flag("--stats", options->stats,
                    "Say after each answer what was read and what it took");
  command->add_flag("--json", options->json,
                    "Print a JSON document in a line for each answer");
  addDeviceChoice(*command, options->device);
  addModelAccess(*command, options->access);
  command->footer("effc chat model.effc\n"
                  "effc chat model.effc --conversation talk.json "
                  "--system \"Answer briefly.\"\n"
                  "effc chat model.effc \"Why is the sky blue?\" --temp 0\n"
                  "effc chat model.effc \"Who won in 1954?\" --json-schema "
                  "schema.json");
  command->callback([options] { chat(*options); });
}
