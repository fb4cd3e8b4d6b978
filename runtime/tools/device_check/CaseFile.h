//===- CaseFile.h - A kernel test as a folder -----------------------------===//
//
// A compiled model, the calls that are made of it, and what they are to give.
// Tests of compiled kernels write them (test/unit/codegen/host/CaseExport.h).
//
//   case.json    {"name", "tolerance", "slots", "slot_bytes", "steps"}, each
//                step one of
//                  {"write_slot": S, "at": A}: the slot's bytes
//                  {"call": "prefill" | "decode", "segments": [{"slot",
//                   "start", "begins", "tokens"}], "at": A, "count": N}: what
//                   all rows of the call are to give
//                  {"read_state": NAME, "slot": S, "at": A, "count": N}
//   case.effc    the model
//   numbers.bin  slots as bytes, and what is expected in double, from byte A on
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_TOOLS_DEVICE_CHECK_CASEFILE_H
#define EFFC_RUNTIME_TOOLS_DEVICE_CHECK_CASEFILE_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace effc::check {

/// What ends the program with status 1; its text is one line.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CaseStep {
  enum class Kind { WriteSlot, Prefill, Decode, ReadState } kind;
  struct Segment {
    int32_t slot;
    int64_t start;
    bool begins;
    std::vector<int32_t> tokens;
  };
  std::vector<Segment> segments;
  std::string state;
  int32_t slot = 0;
  std::vector<uint8_t> bytes;   // of a slot
  std::vector<double> expected; // of a call or a state
};

struct CaseFile {
  std::string name, artifact; // path of the model
  double tolerance = 0;
  uint32_t slots = 0;
  uint64_t slotBytes = 0;
  std::vector<CaseStep> steps;

  /// Throws Failure where `folder` holds no sound case.
  static CaseFile read(const std::string &folder);
};

} // namespace effc::check

#endif // EFFC_RUNTIME_TOOLS_DEVICE_CHECK_CASEFILE_H
