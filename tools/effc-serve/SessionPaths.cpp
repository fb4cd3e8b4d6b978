#include "tools/effc-serve/SessionPaths.h"

#include "tools/effc-serve/api/Requests.h"
#include "tools/effc-serve/api/Sampling.h"

#include <algorithm>
#include <ctime>

using namespace effc;
using namespace effc::serve;
using Json = nlohmann::ordered_json;
using Ordered = nlohmann::ordered_json;

static constexpr std::string_view kPath = "/v1/sessions";

/// The session and what is to be done with it: "/v1/sessions/ID/ACTION".
struct SessionPath {
  std::string id, action;
};
static SessionPath partsOf(std::string_view path) {
  path.remove_prefix(std::min(path.size(), kPath.size() + 1));
  size_t slash = std::min(path.find('/'), path.size());
  return {std::string(path.substr(0, slash)),
          std::string(path.substr(std::min(slash + 1, path.size())))};
}

bool SessionPaths::has(std::string_view path) {
  return path == kPath || path.starts_with(std::string(kPath) + "/");
}

SessionPaths::SessionPaths(const SessionLimits &limits, Around given)
    : around(std::move(given)), files(limits.folder),
      sessions(std::make_shared<Sessions>(limits)) {}

uint64_t SessionPaths::bytesOf(const NamedSession &session) const {
  return around.models[session.model]->stateBytes(session.position());
}

//===-- What is told of one -----------------------------------------------===//

std::string SessionPaths::describe(const NamedSession &session) {
  auto left = sessions->timeLeft(session.id);
  Ordered told = {
      {"id", session.id},
      {"object", "session"},
      {"model", around.models[session.model]->name()},
      {"created", session.created},
      {"ttl", session.life.count()},
      {"expires_at",
       left ? Ordered(std::time(nullptr) + left->count()) : Ordered()},
      {"tokens", session.tokens.size()},
      {"state",
       {{"tokens", session.position()},
        {"bytes", session.states ? bytesOf(session) : 0},
        {"kind", session.isNear ? "near" : "exact"}}},
      {"saved", files.has(session.id)}};
  return told.dump();
}

HttpResponse SessionPaths::told(const NamedSession &session, int status) {
  HttpResponse response;
  response.status = status;
  response.body = describe(session);
  return response;
}

HttpResponse SessionPaths::answer(const HttpRequest &request) {
  std::string id = partsOf(request.path).id;
  if (request.method == "DELETE")
    return remove(id);
  if (!id.empty())
    return told(sessions->look(id));
  HttpResponse response;
  response.body = "{\"object\":\"list\",\"data\":[";
  const char *comma = "";
  for (const NamedSession &session : sessions->list()) {
    response.body += comma + describe(session);
    comma = ",";
  }
  response.body += "],\"saved\":" + Ordered(files.list()).dump() + "}";
  return response;
}

/// Of memory and of the folder.
HttpResponse SessionPaths::remove(const std::string &id) {
  bool isSaved = Sessions::isId(id) && files.has(id);
  try {
    sessions->take(id)->drop();
  } catch (const ApiError &error) {
    if (error.status != 404 || !isSaved)
      throw;
  }
  if (isSaved)
    files.remove(id);
  HttpResponse response;
  response.body =
      Ordered({{"id", id}, {"object", "session"}, {"deleted", true}}).dump();
  return response;
}

//===-- What feeds one ----------------------------------------------------===//

namespace {
/// Has the model take what a session is given, and answers then. On the thread of
/// the loop.
class SessionFeed : public GenerationListener,
                    public std::enable_shared_from_this<SessionFeed> {
public:
  using Respond = std::function<void(HttpResponse)>;
  /// `told` makes the answer of what the session has become.
  SessionFeed(std::shared_ptr<SessionLease> lease, NamedSession next,
              const ServedModel &model, Respond respond,
              std::function<HttpResponse(const NamedSession &)> told)
      : lease(std::move(lease)), next(std::move(next)), model(model),
        respond(std::move(respond)), told(std::move(told)) {}

  void onEvent(size_t, const effc_event_t &event) override {
    if (event.kind != EFFC_EVENT_END)
      return;
    if (event.end != EFFC_END_LENGTH) {
      failure =
          ApiError(500, event.end == EFFC_END_FAILED ? event.message
                                                     : "the request was ended");
      return;
    }
    next.states =
        event.states
            ? std::make_shared<Checkpoint>(Checkpoint::share(event.states))
            : nullptr;
    next.isNear = event.is_near;
  }
  void onDone() override {
    if (failure)
      return onFailed(*failure);
    lease->keep(next, model.stateBytes(next.position()));
    lease.reset();
    respond(told(next));
  }
  void onFailed(const ApiError &error) override {
    lease.reset();
    respond(error.response());
  }

private:
  std::shared_ptr<SessionLease> lease;
  NamedSession next;
  const ServedModel &model;
  Respond respond;
  std::function<HttpResponse(const NamedSession &)> told;
  std::optional<ApiError> failure;
};
} // namespace

/// Adds `more` to a session. All but the last token are fed: that one's turn comes
/// with whatever follows, which needs its logits.
void SessionPaths::feed(std::shared_ptr<Exchange> exchange,
                        std::shared_ptr<SessionLease> lease,
                        std::vector<int32_t> more, int status) {
  NamedSession next = lease->session();
  const ServedModel &model = *around.models[next.model];
  next.tokens.insert(next.tokens.end(), more.begin(), more.end());
  if (uint64_t most = model.context(); most != 0 && next.tokens.size() > most)
    throw ApiError::invalid(
        "prompt", "takes the session to " + std::to_string(next.tokens.size()) +
                      " tokens, but the model's context is " +
                      std::to_string(most));
  lease->reserve(model.stateBytes(next.tokens.size()));
  GenerationPlan plan;
  plan.prompts = {next.tokens};
  size_t fed = next.tokens.size() - !next.tokens.empty();
  plan.prompts[0].resize(fed);
  plan.maxTokens = 0;
  plan.keepsStates = true;
  if (next.position() < fed)
    plan.from = next.states;
  // Whoever hears the answer may go on with the session, so nobody else holds it.
  around.server.post([this, exchange, lease = std::move(lease), next, plan, fed,
                      status, &model]() mutable {
    auto respond = [this, exchange](HttpResponse response) {
      around.respond(exchange, std::move(response));
    };
    auto told = [this, status](const NamedSession &session) {
      return this->told(session, status);
    };
    auto feed = std::make_shared<SessionFeed>(std::move(lease), next, model,
                                              respond, told);
    if (exchange->isGone())
      return;
    if (fed == next.position()) // nothing is to be computed
      return feed->onDone();
    auto running = around.generations[next.model]->start(plan, feed);
    exchange->onGone([weak = std::weak_ptr<Generation>(running)] {
      if (auto self = weak.lock())
        self->cancel();
    });
  });
}

static std::vector<int32_t> promptOf(const Fields &fields,
                                     const ServedModel &model, bool isFirst) {
  const Json *prompt = fields.find("prompt");
  if (!prompt)
    return {};
  if (prompt->is_array())
    return tokensOf(*prompt, model, "prompt");
  if (!prompt->is_string())
    throw ApiError::invalid("prompt", "expects a text or a list of tokens, "
                                      "but got " +
                                          shown(*prompt));
  if (prompt->get_ref<const std::string &>().empty())
    return {};
  return model.model().tokenize(prompt->get<std::string>(),
                                fields.flag("add_special_tokens", isFirst)
                                    ? 0
                                    : EFFC_TOKENIZE_NO_SPECIAL);
}

static std::string idOf(const Fields &fields) {
  std::string id = fields.text("id");
  if (!id.empty() && !Sessions::isId(id))
    throw ApiError::invalid("id", "expects up to 64 letters, digits and '._-', "
                                  "and no dot at the beginning");
  return id;
}

void SessionPaths::create(const std::shared_ptr<Exchange> &exchange,
                          const Json &body, size_t model) {
  const BodyTable &table = sessionTable();
  Fields fields(body, table.known, table.refused);
  NamedSession session;
  session.id = idOf(fields);
  session.model = model;
  session.life = std::chrono::seconds(
      fields.integer("ttl", sessions->settings().life.count()));
  auto more = promptOf(fields, *around.models[model], /*isFirst=*/true);
  feed(exchange, sessions->create(std::move(session)), std::move(more), 201);
}

void SessionPaths::append(const std::shared_ptr<Exchange> &exchange,
                          const Json &body, const std::string &id) {
  const BodyTable &table = appendTable();
  Fields fields(body, table.known, table.refused);
  auto lease = sessions->take(id);
  auto more = promptOf(fields, *around.models[lease->session().model],
                       lease->session().tokens.empty());
  if (more.empty())
    throw ApiError::invalid("prompt", "has no token");
  feed(exchange, std::move(lease), std::move(more), 200);
}

//===-- What only copies --------------------------------------------------===//

NamedSession SessionPaths::fork(const Json &body, const std::string &id) {
  const BodyTable &table = forkTable();
  Fields fields(body, table.known, table.refused);
  NamedSession copy = sessions->look(id);
  copy.id = idOf(fields);
  copy.created = 0;
  if (fields.has("ttl"))
    copy.life = std::chrono::seconds(fields.integer("ttl", 0));
  uint64_t bytes = bytesOf(copy);
  auto lease = sessions->create(copy);
  copy.id = lease->session().id;
  copy.created = lease->session().created;
  lease->reserve(bytes);
  lease->keep(copy, bytes);
  return copy;
}

NamedSession SessionPaths::save(const Json &body, const std::string &id) {
  const BodyTable &table = saveTable();
  Fields fields(body, table.known, table.refused);
  auto lease = sessions->take(id);
  const NamedSession &session = lease->session();
  files.save(session, around.models[session.model]->name());
  if (fields.flag("unload"))
    lease->drop();
  return session;
}

NamedSession SessionPaths::restore(const std::string &id) {
  if (!Sessions::isId(id))
    throw ApiError(404, "no session '" + id + "' is saved here", "session",
                   "session_not_found");
  NamedSession session = files.load(id, around.models);
  // What may have other bits is not taken for what has not.
  if (std::exchange(session.isNear, false))
    session.states = nullptr;
  auto lease = sessions->create(session);
  lease->reserve(bytesOf(session));
  lease->keep(session, bytesOf(session));
  return session;
}

void SessionPaths::read(const std::shared_ptr<Exchange> &exchange,
                        const Json &body, size_t model) {
  auto [id, action] = partsOf(exchange->request().path);
  if (id.empty())
    return create(exchange, body, model);
  if (action == "append")
    return append(exchange, body, id);
  if (action == "restore")
    (void)Fields(body, restoreTable().known, restoreTable().refused);
  NamedSession session = action == "fork"   ? fork(body, id)
                         : action == "save" ? save(body, id)
                                            : restore(id);
  int status = action == "fork" ? 201 : 200;
  around.server.post([this, exchange, session, status] {
    around.respond(exchange, told(session, status));
  });
}

std::shared_ptr<SessionLease> SessionPaths::leaseFor(const Json &body) {
  auto name = body.find("session");
  if (name == body.end() || name->is_null())
    return nullptr;
  if (!name->is_string())
    throw ApiError::invalid("session",
                            "expects a text, but got " + shown(*name));
  return sessions->take(name->get<std::string>());
}

size_t SessionPaths::saveAll() {
  size_t failed = 0;
  if (sessions->settings().folder.empty())
    return failed;
  for (const NamedSession &session : sessions->list()) {
    try {
      files.save(session, around.models[session.model]->name());
    } catch (const std::exception &) {
      ++failed;
    }
  }
  return failed;
}
