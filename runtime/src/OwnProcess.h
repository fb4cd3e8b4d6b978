//===- OwnProcess.h - Which process an object belongs to ------------------===//
#ifndef EFFC_RUNTIME_SRC_OWNPROCESS_H
#define EFFC_RUNTIME_SRC_OWNPROCESS_H

#include <unistd.h>

namespace effc::rt {

/// The process that made the object. A child that was forked inherits the object,
/// but not the threads behind it, nor the right to a GPU's driver: it may free the
/// memory and leaves these alone.
class OwnProcess {
public:
  bool isThis() const { return getpid() == id; }

private:
  pid_t id = getpid();
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_OWNPROCESS_H
