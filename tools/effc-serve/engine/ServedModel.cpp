#include "tools/effc-serve/engine/ServedModel.h"

#include "tools/effc-serve/wire/JsonText.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Quantities.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace effc;
using namespace effc::serve;
using Json = nlohmann::ordered_json;

static cli::EngineWish wishFor(const ModelSettings &settings) {
  cli::EngineWish wish;
  wish.sessions = settings.slots;
  wish.takesHidden = true;
  return wish;
}

static effc_scheduler_options_t optionsFor(const ModelSettings &settings) {
  effc_scheduler_options_t options = effc_scheduler_options_default();
  options.max_queue = settings.queue;
  options.step_tokens = settings.stepTokens;
  options.max_new_tokens = settings.mostNewTokens;
  options.max_choices = settings.slots;
  options.max_state_bytes = settings.memory;
  options.cache_bytes = settings.cacheBytes;
  options.checkpoint_every = settings.checkpointEvery;
  if (!settings.cacheFolder.empty()) {
    options.cache_dir = settings.cacheFolder.c_str();
    options.cache_disk_bytes = settings.cacheDiskBytes;
  }
  // The loop reads at once what it can hand on, and holds what it cannot.
  options.max_unread = 1024;
  return options;
}

ServedModel::ServedModel(std::string name, const std::string &file,
                         const ModelSettings &settings)
    : called(std::move(name)), loaded(cli::openModel(file, settings.access)),
      place(cli::openEngine(settings.device, loaded, wishFor(settings))),
      newTokens(settings.mostNewTokens), slotCount(settings.slots),
      queueCount(settings.queue), isCaching(settings.cacheBytes > 0),
      tokenTexts(loaded) {
  openChat(settings.chatTemplate);
  if (!loaded.taps().empty())
    throw cli::Failure("'" + file +
                       "' was compiled with --tap or --product-inputs: it "
                       "gives inner values, which are no model's vectors (effc "
                       "compile --hidden makes a file for /v1/embeddings)");
  if (loaded.hiddenWidth() > 0) {
    embeddings.emplace(loaded, place.engine, slotCount);
    describe();
    shown += "; it gives hidden states: /v1/embeddings alone";
    if (!settings.drafts.file.empty())
      shown += ", for which --draft-model is nothing";
    return;
  }
  drafter =
      settings.drafts.open(settings.device, settings.access, settings.slots);
  queue =
      settings.drafts.scheduler(place.engine, optionsFor(settings), drafter);
  describe();
  if (settings.cacheBytes > 0)
    shown += "; " + cli::formatBytes(settings.cacheBytes) +
             " keep states of earlier prompts";
  if (std::string note = effc_scheduler_note(queue->get()); !note.empty())
    shown += "; " + note;
  noDrafts = queue->whyNoDrafts();
  if (noDrafts.empty())
    drafts = settings.drafts.mostTokens();
  else if (settings.drafts.mostTokens() > 0)
    shown += "; no drafts: " + noDrafts;
  queue->start();
}

void ServedModel::openChat(const std::string &file) {
  if (!loaded.hasTokenizer()) {
    noChat = "the model has no tokenizer";
    return;
  }
  effc_chat_t *chat = nullptr;
  if (file.empty()) {
    try {
      check(effc_chat_create(loaded.get(), nullptr, &chat));
    } catch (const Error &error) {
      noChat = error.what();
      return;
    }
    for (size_t i = 0; i < effc_model_chat_template_count(loaded.get()); ++i) {
      effc_chat_template_t found = {};
      found.size = sizeof found;
      check(effc_model_chat_template(loaded.get(), i, &found));
      if (std::string(found.name) == "default")
        source.assign(found.source, found.source_size);
    }
  } else {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream bytes;
    if (!stream || !(bytes << stream.rdbuf()))
      throw cli::Failure("cannot read the chat template '" + file + "'");
    source = bytes.str();
    check(effc_chat_create_from_source(source.data(), source.size(),
                                       loaded.get(), &chat));
  }
  prompts.emplace(loaded, chat);
}

std::optional<std::string> ServedModel::namedToken(const char *name) const {
  const char *text = effc_model_named_token(loaded.get(), name);
  return text ? std::optional<std::string>(text) : std::nullopt;
}

uint64_t ServedModel::stateBytes(uint64_t tokens) const {
  effc_memory_t memory = loaded.memory();
  uint64_t grown = 0;
  if (tokens == 0 || __builtin_mul_overflow(tokens, memory.per_token, &grown))
    return tokens == 0 ? 0 : memory.per_session;
  return std::min(memory.per_session, memory.fixed_per_session + grown);
}

/// FNV-1a, the 64-bit hash of Fowler, Noll and Vo.
static uint64_t hashOf(const std::string &text) {
  uint64_t hash = 14695981039346656037u;
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

void ServedModel::describe() {
  effc_memory_t memory = loaded.memory();
  std::string isa = place.engine.isa();
  char digits[17];
  // The description has the checksums of all segments.
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(hashOf(
                    loaded.describe() + effc_version() + place.name + isa)));
  print = "effc-" + std::string(digits);
  std::string device = place.device.description();
  Json file = Json::parse(loaded.describe());
  Json meta = {{"parameters", file.value("parameters", Json())},
               {"vocabulary", loaded.vocabularySize()},
               {"state_bytes", memory.fixed_per_session},
               {"state_bytes_per_token", memory.per_token},
               {"hidden_width",
                loaded.hiddenWidth() > 0 ? Json(loaded.hiddenWidth()) : Json()},
               {"device", device},
               {"slots", slotCount}};
  Json about = {{"id", called},
                {"object", "model"},
                {"created", static_cast<int64_t>(std::time(nullptr))},
                {"owned_by", "effc"},
                {"max_model_len", context() ? Json(context()) : Json()},
                {"meta", meta}};
  this->about = about.dump();
  shown = "model '" + called + "': " + cli::formatCount(slotCount) +
          " sequences at once, " + cli::formatCount(queueCount) +
          " requests may wait; each takes " +
          cli::formatBytes(memory.fixed_per_session);
  if (memory.per_token > 0)
    shown += " and " + cli::formatBytes(memory.per_token) + " a token, up to " +
             cli::formatBytes(memory.per_session);
  if (!prompts)
    shown += "; no chat: " + noChat;
}
