// How a command opens the model that it is given.
#ifndef EFFC_TOOLS_EFFC_MODELACCESS_H
#define EFFC_TOOLS_EFFC_MODELACCESS_H

#include "runtime/include/effc/effc.hpp"

#include <string>

namespace CLI {
class App;
}

namespace effc::cli {

struct ModelAccess {
  std::string weightsFolder; // empty: where the file says
  bool copy = false;
};

/// Declares --weights-folder and --copy.
void addModelAccess(CLI::App &command, ModelAccess &access);

Model openModel(const std::string &file, const ModelAccess &access);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_MODELACCESS_H
