//===- HostWork.h - Work of the host beside what launches do --------------===//
#ifndef EFFC_RUNTIME_SRC_HOSTWORK_H
#define EFFC_RUNTIME_SRC_HOSTWORK_H

#include <cstdint>

namespace effc::rt {

/// Independent items, each done once by whichever thread takes it. An item may
/// use 32 KiB of stack, and throws nothing.
class HostWork {
public:
  virtual ~HostWork() = default;
  virtual void run(int64_t item) const = 0;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_HOSTWORK_H
