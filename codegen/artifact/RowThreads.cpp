// Batches of rows, of which each thread makes a run of neighbours.
#include "codegen/artifact/RowThreads.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Threading.h"

#include <optional>
#include <pthread.h>

using namespace llvm;
using namespace effc::codegen;

static constexpr uint64_t kBatchBytes = uint64_t(16) << 20;
/// Below so many bytes starting threads takes longer than the rows do.
static constexpr uint64_t kFewBytes = uint64_t(1) << 16;

namespace {
/// Neighbours of a batch, which one thread makes.
struct RowRun {
  WeightRows rows;
  uint64_t first = 0, end = 0;
  std::vector<uint8_t> bytes = {};
  std::optional<std::string> error = {};

  void make() {
    bytes.clear();
    for (uint64_t row = first; row < end; ++row) {
      Expected<ArrayRef<uint8_t>> made = rows.row(row);
      if (!made) {
        error = toString(made.takeError());
        return;
      }
      bytes.insert(bytes.end(), made->begin(), made->end());
    }
  }
};
} // namespace

static void *makeRun(void *run) {
  static_cast<RowRun *>(run)->make();
  return nullptr;
}

/// Each by a thread of its own, but for the first, and for those that get none: a
/// process may be out of them, which is no error.
static void makeAll(MutableArrayRef<RowRun> runs) {
  SmallVector<pthread_t> threads;
  SmallVector<RowRun *> left = {&runs.front()};
  for (RowRun &run : runs.drop_front()) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, makeRun, &run) == 0)
      threads.push_back(thread);
    else
      left.push_back(&run);
  }
  for (RowRun *run : left)
    run->make();
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
}

unsigned effc::codegen::threadsForRows() {
  constexpr unsigned kMostThreads = 16;
  return std::min(kMostThreads, hardware_concurrency().compute_thread_count());
}

Error effc::codegen::makeRows(WeightRows rows,
                              function_ref<Error(ArrayRef<uint8_t> bytes)> take,
                              unsigned threads) {
  uint64_t count = rows.rows();
  uint64_t bytes = count * rows.bytesPerRow();
  if (bytes == 0)
    return Error::success();
  if (rows.areCopied() || bytes < kFewBytes)
    threads = 1;
  threads = unsigned(std::min<uint64_t>(threads, count));
  uint64_t each =
      std::clamp<uint64_t>(kBatchBytes / rows.bytesPerRow() / threads, 1,
                           divideCeil(count, uint64_t(threads)));
  std::vector<RowRun> runs(threads, RowRun{rows});
  for (uint64_t first = 0; first < count; first += threads * each) {
    for (auto [i, run] : enumerate(runs)) {
      run.first = std::min(count, first + i * each);
      run.end = std::min(count, run.first + each);
    }
    makeAll(runs);
    for (const RowRun &run : runs) {
      if (run.error)
        return createStringError(*run.error);
      if (Error error = take(run.bytes))
        return error;
    }
  }
  return Error::success();
}
