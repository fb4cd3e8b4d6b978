// effc_checkpoint_*: copies of sequences that others go on from.

#include "runtime/src/CheckpointHandle.h"
#include "runtime/src/StateFile.h"
#include "runtime/src/Status.h"
#include "runtime/src/WholeFile.h"
#include "runtime/src/capi/Handles.h"

using namespace effc;
using namespace effc::rt;

effc_status_t *effc_session_checkpoint(const effc_session_t *session,
                                       const effc_checkpoint_t *parent,
                                       effc_checkpoint_t **out_checkpoint) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven(
            {{"session", session}, {"out_checkpoint", out_checkpoint}}))
      return error;
    Engine &engine = *session->engine;
    if (parent && parent->model != engine.sharedModel())
      return invalidArgument("'parent' is of another model");
    if (parent && parent->states.position > session->position)
      return invalidArgument(
          "'parent' is at position ", parent->states.position,
          ", but the sequence has taken ", session->position, " tokens");
    Result<CopiedStates> copy =
        engine.copyOut(*session, parent ? parent->states.position : 0);
    if (!copy)
      return copy.error();
    uint64_t copied = copy->bytes();
    if (parent)
      copy->rows.insert(copy->rows.begin(), parent->states.rows.begin(),
                        parent->states.rows.end());
    *out_checkpoint =
        new effc_checkpoint{engine.sharedModel(), std::move(*copy), copied};
    return {};
  });
}

effc_status_t *effc_session_restore(effc_session_t *session,
                                    const effc_checkpoint_t *checkpoint) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"session", session}, {"checkpoint", checkpoint}}))
      return error;
    if (checkpoint->model != session->engine->sharedModel())
      return invalidArgument("'checkpoint' is of another model");
    return session->engine->restore(*session, checkpoint->states);
  });
}

effc_status_t *effc_session_rewind(effc_session_t *session, uint64_t count,
                                   const effc_checkpoint_t *mark) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"session", session}}))
      return error;
    if (mark && mark->model != session->engine->sharedModel())
      return invalidArgument("'mark' is of another model");
    return session->engine->takeBack(*session, count,
                                     mark ? &mark->states : nullptr);
  });
}

effc_status_t *effc_checkpoint_share(const effc_checkpoint_t *checkpoint,
                                     effc_checkpoint_t **out_checkpoint) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven(
            {{"checkpoint", checkpoint}, {"out_checkpoint", out_checkpoint}}))
      return error;
    *out_checkpoint = new effc_checkpoint(*checkpoint);
    return {};
  });
}

effc_status_t *effc_checkpoint_save(const effc_checkpoint_t *checkpoint,
                                    const char *path,
                                    const effc_save_options_t *options) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"checkpoint", checkpoint}, {"path", path}}))
      return error;
    auto given = readSized(options, effc_save_options_default());
    if (!given)
      return given.error();
    const artifact::Program &program = checkpoint->model->program();
    auto bytes = CopyLayout(program).encode(program, checkpoint->states);
    if (!bytes)
      return bytes.error();
    return writeWholeFile(path, *bytes, !given->no_sync);
  });
}

effc_status_t *effc_checkpoint_load(const effc_model_t *model, const char *path,
                                    effc_checkpoint_t **out_checkpoint) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"model", model},
                                    {"path", path},
                                    {"out_checkpoint", out_checkpoint}}))
      return error;
    const artifact::Program &program = model->model->program();
    auto bytes = readStateFile(program, path);
    if (!bytes)
      return bytes.error();
    auto state = decodeState(program, *bytes);
    if (!state)
      return fail(state.error().code, "'", path, "': ", state.error().message);
    auto loaded = std::make_unique<effc_checkpoint>();
    loaded->model = model->model;
    loaded->states = CopyLayout(program).copy(*state);
    loaded->copied = loaded->states.bytes();
    *out_checkpoint = loaded.release();
    return {};
  });
}

uint64_t effc_checkpoint_position(const effc_checkpoint_t *checkpoint) {
  return checkpoint ? checkpoint->states.position : 0;
}

uint64_t effc_checkpoint_bytes(const effc_checkpoint_t *checkpoint) {
  return checkpoint ? checkpoint->copied : 0;
}

void effc_checkpoint_free(effc_checkpoint_t *checkpoint) { delete checkpoint; }
