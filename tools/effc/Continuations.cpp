#include "tools/effc/Continuations.h"

#include "tools/effc/Evaluation.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/Quantities.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace effc;
using namespace effc::cli;
using Json = nlohmann::json;

namespace {
/// One line of a file of requests.
class RequestReader {
public:
  RequestReader(const std::string &path, size_t line, const Model &model)
      : place("'" + path + "', line " + std::to_string(line) + ": "),
        model(model) {}

  ScoringRequest read(const std::string &text) const;

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw Failure(place + what);
  }
  Tokens idsOf(const Json &json, const std::string &what) const;
  void requireTokenizer() const;
  void add(const Json &context, const Json &continuation,
           ScoringRequest &request) const;
  void requireRoom(const ScoringRequest &request) const;

  std::string place;
  const Model &model;
};
} // namespace

Tokens RequestReader::idsOf(const Json &json, const std::string &what) const {
  Tokens ids;
  for (const Json &id : json) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 ||
        id.get<int64_t>() >= int64_t(model.vocabularySize()))
      fail(what + " expects token ids from 0 to " +
           std::to_string(model.vocabularySize() - 1) + ", but got " +
           id.dump());
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

void RequestReader::requireTokenizer() const {
  if (!model.hasTokenizer())
    fail("the file has no tokenizer: give token ids in place of texts");
}

/// Adds `continuation`, and sets the context's tokens, which are the same for each.
void RequestReader::add(const Json &context, const Json &continuation,
                        ScoringRequest &request) const {
  ScoringRequest::Continuation added;
  if (context.is_array() && continuation.is_array()) {
    request.context = idsOf(context, "\"context\"");
    added.tokens = idsOf(continuation, "a continuation");
    if (model.hasTokenizer())
      added.bytes = model.detokenize(added.tokens).size();
  } else if (context.is_string() && continuation.is_string()) {
    requireTokenizer();
    std::string before = context, after = continuation;
    added.bytes = after.size();
    size_t end = before.find_last_not_of(" \t\r\n\v\f");
    end = end == std::string::npos ? 0 : end + 1;
    after = before.substr(end) + after;
    before.resize(end);
    request.context = model.tokenize(before);
    Tokens whole = model.tokenize(before + after);
    if (whole.size() > request.context.size())
      added.tokens.assign(whole.begin() +
                              static_cast<ptrdiff_t>(request.context.size()),
                          whole.end());
  } else {
    fail("expects texts or lists of token ids, the same for \"context\" and "
         "\"continuations\"");
  }
  if (added.tokens.empty())
    fail("continuation " + std::to_string(request.continuations.size()) +
         " has no token of its own");
  request.continuations.push_back(std::move(added));
}

void RequestReader::requireRoom(const ScoringRequest &request) const {
  for (const auto &continuation : request.continuations)
    if (size_t tokens = request.context.size() + continuation.tokens.size();
        model.maxContext() && tokens > model.maxContext())
      fail("context and continuation have " + formatCount(tokens) +
           " tokens, but the model's context is " +
           formatCount(model.maxContext()) +
           " tokens (effc compile --max-context makes another)");
}

ScoringRequest RequestReader::read(const std::string &text) const {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("context") ||
      !json.contains("continuations") || !json["continuations"].is_array() ||
      json["continuations"].empty())
    fail("expects {\"context\": ..., \"continuations\": [...]}, with one "
         "continuation at least");
  for (const auto &[key, value] : json.items())
    if (key != "context" && key != "continuations" && key != "right")
      fail("expects \"context\", \"continuations\" and \"right\" alone, but "
           "got " +
           Json(key).dump());
  ScoringRequest request;
  for (const Json &continuation : json["continuations"])
    add(json["context"], continuation, request);
  if (request.context.empty()) {
    // As a text that nothing stands before.
    if (model.generation().bos < 0)
      fail("\"context\" is empty, and the model has no token to begin with");
    request.context = {model.generation().bos};
  }
  if (json.contains("right") && !json["right"].is_null()) {
    const Json &right = json["right"];
    if (!right.is_number_integer() || right.get<int64_t>() < 0 ||
        right.get<int64_t>() >= int64_t(request.continuations.size()))
      fail("\"right\" expects the index of a continuation, from 0 to " +
           std::to_string(request.continuations.size() - 1) + ", but got " +
           right.dump());
    request.right = right.get<size_t>();
  }
  requireRoom(request);
  return request;
}

std::vector<ScoringRequest>
effc::cli::readScoringRequests(const std::string &path, const Model &model) {
  std::istringstream lines(readWholeFile(path));
  std::vector<ScoringRequest> requests;
  std::string line;
  for (size_t number = 1; std::getline(lines, line); ++number)
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      requests.push_back(RequestReader(path, number, model).read(line));
  if (requests.empty())
    throw Failure("'" + path +
                  "' has no request: expects a line of JSON for "
                  "each");
  return requests;
}

uint64_t effc::cli::fedTokens(const std::vector<ScoringRequest> &requests) {
  uint64_t tokens = 0;
  for (const ScoringRequest &request : requests) {
    tokens += request.context.size();
    for (const auto &continuation : request.continuations)
      tokens += continuation.tokens.size() - 1; // the last is predicted alone
  }
  return tokens;
}

/// Tokens on their way into a session.
struct ContinuationScoring::Running {
  Session session;
  std::span<const int32_t> tokens; // to feed
  bool wantsAll;                   // logits of each token, or of the last
  /// Takes the logits of the token at an index.
  std::function<void(size_t, std::span<const float>)> take;
  size_t at = 0;
  size_t part = 0; // in the call being made
  std::vector<float> logits = {};
};

ContinuationScoring::ContinuationScoring(const Model &model, Engine &engine,
                                         uint32_t sessions)
    : engine(engine), sessions(sessions), vocabulary(model.vocabularySize()),
      grid(callStride(model)),
      mostLogits(std::max<uint64_t>(1, (uint64_t(64) << 20) /
                                           (vocabulary * sizeof(float)))) {}

/// One call.
void ContinuationScoring::feed(std::span<Running *> running) {
  std::vector<effc_prompt_t> prompts;
  for (Running *one : running) {
    bool ends = one->at + one->part == one->tokens.size();
    size_t rows = one->wantsAll ? one->part : ends ? 1 : 0;
    one->logits.resize(rows * vocabulary);
    prompts.push_back(
        {one->session.get(), one->tokens.data() + one->at, one->part,
         rows == 0       ? EFFC_LOGITS_NONE
         : one->wantsAll ? EFFC_LOGITS_ALL
                         : EFFC_LOGITS_LAST,
         rows ? one->logits.data() : nullptr, sizeof(effc_prompt_t)});
  }
  engine.prefill(prompts);
  for (Running *one : running) {
    size_t rows = one->logits.size() / vocabulary;
    for (size_t i = 0; i < rows; ++i)
      one->take(one->at + one->part - rows + i,
                std::span(one->logits).subspan(i * vocabulary, vocabulary));
    one->at += one->part;
    fed += one->part;
  }
}

/// Feeds all to their ends, as many together as their logits have room for.
void ContinuationScoring::feedAll(std::vector<Running> &all) {
  for (;;) {
    std::vector<Running *> together;
    uint64_t rows = 0;
    for (Running &one : all) {
      one.part = std::min<uint64_t>(one.tokens.size() - one.at,
                                    grid - one.session.position() % grid);
      if (one.part == 0)
        continue;
      rows += one.wantsAll ? one.part : 1;
      if (!together.empty() && rows > mostLogits)
        break;
      together.push_back(&one);
    }
    if (together.empty())
      return;
    feed(together);
  }
}

static void score(std::span<const float> logits, int32_t token,
                  ContinuationScore &score) {
  score.logprob -= negativeLogLikelihood(logits, token);
  effc_logprob_t found;
  check(effc_logprobs(logits.data(), static_cast<uint32_t>(logits.size()),
                      token, &found, 1));
  score.logprobs.push_back(found.logprob);
  score.isGreedy &=
      std::max_element(logits.begin(), logits.end()) - logits.begin() == token;
}

void ContinuationScoring::scoreGroup(
    std::span<const ScoringRequest> group,
    std::span<std::vector<ContinuationScore>> scores) {
  // The first token of each continuation is predicted by the context.
  std::vector<Running> contexts;
  for (size_t i = 0; i < group.size(); ++i) {
    scores[i].resize(group[i].continuations.size());
    contexts.push_back({Session(engine), group[i].context, /*wantsAll=*/false,
                        [&, i](size_t, std::span<const float> logits) {
                          for (size_t c = 0; c < scores[i].size(); ++c)
                            score(logits, group[i].continuations[c].tokens[0],
                                  scores[i][c]);
                        }});
  }
  feedAll(contexts);
  // The others in as many sessions as there are.
  std::vector<Running> rest;
  auto finish = [&] {
    feedAll(rest);
    rest.clear();
  };
  for (size_t i = 0; i < group.size(); ++i)
    for (size_t c = 0; c < scores[i].size(); ++c) {
      const Tokens &tokens = group[i].continuations[c].tokens;
      if (tokens.size() == 1)
        continue;
      if (contexts.size() + rest.size() == sessions)
        finish();
      Session session(engine);
      session.assign(contexts[i].session);
      rest.push_back(
          {std::move(session), std::span(tokens).first(tokens.size() - 1),
           /*wantsAll=*/true,
           [&scores, &tokens, i, c](size_t at, std::span<const float> logits) {
             score(logits, tokens[at + 1], scores[i][c]);
           }});
    }
  finish();
}

std::vector<std::vector<ContinuationScore>>
ContinuationScoring::run(const std::vector<ScoringRequest> &requests,
                         Progress &progress) {
  std::vector<std::vector<ContinuationScore>> scores(requests.size());
  for (size_t begin = 0; begin < requests.size();) {
    // Contexts and their continuations in the sessions that there are; one context
    // in any case.
    size_t end = begin, taken = 0;
    while (end < requests.size()) {
      size_t wanted = 1 + requests[end].continuations.size();
      if (end > begin && taken + wanted > sessions)
        break;
      taken += wanted;
      ++end;
    }
    scoreGroup(std::span(requests).subspan(begin, end - begin),
               std::span(scores).subspan(begin, end - begin));
    begin = end;
    progress.update(fed);
  }
  return scores;
}
