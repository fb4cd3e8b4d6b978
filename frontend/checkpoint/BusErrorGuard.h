// Keeps the process alive when a mapped file shrinks.
//
// Touching a mapped page that its file no longer has raises SIGBUS, which kills
// a process by default: whoever truncates a checkpoint would end the compiler
// without a word. A guarded range instead reads as zeros from the missing page
// on, and says afterwards that it happened:
//
//   BusErrorGuard guard;
//   if (!guard.cover(address, size)) ...    // no place left
//   use(address);
//   if (guard.hasFaulted()) ...             // what was used is not the file
//
// One SIGBUS handler serves all ranges of the process. It is installed by the
// first range, and again by rearm() where another library has replaced it
// since; faults outside of the ranges go to the handler that was there before.
#ifndef EFFC_FRONTEND_CHECKPOINT_BUSERRORGUARD_H
#define EFFC_FRONTEND_CHECKPOINT_BUSERRORGUARD_H

#include <cstddef>

namespace effc::frontend {

/// Ranges that can be covered at the same time in one process.
constexpr size_t kMostGuardedRanges = 1024;

class BusErrorGuard {
public:
  BusErrorGuard() = default;
  BusErrorGuard(const BusErrorGuard &) = delete;
  BusErrorGuard &operator=(const BusErrorGuard &) = delete;
  /// Stops covering. The range may be unmapped only afterwards.
  ~BusErrorGuard();

  /// Covers a private read-only mapping; at most once per guard. False where
  /// all places are taken. Thread-safe.
  bool cover(const void *address, size_t size);

  /// Makes sure that the handler is the process's. Thread-safe.
  void rearm() const;

  /// Whether a page of the range was found missing.
  bool hasFaulted() const;

private:
  size_t place = kMostGuardedRanges;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_CHECKPOINT_BUSERRORGUARD_H
