#include "runtime/src/Status.h"

using namespace effc::rt;

struct effc_status {
  Error error;
};

effc_status_t *effc::rt::outOfMemoryStatus() {
  static effc_status_t status = {{EFFC_OUT_OF_MEMORY, "out of memory"}};
  return &status;
}

effc_status_t *effc::rt::makeStatus(Error error) {
  return new effc_status{std::move(error)};
}

effc_status_code_t effc_status_code(const effc_status_t *status) {
  return status ? status->error.code : EFFC_OK;
}

const char *effc_status_message(const effc_status_t *status) {
  return status ? status->error.message.c_str() : "";
}

void effc_status_free(effc_status_t *status) {
  if (status != outOfMemoryStatus())
    delete status;
}
