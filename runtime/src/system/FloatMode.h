//===- FloatMode.h - The same arithmetic on every thread ------------------===//
#ifndef EFFC_RUNTIME_SRC_SYSTEM_FLOATMODE_H
#define EFFC_RUNTIME_SRC_SYSTEM_FLOATMODE_H

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace effc::rt {

/// While it lives, floats round to nearest and keep their denormals, whatever
/// the calling program has set (a library built with -ffast-math flushes them);
/// else bits would depend on which thread does an item.
class DefaultFloatMode {
#if defined(__x86_64__)
public:
  DefaultFloatMode() : saved(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~DefaultFloatMode() { _mm_setcsr(saved); }
  DefaultFloatMode(const DefaultFloatMode &) = delete;
  DefaultFloatMode &operator=(const DefaultFloatMode &) = delete;

private:
  static constexpr unsigned kDefault = 0x1F80; // all exceptions masked
  unsigned saved;
#elif defined(__aarch64__)
public:
  DefaultFloatMode() : saved(get()) { set(0); } // no exception is trapped
  ~DefaultFloatMode() { set(saved); }
  DefaultFloatMode(const DefaultFloatMode &) = delete;
  DefaultFloatMode &operator=(const DefaultFloatMode &) = delete;

private:
  static uint64_t get() {
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void set(uint64_t mode) {
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
  }
  uint64_t saved;
#endif
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SYSTEM_FLOATMODE_H
