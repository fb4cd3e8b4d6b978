// Devices, engines, sessions and samplers.

#include "runtime/src/Status.h"
#include "runtime/src/capi/Handles.h"
#include "runtime/src/devices/cuda/CudaDevice.h"
#include "runtime/src/devices/host/HostDevice.h"
#include "runtime/src/devices/sim/SimDevice.h"

using namespace effc::rt;

effc_host_options_t effc_host_options_default(void) {
  return {sizeof(effc_host_options_t), 0, nullptr};
}

effc_status_t *effc_device_create_host(const effc_host_options_t *options,
                                       effc_device_t **out_device) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"out_device", out_device}}))
      return error;
    auto given = readSized(options, effc_host_options_default());
    if (!given)
      return given.error();
    auto device =
        HostDevice::create(given->threads, given->isa ? given->isa : "");
    if (!device)
      return device.error();
    *out_device = new effc_device{std::move(*device)};
    return {};
  });
}

effc_sim_options_t effc_sim_options_default(void) {
  return {sizeof(effc_sim_options_t), 0, 0};
}

effc_status_t *effc_device_create_sim(const effc_sim_options_t *options,
                                      effc_device_t **out_device) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"out_device", out_device}}))
      return error;
    auto given = readSized(options, effc_sim_options_default());
    if (!given)
      return given.error();
    auto device = createSimDevice(given->architecture, given->threads);
    if (!device)
      return device.error();
    *out_device = new effc_device{std::move(*device)};
    return {};
  });
}

effc_cuda_options_t effc_cuda_options_default(void) {
  return {sizeof(effc_cuda_options_t), 0};
}

effc_status_t *effc_device_create_cuda(const effc_cuda_options_t *options,
                                       effc_device_t **out_device) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"out_device", out_device}}))
      return error;
    auto given = readSized(options, effc_cuda_options_default());
    if (!given)
      return given.error();
    auto device = CudaDevice::create(given->ordinal);
    if (!device)
      return device.error();
    *out_device = new effc_device{std::move(*device)};
    return {};
  });
}

effc_status_t *effc_device_accepts(const effc_device_t *device,
                                   const effc_model_t *model) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"device", device}, {"model", model}}))
      return error;
    return device->device->accepts(*model->model);
  });
}

void effc_device_free(effc_device_t *device) { delete device; }

uint32_t effc_device_threads(const effc_device_t *device) {
  return device ? device->device->threads() : 0;
}

const char *effc_device_description(const effc_device_t *device) {
  return device ? device->device->description().c_str() : "";
}

effc_engine_options_t effc_engine_options_default(void) {
  return {sizeof(effc_engine_options_t), 1, nullptr, nullptr, 0};
}

effc_status_t *effc_engine_create(effc_model_t *model, effc_device_t *device,
                                  const effc_engine_options_t *options,
                                  effc_engine_t **out_engine) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven(
            {{"model", model}, {"device", device}, {"out_engine", out_engine}}))
      return error;
    auto given = readSized(options, effc_engine_options_default());
    if (!given)
      return given.error();
    auto engine =
        Engine::create(model->model, device->device, given->max_sessions,
                       {given->progress, given->user});
    if (!engine)
      return engine.error();
    if (given->keep_time)
      (*engine)->keepTime();
    *out_engine = new effc_engine{std::move(*engine)};
    return {};
  });
}

void effc_engine_free(effc_engine_t *engine) { delete engine; }

const char *effc_engine_isa(const effc_engine_t *engine) {
  return engine ? engine->engine->isa() : "";
}

const char *effc_engine_note(const effc_engine_t *engine) {
  return engine ? engine->engine->note().c_str() : "";
}

double effc_engine_device_seconds(const effc_engine_t *engine) {
  return engine ? engine->engine->deviceSeconds().value_or(-1) : -1;
}

/// A session in a free slot of `engine`, at position 0.
static Result<effc_session_t *>
openSession(const std::shared_ptr<Engine> &engine) {
  auto session = std::make_unique<effc_session>();
  Result<uint32_t> slot = engine->takeSlot();
  if (!slot)
    return slot.error();
  session->engine = engine;
  session->slot = *slot;
  return session.release();
}

effc_status_t *effc_session_create(effc_engine_t *engine,
                                   effc_session_t **out_session) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"engine", engine}, {"out_session", out_session}}))
      return error;
    Result<effc_session_t *> session = openSession(engine->engine);
    if (!session)
      return session.error();
    *out_session = *session;
    return {};
  });
}

void effc_session_free(effc_session_t *session) {
  if (session)
    session->engine->giveSlot(session->slot);
  delete session;
}

void effc_session_reset(effc_session_t *session) {
  if (session)
    session->engine->reset(*session);
}

effc_status_t *effc_session_accepts(const effc_session_t *session,
                                    size_t count) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"session", session}}))
      return error;
    return session->engine->accepts(*session, count);
  });
}

uint64_t effc_session_position(const effc_session_t *session) {
  return session ? session->position : 0;
}

effc_status_t *effc_session_fork(const effc_session_t *session,
                                 effc_session_t **out_session) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"session", session}, {"out_session", out_session}}))
      return error;
    Result<effc_session_t *> fork = openSession(session->engine);
    if (!fork)
      return fork.error();
    if (Check error = session->engine->copy(*session, **fork)) {
      effc_session_free(*fork);
      return error;
    }
    *out_session = *fork;
    return {};
  });
}

effc_status_t *effc_engine_prefill(effc_engine_t *engine,
                                   const effc_prompt_t *prompts, size_t count) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"engine", engine}}))
      return error;
    if (Check error = requireArray({"prompts", prompts}, count))
      return error;
    return engine->engine->prefill(prompts, count);
  });
}

effc_status_t *effc_engine_decode(effc_engine_t *engine,
                                  effc_session_t *const *sessions,
                                  const int32_t *tokens, size_t count,
                                  float *out_logits) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"engine", engine}}))
      return error;
    if (Check error = requireArray({"sessions", sessions}, count))
      return error;
    if (Check error = requireArray({"tokens", tokens}, count))
      return error;
    return engine->engine->decode({sessions, count}, {tokens, count},
                                  out_logits);
  });
}

effc_status_t *effc_engine_decode_best(effc_engine_t *engine,
                                       effc_session_t *const *sessions,
                                       const int32_t *tokens, size_t count,
                                       int32_t *out_tokens) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"engine", engine}}))
      return error;
    if (Check error = requireArray({"sessions", sessions}, count))
      return error;
    if (Check error = requireArray({"tokens", tokens}, count))
      return error;
    if (Check error = requireArray({"out_tokens", out_tokens}, count))
      return error;
    return engine->engine->decodeBest({sessions, count}, {tokens, count},
                                      out_tokens);
  });
}

effc_status_t *effc_engine_decode_draw(effc_engine_t *engine,
                                       effc_session_t *const *sessions,
                                       effc_sampler_t *const *samplers,
                                       const int32_t *tokens, size_t count,
                                       int32_t *out_tokens) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"engine", engine}}))
      return error;
    if (Check error = requireArray({"sessions", sessions}, count))
      return error;
    if (Check error = requireArray({"samplers", samplers}, count))
      return error;
    if (Check error = requireArray({"tokens", tokens}, count))
      return error;
    if (Check error = requireArray({"out_tokens", out_tokens}, count))
      return error;
    return engine->engine->decodeDraw({sessions, count}, {samplers, count},
                                      {tokens, count}, out_tokens);
  });
}

effc_steps_options_t effc_steps_options_default(void) {
  return {sizeof(effc_steps_options_t), nullptr, 0};
}

effc_status_t *
effc_engine_decode_steps(effc_engine_t *engine, effc_session_t *const *sessions,
                         effc_sampler_t *const *samplers, const int32_t *tokens,
                         size_t count, size_t steps,
                         const effc_steps_options_t *options,
                         int32_t *out_tokens, size_t *out_lengths) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"engine", engine}}))
      return error;
    if (steps == 0)
      return invalidArgument("'steps' is 0, but at least 1 is expected");
    for (const Argument &array :
         {Argument{"sessions", sessions}, Argument{"tokens", tokens},
          Argument{"out_tokens", out_tokens},
          Argument{"out_lengths", out_lengths}})
      if (Check error = requireArray(array, count))
        return error;
    auto given = readSized(options, effc_steps_options_default());
    if (!given)
      return given.error();
    if (Check error =
            requireArray({"end_tokens", given->end_tokens}, given->end_count))
      return error;
    std::span<const int32_t> ends(given->end_tokens, given->end_count);
    uint32_t vocabulary = engine->engine->model().program().vocabulary_size();
    for (size_t i = 0; i < ends.size(); ++i)
      if (ends[i] < 0 || static_cast<uint32_t>(ends[i]) >= vocabulary)
        return invalidArgument("end token ", i, " is ", ends[i],
                               ", but the vocabulary has ", vocabulary);
    return engine->engine->decodeSteps(
        {sessions, count}, {samplers, samplers ? count : 0}, {tokens, count},
        steps, ends, out_tokens, out_lengths);
  });
}
