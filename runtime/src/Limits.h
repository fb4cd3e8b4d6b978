//===- Limits.h - What no sound artifact exceeds --------------------------===//
//
// The loader refuses what is beyond these, so that no later sum or product can
// overflow, nothing absurd is allocated, and nothing takes longer than the file is
// large. Every list of the program has a limit here, or is as long as another
// that has; those of a tokenizer are in runtime/schema/TokenizerLimits.h, those of
// the sampling defaults in runtime/schema/GenerationLimits.h.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_RUNTIME_SRC_LIMITS_H
#define EFFC_RUNTIME_SRC_LIMITS_H

#include "runtime/abi/FileHeader.h"
#include "runtime/schema/SizeLimits.h"

#include <cstdint>

namespace effc::rt {

using artifact::kMaxTaps;
using artifact::kMaxVocabulary;
constexpr uint32_t kMaxRows = 65536;
using artifact::kMaxArenaBytes;
using artifact::kMaxSlotBytes;
/// Positions and contexts stay far below what i64 holds.
constexpr uint64_t kMaxContext = uint64_t(1) << 48;
/// Per thread; the device's threads have twice as much (ThreadPool.cpp).
constexpr uint64_t kMaxStackBytes = FileHeader::kMaxStackBytes;
/// What compilers align functions of x86-64 to.
constexpr uint64_t kCodeAlignment = 16;

/// One of code for each ISA and target, four of other kinds.
constexpr uint32_t kMaxSegments = 256;
/// Of a plan: powers of two of rows, twice.
constexpr uint32_t kMaxEntries = 256;
/// Of a plan; those of a hundred layers that are all different.
constexpr uint32_t kMaxKernels = 16384;
/// Of an entry: a hundred for each of some hundred layers.
using artifact::kMaxLaunches;
/// Of a launch, and of extents and box maps that are one for each.
constexpr uint32_t kMaxOperands = 64;
/// Of a kernel, by kind: what PTX has in all, with types and widths.
constexpr uint32_t kMaxInstructionKinds = 4096;
/// Architectures that exist, real and simulated.
constexpr uint32_t kMaxTargets = 64;
constexpr uint32_t kMaxRank = 8;
/// As long as a path may be.
constexpr uint32_t kMaxNameBytes = 4096;
/// The largest published models have some 100,000: experts of each layer.
constexpr uint32_t kMaxWeights = 1u << 18;
/// Files mix up to five kinds of blocks; ggml has some thirty.
constexpr uint32_t kMaxStorages = 64;
/// Four times what published formats have, of each row of a block.
constexpr uint32_t kMaxBlockElements = 1024, kMaxBlockBytes = 4096;
constexpr uint32_t kMaxStates = 1u << 16;
constexpr uint32_t kMaxWeightFiles = 1024;
/// Of the checkpoint: shards, and descriptions beside them.
constexpr uint32_t kMaxSources = 65536;
/// Of the command line that shaped the file; each as long as a name.
constexpr uint32_t kMaxOptions = 1024;
/// Tokens that end a generation: 256 of each file that may name some.
constexpr uint32_t kMaxEnds = 1024;
/// Windows of attention that differ.
constexpr uint32_t kMaxKeyWork = 65536;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
// What programs get whatever their size would hide, in the small ones that are
// tried, work that grows faster than they do (tokenizer/Budget.cpp).
constexpr unsigned kFreeShift = 6;
#else
constexpr unsigned kFreeShift = 0;
#endif
/// Of the program's flatbuffer, each counted as often as it is named.
constexpr uint32_t kMaxTables = (1u << 20) >> kFreeShift;
/// How large the program may be without sharing (ModelChecks.h).
constexpr uint64_t kFreeSharedBytes = (uint64_t(4) << 20) >> kFreeShift;
constexpr uint64_t kMostSharing = 4;

// What the largest GPU grants a block, and a launch.
constexpr uint32_t kWarpThreads = 32;
constexpr uint32_t kMaxBlockThreads = 1024;
constexpr uint32_t kMaxSharedBytes = 232448;
constexpr uint32_t kMaxRegisters = 255;
constexpr uint32_t kMaxBoxMaps = FileHeader::kMaxBoxMaps; // of one kernel
constexpr uint32_t kMaxBoxRows = 256;
constexpr uint32_t kBoxRowBytes = 128; // what is swizzled together
constexpr uint32_t kBoxAlignment = 16; // of an operand and its rows, in bytes
constexpr uint64_t kMaxBoxExtent = uint64_t(1) << 32; // rows, and columns
using artifact::kMaxProductExtent;
constexpr uint64_t kMaxBlocks = (uint64_t(1) << 31) - 1;

constexpr uint32_t kMaxSessions = 1u << 20;
constexpr uint32_t kMaxThreads = 1024;
constexpr uint64_t kMaxTextBytes = uint64_t(1) << 30;

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_LIMITS_H
