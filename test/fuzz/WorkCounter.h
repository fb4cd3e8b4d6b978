// How much work an input takes, whatever the machine: reads of memory by the code
// under test, which is compiled with -fsanitize-coverage=trace-loads. What takes
// too many for its size fails as what crashes does, long before it takes a minute.
#ifndef EFFC_TEST_FUZZ_WORKCOUNTER_H
#define EFFC_TEST_FUZZ_WORKCOUNTER_H

#include <cstdint>

namespace effc::test {

/// Counts from its construction on.
class WorkCounter {
public:
  WorkCounter();
  /// Fails where the reads are more than `most`.
  void expectAtMost(uint64_t most) const;

private:
  uint64_t before;
};

/// No step of a budget (runtime/src/tokenizer/Budget.h) takes more reads: one of
/// an automaton or a heap takes some dozens.
inline constexpr uint64_t kReadsOfStep = 64;

} // namespace effc::test

#endif // EFFC_TEST_FUZZ_WORKCOUNTER_H
