// effc_profile_start and its counterpart.

#include "runtime/src/Status.h"
#include "runtime/src/WholeFile.h"
#include "runtime/src/capi/Handles.h"

using namespace effc;
using namespace effc::rt;

effc_profile_options_t effc_profile_options_default(void) {
  effc_profile_options_t options = {};
  options.size = sizeof options;
  options.max_parts = uint64_t(1) << 20;
  return options;
}

effc_status_t *effc_profile_start(effc_engine_t *engine,
                                  const effc_profile_options_t *options) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"engine", engine}}))
      return error;
    effc_profile_options_t given = effc_profile_options_default();
    if (options) {
      auto read = readSized(options, given);
      if (!read)
        return read.error();
      given = *read;
    }
    if (given.max_parts == 0)
      return invalidArgument("expected 'max_parts' from 1 on, but found 0");
    engine->engine->startProfile(given.max_parts);
    return {};
  });
}

effc_status_t *effc_profile_save(effc_engine_t *engine, const char *path) {
  return atBorder([&]() -> Check {
    if (Check error = requireGiven({{"engine", engine}, {"path", path}}))
      return error;
    std::unique_ptr<Profile> profile = engine->engine->stopProfile();
    if (!profile)
      return invalidArgument("the engine keeps no profile: call "
                             "effc_profile_start() first");
    std::string trace = profile->trace(engine->engine->plan());
    return writeWholeFile(
        path, {reinterpret_cast<const uint8_t *>(trace.data()), trace.size()},
        /*durable=*/false);
  });
}
