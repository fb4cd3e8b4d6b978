//===- ServedModel.h - A model that requests can name ---------------------===//
//
// A file, the engine that runs it, and the scheduler that requests share. What
// reads the model alone (tokens, texts, prompts of conversations) may be called by
// any thread.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_SERVE_ENGINE_SERVEDMODEL_H
#define EFFC_TOOLS_EFFC_SERVE_ENGINE_SERVEDMODEL_H

#include "tools/effc-serve/engine/ChatPrompts.h"
#include "tools/effc-serve/engine/Embedder.h"
#include "tools/effc-serve/engine/TokenTexts.h"
#include "tools/effc/DraftChoice.h"
#include "tools/effc/ModelAccess.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace effc::serve {

/// How each model is to run.
struct ModelSettings {
  cli::ModelAccess access;
  cli::DeviceChoice device;
  uint32_t slots = 16;           // sequences at once
  uint32_t queue = 256;          // requests that wait besides
  uint32_t stepTokens = 64;      // of prompts, in a step in which others decode
  uint64_t mostNewTokens = 4096; // of a request
  uint64_t memory = 0;           // for states; 0: what there is
  std::string chatTemplate; // a file in place of the model's own; empty: none
  uint64_t cacheBytes = 0;  // of memory, for states of earlier prompts
  std::string cacheFolder;  // where they outlive the process; empty: none
  uint64_t cacheDiskBytes = 0;     // that they may have there
  uint32_t checkpointEvery = 2048; // tokens of long prompts
  cli::DraftChoice drafts; // its tokens are of requests that say nothing of it
};

class ServedModel {
public:
  /// Loads `file`; requests call it `name`. Throws Failure or effc::Error.
  ServedModel(std::string name, const std::string &file,
              const ModelSettings &settings);

  const std::string &name() const { return called; }
  const Model &model() const { return loaded; }
  /// Whether it gives logits, and so has a scheduler; else it has an embedder.
  bool generates() const { return queue.has_value(); }
  Scheduler &scheduler() { return *queue; }
  /// Null where it generates.
  Embedder *embedder() { return embeddings ? &*embeddings : nullptr; }
  const Embedder *embedder() const {
    return embeddings ? &*embeddings : nullptr;
  }
  /// Where it does not generate, what its device has failed at, and else 0.
  effc_scheduler_stats_t stats() const {
    return queue ? queue->stats() : embeddings->stats();
  }
  const TokenTexts &texts() const { return tokenTexts; }
  /// Null where the model has no template that can be rendered.
  const ChatPrompts *chat() const { return prompts ? &*prompts : nullptr; }
  /// Why not.
  const std::string &whyNoChat() const { return noChat; }

  /// The most tokens of a sequence, 0 for no bound; those of an answer; and the
  /// choices that one request of the scheduler may have.
  uint64_t context() const { return loaded.maxContext(); }
  uint64_t mostNewTokens() const { return newTokens; }
  uint32_t slots() const { return slotCount; }
  /// Whether states of earlier prompts are kept.
  bool hasCache() const { return isCaching; }
  /// What the states of a sequence of so many tokens take at most.
  uint64_t stateBytes(uint64_t tokens) const;
  uint32_t queueLength() const { return queueCount; }
  /// Tokens that requests guess at once which say nothing of it, and why none can
  /// guess; "" where they can.
  uint32_t draftTokens() const { return drafts; }
  const std::string &whyNoDrafts() const { return noDrafts; }
  /// "effc-0123456789abcdef": equal ones, and equal seeds, give equal tokens.
  const std::string &fingerprint() const { return print; }
  /// The entry of /v1/models, as JSON.
  std::string description() const { return about; }
  /// The text of the token that templates call so; none where there is none.
  std::optional<std::string> namedToken(const char *name) const;
  /// The source of the template that is used; "" without one.
  const std::string &templateSource() const { return source; }
  /// What a start shows: the device, the slots and their memory.
  std::string summary() const { return shown; }

private:
  void openChat(const std::string &file);
  void describe();

  std::string called;
  Model loaded;
  cli::Place place;
  std::optional<cli::Drafter> drafter; // outlives the scheduler
  uint64_t newTokens;
  uint32_t slotCount, queueCount, drafts = 0;
  bool isCaching;
  TokenTexts tokenTexts;
  std::optional<ChatPrompts> prompts;
  std::string noChat, source, print, about, shown, noDrafts;
  std::optional<Scheduler> queue;
  std::optional<Embedder> embeddings;
};

} // namespace effc::serve

#endif // EFFC_TOOLS_EFFC_SERVE_ENGINE_SERVEDMODEL_H
