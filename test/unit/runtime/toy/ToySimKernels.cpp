// The toy model's kernels (ToyKernels.c) as one thread of a GPU does them, with
// the calls that codegen makes of each op. Blocks have 64 threads.

#include "runtime/abi/SimAbi.h"

using namespace effc::rt;

namespace {
constexpr int kChannels = 3, kColumns = 4, kVocabulary = 271, kBlocks = 3;
constexpr int64_t kSlotBytes = 192;

struct Segment {
  int32_t slot, firstRow, length, flags;
  int64_t startPosition;
};

/// What a thread has in hand.
struct Self {
  const SimCalls *calls;
  SimThread *thread;
  int64_t index, block;

  Self(const SimCalls *calls, SimThread *thread)
      : calls(calls), thread(thread),
        index(calls->special(thread, uint32_t(SimSpecial::ThreadX))),
        block(calls->special(thread, uint32_t(SimSpecial::BlockX))) {}

  template <typename T> T read(const T *at, const char *site) const {
    calls->access(thread, at, sizeof(T), alignof(T), kSimRead, site);
    return *at;
  }
  template <typename T> void write(T *at, T value, const char *site) const {
    calls->access(thread, at, sizeof(T), alignof(T), kSimWrite, site);
    *at = value;
  }
};

template <typename T> T *writable(const void *operand) {
  return static_cast<T *>(const_cast<void *>(operand));
}

float widen(uint16_t bits) {
  return __builtin_bit_cast(float, uint32_t(bits) << 16);
}
} // namespace

/// Items: rows, 4 to an item; a thread for each row and column.
extern "C" void toy_embed(const SimCalls *calls, SimThread *thread,
                          const void *const *operands, const int64_t *counts) {
  Self self(calls, thread);
  int64_t row = 4 * self.block + self.index / kColumns;
  int64_t column = self.index % kColumns;
  if (self.index >= 4 * kColumns || row >= counts[0])
    return;
  auto *tokens = static_cast<const int32_t *>(operands[0]);
  auto *positions = static_cast<const int64_t *>(operands[1]);
  auto *table = static_cast<const float *>(operands[2]);
  float value;
  if (column < kChannels)
    value = self.read(table + self.read(tokens + row, "tokens") * 16 + column,
                      "row of the table");
  else
    value = static_cast<float>(self.read(positions + row, "positions"));
  self.write(writable<float>(operands[3]) + row * kColumns + column, value,
             "store");
}

/// Items: segments; a thread for each channel, and one that counts.
extern "C" void toy_scan(const SimCalls *calls, SimThread *thread,
                         const void *const *operands, const int64_t *) {
  Self self(calls, thread);
  auto *segment = static_cast<const Segment *>(operands[0]) + self.block;
  int64_t slot = self.read(&segment->slot, "segment");
  int64_t length = self.read(&segment->length, "segment");
  bool starts = self.read(&segment->flags, "segment") & 1;
  if (self.index > kChannels)
    return;
  float *row = writable<float>(operands[3]) +
               self.read(&segment->firstRow, "segment") * kColumns + self.index;
  if (self.index == kChannels) {
    auto *tally = reinterpret_cast<int64_t *>(writable<char>(operands[2]) +
                                              slot * kSlotBytes);
    int64_t count = starts ? 0 : self.read(tally, "state");
    bool right = count == self.read(&segment->startPosition, "segment");
    for (int64_t i = 0; i < length; ++i, ++count) {
      right &= self.read(row + i * kColumns, "position") ==
               static_cast<float>(count);
      self.write(row + i * kColumns, right ? 0.0f : __builtin_nanf(""),
                 "verdict");
    }
    return self.write(tally, count, "next state");
  }
  auto *sum = reinterpret_cast<float *>(writable<char>(operands[1]) +
                                        slot * kSlotBytes) +
              self.index;
  float state = starts ? 0.0f : self.read(sum, "state");
  for (int64_t i = 0; i < length; ++i) {
    state = 0.5f * state + self.read(row + i * kColumns, "row");
    self.write(row + i * kColumns, state, "row");
  }
  self.write(sum, state, "next state");
}

/// Items: pairs of output rows times thirds of the vocabulary. The row goes
/// through shared memory, and every warp sums by itself.
static void head(const SimCalls *calls, SimThread *thread,
                 const void *const *operands, const int64_t *counts,
                 bool guarded) {
  Self self(calls, thread);
  int64_t tile = self.block / kBlocks, third = self.block % kBlocks;
  int64_t first = kVocabulary * third / kBlocks;
  int64_t last = kVocabulary * (third + 1) / kBlocks;
  auto *outputRows = static_cast<const int32_t *>(operands[0]);
  auto *x = static_cast<const float *>(operands[1]);
  auto *weights = static_cast<const uint16_t *>(operands[2]);
  auto *row = static_cast<float *>(calls->shared(thread));
  for (int64_t o = 2 * tile; o < 2 * tile + 2; ++o) {
    if (guarded && o >= counts[2])
      break;
    if (self.index < kColumns) {
      int64_t from = self.read(outputRows + o, "output row");
      calls->copyAsync(thread, row + self.index,
                       x + from * kColumns + self.index, 4, 4, "row");
      calls->commitGroup(thread, "row");
      calls->waitGroup(thread, 0, "row");
    }
    calls->barrier(thread, "row is there");
    float values[kColumns];
    for (int c = 0; c < kColumns; ++c) {
      calls->access(thread, row + c, 4, 4, kSimRead | kSimShared, "row");
      values[c] = row[c];
    }
    for (int64_t v = first + self.index; v < last; v += 64) {
      float sum = values[3];
      for (int c = 0; c < kChannels; ++c)
        sum += widen(self.read(weights + v * 32 + c, "head")) * values[c];
      self.write(writable<float>(operands[3]) + o * kVocabulary + v, sum,
                 "logits");
    }
    calls->barrier(thread, "row is free");
  }
}

extern "C" void toy_head(const SimCalls *calls, SimThread *thread,
                         const void *const *operands, const int64_t *counts) {
  head(calls, thread, operands, counts, true);
}

/// Forgets that the last pair may be half.
extern "C" void toy_head_unguarded(const SimCalls *calls, SimThread *thread,
                                   const void *const *operands,
                                   const int64_t *counts) {
  head(calls, thread, operands, counts, false);
}
