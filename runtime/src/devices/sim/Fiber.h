//===- Fiber.h - Threads of a simulated GPU that switch by hand -----------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_SIM_FIBER_H
#define EFFC_RUNTIME_SRC_DEVICES_SIM_FIBER_H

#include "runtime/src/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace effc::rt {

/// Pages that are given back when the object goes; they can be read and written
/// as far as open() says, and nothing can be touched before and after.
class GuardedPages {
public:
  GuardedPages() = default;
  GuardedPages(GuardedPages &&other) noexcept;
  GuardedPages &operator=(GuardedPages &&other) noexcept;
  ~GuardedPages();

  /// Addresses for `bytes`, from a multiple of `alignment`, a power of two.
  static Result<GuardedPages> reserve(size_t bytes, size_t alignment);
  uint8_t *data() const { return start; }
  size_t size() const { return length; }
  /// Makes `bytes` from `offset` on usable; both are multiples of a page.
  Check open(size_t offset, size_t bytes);

private:
  void *base = nullptr;
  size_t mapped = 0;
  uint8_t *start = nullptr;
  size_t length = 0;
};

size_t pageBytes();

/// Stacks of one size, each with a guard below it.
class FiberStacks {
public:
  static Result<FiberStacks> create(size_t count, size_t bytes);

  size_t count() const { return number; }
  size_t bytes() const { return size; }
  /// Where the stack ends that `index` starts from. Not all at the same place
  /// of a page: a cache would hold few of them.
  uint8_t *top(size_t index) const;

private:
  GuardedPages pages;
  size_t number = 0;
  size_t size = 0; // of one, without its guard
};

/// Runs `entry(argument)` on a stack of its own, as long as nobody switches
/// back. A fiber that is never resumed is forgotten: nothing on its stack is
/// destroyed.
class Fiber {
public:
  using Entry = void (*)(void *argument);

  /// `entry` never returns: it ends in switchBack().
  void start(uint8_t *top, size_t bytes, Entry entry, void *argument);
  /// From the scheduler to the fiber, until the fiber switches back.
  void resume();
  /// From the fiber to whoever resumed it.
  void switchBack();

  Entry entry = nullptr;
  void *argument = nullptr;

private:
  friend struct FiberStart;
  void *context = nullptr;   // of the fiber, while it waits
  void *scheduler = nullptr; // while the fiber runs
  // What the address sanitizer is told.
  [[maybe_unused]] const void *stackBottom = nullptr;
  [[maybe_unused]] size_t stackBytes = 0;
  [[maybe_unused]] const void *schedulerBottom = nullptr;
  [[maybe_unused]] size_t schedulerBytes = 0;
  [[maybe_unused]] void *fiberShadow = nullptr;
  [[maybe_unused]] void *schedulerShadow = nullptr;
  // What the thread sanitizer knows as a fiber.
  std::shared_ptr<void> threadShadow;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_SIM_FIBER_H
