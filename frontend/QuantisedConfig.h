// Checkpoints whose weights are stored in fewer bits, by what their config.json
// says of it.
#ifndef EFFC_FRONTEND_QUANTISEDCONFIG_H
#define EFFC_FRONTEND_QUANTISEDCONFIG_H

#include "frontend/checkpoint/ConfigReader.h"

namespace effc::frontend {

/// Refuses a configuration of quantised weights: names the method and its bits,
/// as far as the configuration does, and says what to do. The user may answer
/// for the key, where a tool has left it beside weights that are whole again.
void refuseQuantised(ConfigReader &reader);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_QUANTISEDCONFIG_H
