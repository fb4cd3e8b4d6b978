// effc_session_save and its counterparts: sequences that outlive a process.

#include "runtime/src/StateFile.h"
#include "runtime/src/Status.h"
#include "runtime/src/WholeFile.h"
#include "runtime/src/capi/Handles.h"

#include <algorithm>
#include <cstring>

using namespace effc::rt;

effc_save_options_t effc_save_options_default(void) {
  return {sizeof(effc_save_options_t), false};
}

const char *effc_session_isas(const effc_session_t *session) {
  return session ? session->codes.text() : "";
}

effc_status_t *effc_session_save(const effc_session_t *session,
                                 const char *path) {
  return effc_session_save_with(session, path, nullptr);
}

effc_status_t *effc_session_save_with(const effc_session_t *session,
                                      const char *path,
                                      const effc_save_options_t *options) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"session", session}, {"path", path}}))
      return error;
    auto given = readSized(options, effc_save_options_default());
    if (!given)
      return given.error();
    Result<std::vector<uint8_t>> bytes = session->engine->save(*session);
    if (!bytes)
      return bytes.error();
    return writeWholeFile(path, *bytes, !given->no_sync);
  });
}

effc_status_t *effc_session_load(effc_session_t *session, const char *path) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"session", session}, {"path", path}}))
      return error;
    auto bytes = readStateFile(session->engine->model().program(), path);
    if (!bytes)
      return bytes.error();
    Check error = session->engine->load(*session, *bytes);
    if (error)
      error->message = "'" + std::string(path) + "': " + error->message;
    return error;
  });
}

effc_status_t *effc_session_save_memory(const effc_session_t *session,
                                        void *out_bytes, size_t capacity,
                                        size_t *out_size) {
  return atBorder([&]() -> Check {
    if (Check error =
            requireGiven({{"session", session}, {"out_size", out_size}}))
      return error;
    if (Check error = requireArray({"out_bytes", out_bytes}, capacity))
      return error;
    if (capacity == 0) {
      Result<uint64_t> size = session->engine->sizeToSave(*session);
      if (!size)
        return size.error();
      *out_size = *size;
      return {};
    }
    Result<std::vector<uint8_t>> bytes = session->engine->save(*session);
    if (!bytes)
      return bytes.error();
    if (size_t count = std::min(capacity, bytes->size()))
      std::memcpy(out_bytes, bytes->data(), count);
    *out_size = bytes->size();
    return {};
  });
}

effc_status_t *effc_session_load_memory(effc_session_t *session,
                                        const void *bytes, size_t size) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"session", session}}))
      return error;
    if (Check error = requireArray({"bytes", bytes}, size))
      return error;
    return session->engine->load(*session,
                                 {static_cast<const uint8_t *>(bytes), size});
  });
}

effc_status_t *effc_session_assign(effc_session_t *session,
                                   const effc_session_t *from) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"session", session}, {"from", from}}))
      return error;
    if (from->engine != session->engine)
      return invalidArgument("'from' is not a session of the same engine");
    if (from == session)
      return {};
    return session->engine->copy(*from, *session);
  });
}
