#include "test/unit/runtime/sim/SimTrial.h"

using namespace effc;
using namespace effc::test;
using namespace effc::rt;

SimTrial::SimTrial(uint32_t threads, uint32_t sharedBytes)
    : threads(threads), sharedBytes(sharedBytes),
      machine(
          std::move(*SimBlock::create(threads, sharedBytes, /*stack=*/4096))) {}

SimTrial &SimTrial::operand(const void *start, uint64_t bytes, bool writable,
                            const char *what) {
  OperandRange range;
  range.start = reinterpret_cast<uintptr_t>(start);
  range.bytes = bytes;
  range.writable = writable;
  range.what = what;
  ranges.push_back(range);
  addresses.push_back(start);
  return *this;
}

std::string SimTrial::run(SimKernel kernel, uint32_t block) {
  SimLaunch launch = {kernel, threads, sharedBytes, addresses.data(),
                      counts, ranges,  &watch,      overlaps};
  std::optional<SimReport> report = machine->run(launch, block);
  if (!report)
    return "";
  return "thread " + std::to_string(report->thread) + " at '" + report->site +
         "': " + report->what;
}
