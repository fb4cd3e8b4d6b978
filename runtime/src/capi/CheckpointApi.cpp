// effc_checkpoint_*: copies of sequences that others go on from.

#include "runtime/src/Status.h"
#include "runtime/src/capi/Handles.h"

using namespace effc::rt;

struct effc_checkpoint {
  std::shared_ptr<const Model> model;
  CopiedStates states; // all of them, the parent's rows too
  uint64_t copied;     // bytes
};

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

uint64_t effc_checkpoint_position(const effc_checkpoint_t *checkpoint) {
  return checkpoint ? checkpoint->states.position : 0;
}

uint64_t effc_checkpoint_bytes(const effc_checkpoint_t *checkpoint) {
  return checkpoint ? checkpoint->copied : 0;
}

void effc_checkpoint_free(effc_checkpoint_t *checkpoint) { delete checkpoint; }
