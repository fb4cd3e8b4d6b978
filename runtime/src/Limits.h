//===- Limits.h - What no sound artifact exceeds --------------------------===//
//
// The loader refuses what is beyond these, so that no later sum or product can
// overflow and nothing absurd is allocated.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_LIMITS_H
#define EFFC_RUNTIME_SRC_LIMITS_H

#include "runtime/src/FileHeader.h"

#include <cstdint>

namespace effc::rt {

constexpr uint32_t kMaxVocabulary = 1u << 24;
constexpr uint32_t kMaxRows = 65536;
constexpr uint64_t kMaxArenaBytes = uint64_t(1) << 40;
constexpr uint64_t kMaxSlotBytes = uint64_t(1) << 40;
/// Positions and contexts stay far below what i64 holds.
constexpr uint64_t kMaxContext = uint64_t(1) << 48;
/// Per thread; the device's threads have twice as much (ThreadPool.cpp).
constexpr uint64_t kMaxStackBytes = FileHeader::kMaxStackBytes;
/// What compilers align functions of x86-64 to.
constexpr uint64_t kCodeAlignment = 16;

constexpr uint32_t kMaxSegments = 256;
constexpr uint32_t kMaxEntries = 256;
constexpr uint32_t kMaxKernels = 16384;
constexpr uint32_t kMaxLaunches = 65536; // of one entry
constexpr uint32_t kMaxOperands = 64;    // of one launch
constexpr uint32_t kMaxTargets = 64;
constexpr uint32_t kMaxRank = 8;
constexpr uint32_t kMaxNameBytes = 4096;
constexpr uint32_t kMaxWeightFiles = 1024;
constexpr uint32_t kMaxTables = 1u << 20; // of the program's flatbuffer

// What the largest GPU grants a block, and a launch.
constexpr uint32_t kWarpThreads = 32;
constexpr uint32_t kMaxBlockThreads = 1024;
constexpr uint32_t kMaxSharedBytes = 232448;
constexpr uint32_t kMaxRegisters = 255;
constexpr uint32_t kMaxBoxMaps = FileHeader::kMaxBoxMaps; // of one kernel
constexpr uint32_t kMaxBoxRows = 256;
constexpr uint32_t kBoxRowBytes = 128; // what is swizzled together
constexpr uint32_t kBoxAlignment = 16; // of an operand and its rows, in bytes
constexpr uint64_t kMaxBoxExtent = uint64_t(1) << 32;     // rows, and columns
constexpr uint64_t kMaxProductExtent = uint64_t(1) << 31; // and pitch
constexpr uint64_t kMaxBlocks = (uint64_t(1) << 31) - 1;

constexpr uint32_t kMaxSessions = 1u << 20;
constexpr uint32_t kMaxThreads = 1024;
constexpr uint64_t kMaxTextBytes = uint64_t(1) << 30;

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_LIMITS_H
