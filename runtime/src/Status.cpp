#include "runtime/src/Status.h"

#include <exception>
#include <new>

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

effc_status_t *effc::rt::runAtBorder(Check (*body)(void *captured),
                                     void *captured) noexcept {
  try {
    if (Check error = body(captured))
      return makeStatus(std::move(*error));
    return nullptr;
  } catch (const std::bad_alloc &) {
    return outOfMemoryStatus();
  } catch (const std::exception &error) {
    try {
      return makeStatus({EFFC_INTERNAL, error.what()});
    } catch (...) {
      return outOfMemoryStatus();
    }
  }
}

Check effc::rt::requireGiven(std::initializer_list<Argument> arguments) {
  for (const Argument &argument : arguments)
    if (!argument.pointer)
      return invalidArgument("'", argument.name, "' is null");
  return {};
}

Check effc::rt::requireArray(const Argument &array, size_t count) {
  if (!array.pointer && count > 0)
    return invalidArgument("'", array.name, "' is null, but ", count,
                           " elements are to be there");
  return {};
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
