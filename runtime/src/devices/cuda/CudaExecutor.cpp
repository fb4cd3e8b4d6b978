#include "runtime/src/devices/cuda/CudaExecutor.h"

#include "runtime/src/Limits.h"

#include "runtime/src/devices/cuda/CudaUpload.h"

#include <algorithm>

using namespace effc;
using namespace effc::rt;

/// The driver that records launches which overlap (CUDA 12.3).
static constexpr int kLeastToOverlap = 12030;

static bool isDecode(const artifact::Entry &entry) {
  return entry.kind() == artifact::EntryKind::Decode;
}

Result<std::unique_ptr<Executor>>
CudaExecutor::create(std::shared_ptr<const Model> model,
                     std::vector<CudaChoice> choices,
                     std::shared_ptr<const CudaContext> context,
                     const CudaChip &chip, CublasLtOnDemand &libraries,
                     uint32_t sessions, const UploadProgress &progress) {
  CudaScope scope(*context);
  if (Check error = scope.entered())
    return *error;
  const CudaDriver &driver = context->driver();
  Result<CudaModules::Loaded> loaded =
      CudaModules::load(*model, std::move(choices), context, chip);
  if (!loaded)
    return loaded.error();
  std::unique_ptr<CudaExecutor> executor(
      new CudaExecutor(model, loaded->choice.plan, context));
  executor->code = loaded->choice.code;
  executor->text = loaded->choice.note();
  Result<CudaProducts> products =
      CudaProducts::open(executor->compiled, libraries);
  if (!products)
    return products.error();
  executor->products = std::move(*products);
  Result<CudaSwitches> switches = CudaSwitches::ofEnvironment();
  if (!switches)
    return switches.error();
  executor->switches = *switches;
  executor->modules = std::move(loaded->modules);
  cuda::Stream stream = nullptr;
  if (Check error =
          driver.check("making a stream",
                       driver.streamCreate(&stream, cuda::kStreamNonBlocking)))
    return *error;
  executor->stream =
      CudaOwned<cuda::Stream>(context, stream, driver.streamDestroy);
  executor->marks = CudaMarks(context, stream);
  if (Check error = executor->reserve(sessions))
    return *error;
  if (Check error = executor->uploadWeights(progress))
    return *error;
  return std::unique_ptr<Executor>(std::move(executor));
}

/// Everything is known beforehand, so it is refused as a whole; but for what
/// the driver keeps of recorded calls, which it alone knows.
Check CudaExecutor::requireFree(uint64_t weightBytes,
                                const PlanSizes &sizes) const {
  size_t free = 0, total = 0;
  if (Check error = driver().check("asking for the free memory",
                                   driver().memoryInfo(&free, &total)))
    return error;
  uint64_t sum = 0;
  bool fits = true;
  for (uint64_t bytes : {weightBytes, sizes.slots, sizes.arena, sizes.logits,
                         sizes.inputs.bytes(), products.workspaceBytes()})
    fits &= !__builtin_add_overflow(sum, bytes, &sum);
  if (fits && sum <= free)
    return {};
  // What the rest leaves for states.
  uint64_t others = sum - std::min(sum, sizes.slots);
  std::string advice =
      fits && others <= free ? roomAdvice(model->program(), free - others) : "";
  std::string workspace;
  if (uint64_t bytes = products.workspaceBytes())
    workspace = ", " + std::to_string(bytes) + " for cuBLASLt";
  return fail(EFFC_OUT_OF_MEMORY, "cuda: the model takes ",
              fits ? std::to_string(sum) : "more than 2^64", " bytes (",
              weightBytes, " of weights, ", sizes.slots, " of states, ",
              sizes.arena, " of arena, ", sizes.logits, " of logits, ",
              sizes.inputs.bytes(), " of inputs", workspace,
              ", and more for recorded calls), but the GPU has ", free,
              " free of ", total, advice);
}

Check CudaExecutor::reserve(uint32_t sessions) {
  const artifact::Program &program = model->program();
  Result<PlanSizes> sizes = sizesOf(program, compiled, sessions);
  if (!sizes)
    return sizes.error();
  WeightPlaces places = placeWeights(program);
  if (Check error = requireFree(places.bytes, *sizes))
    return error;
  inputSize = sizes->inputs.bytes();
  struct Part {
    DeviceMemory &memory;
    uint64_t bytes;
    const char *what;
  } parts[] = {{weights, places.bytes, "the weights"},
               {slots, sizes->slots, "the states of all sessions"},
               {arena, sizes->arena, "the activations"},
               {deviceLogits, sizes->logits, "the logits"},
               {deviceInputs, inputSize, "the inputs of a call"}};
  for (Part &part : parts) {
    Result<DeviceMemory> memory =
        allocateOnDevice(context, part.bytes, part.what);
    if (!memory)
      return memory.error();
    part.memory = std::move(*memory);
    // What nobody has written is the same in every run.
    if (part.bytes > 0)
      if (Check error =
              driver().check(std::string("clearing ") + part.what,
                             driver().setBytes(part.memory.get(), 0, part.bytes,
                                               stream.get())))
        return error;
  }

  uint64_t decodeRows = 0;
  for (const artifact::Entry *entry : *compiled.entries)
    if (isDecode(*entry))
      decodeRows = std::max<uint64_t>(decodeRows, entry->rows());
  Result<PinnedMemory> pinned =
      allocatePinned(context, inputSize, "the inputs of a call");
  if (!pinned)
    return pinned.error();
  inputBytes = std::move(*pinned);
  callInputs = sizes->inputs.at(static_cast<uint8_t *>(inputBytes.get()));
  pinned =
      allocatePinned(context, decodeRows * rowWidth(program) * sizeof(float),
                     "the logits of decoding");
  if (!pinned)
    return pinned.error();
  decodeLogits = std::move(*pinned);
  Result<Mapping> mapped = Mapping::anonymous(sizes->logits, "logits");
  if (!mapped)
    return mapped.error();
  prefillLogits = std::move(*mapped);

  auto at = [](const DeviceMemory &memory) {
    return reinterpret_cast<uint8_t *>(memory.get());
  };
  PlanAddresses addresses;
  addresses.arena = at(arena);
  addresses.slots = at(slots);
  addresses.logits = at(deviceLogits);
  addresses.inputs = sizes->inputs.at(at(deviceInputs));
  for (uint64_t offset : places.offsets)
    addresses.weights.push_back(at(weights) + offset);
  ready = resolve(program, compiled, addresses);
  Result<CudaBoxMaps> maps = CudaBoxMaps::encode(compiled, ready, driver());
  if (!maps)
    return maps.error();
  boxMaps = std::move(*maps);
  return products.prepare(context);
}

Check CudaExecutor::uploadWeights(const UploadProgress &progress) {
  return rt::uploadWeights(*model, placeWeights(model->program()),
                           weights.get(), context, stream.get(), progress);
}

std::string CudaExecutor::nameOf(uint32_t entry, uint32_t index) const {
  const artifact::Entry &from = *compiled.entries->Get(entry);
  const artifact::Launch &launch = *from.launches()->Get(index);
  std::string note = launch.note() ? launch.note()->str() : "";
  return "kernel '" + compiled.kernels->Get(launch.kernel())->name()->str() +
         "' (launch " + std::to_string(index) + " of entry '" +
         from.name()->str() + "', '" + note + "')";
}

const artifact::Launch &CudaExecutor::launchOf(uint32_t entry,
                                               uint32_t index) const {
  return *compiled.entries->Get(entry)->launches()->Get(index);
}

Check CudaExecutor::multiply(uint32_t entry, uint32_t index,
                             const int64_t *counts) {
  const ReadyPlan::Launch &launch =
      ready.launches[ready.entries[entry].firstLaunch + index];
  Check error =
      products.multiply(*launchOf(entry, index).product(), counts[launch.count],
                        &ready.operands[launch.firstOperand], stream.get());
  if (error)
    error->message = "cuda: " + nameOf(entry, index) + ": " + error->message;
  return error;
}

Check CudaExecutor::launch(uint32_t entry, uint32_t index, bool behindLaunch,
                           int64_t (&counts)[kCounts]) {
  size_t number = ready.entries[entry].firstLaunch + index;
  const ReadyPlan::Launch &launch = ready.launches[number];
  int64_t blocks = launch.items(counts, launch.onlyFor);
  if (blocks == 0)
    return {};
  if (products.takes(launchOf(entry, index))) {
    if (Check error = multiply(entry, index, counts))
      return error;
    return switches.checkLaunches ? finish(nameOf(entry, index)) : Check();
  }
  // One address for each operand, then rows, segments and outputs, then the
  // tensor maps themselves.
  constexpr size_t kPassedCounts = 3;
  void *parameters[kMaxOperands + kPassedCounts + kMaxBoxMaps];
  const CudaKernel &kernel = modules.kernel(launch.kernel);
  uint32_t operands = compiled.kernels->Get(launch.kernel)->operands();
  for (uint32_t i = 0; i < operands; ++i)
    parameters[i] = &ready.operands[launch.firstOperand + i];
  for (size_t i = 0; i < kPassedCounts; ++i)
    parameters[operands + i] = &counts[i];
  void **next = parameters + operands + kPassedCounts;
  for (const cuda::TensorMap &map : boxMaps.of(number))
    *next++ = const_cast<cuda::TensorMap *>(&map);
  // For a copy, or a mark of time, nothing waits by itself. Older drivers
  // cannot record launches that overlap.
  cuda::LaunchAttribute overlap = {.id = cuda::kMayOverlap, .value = 1};
  bool overlaps = switches.overlap && behindLaunch &&
                  driver().version() >= kLeastToOverlap &&
                  compiled.kernels->Get(launch.kernel)->overlaps();
  cuda::LaunchConfig config = {{static_cast<unsigned>(blocks), 1, 1},
                               {kernel.threads, 1, 1},
                               kernel.dynamicSharedBytes,
                               stream.get(),
                               &overlap,
                               overlaps ? 1u : 0u};
  cuda::Result result =
      driver().launchKernel(&config, kernel.function, parameters, nullptr);
  if (result != cuda::kSuccess)
    return driver().failure(nameOf(entry, index), result);
  if (switches.checkLaunches)
    return finish(nameOf(entry, index));
  return {};
}

Check CudaExecutor::uploadInputs() {
  return driver().check("uploading the inputs of a call",
                        driver().copyToDevice(deviceInputs.get(),
                                              inputBytes.get(), inputSize,
                                              stream.get()));
}

Check CudaExecutor::launchAll(uint32_t entry, int64_t (&counts)[kCounts],
                              artifact::CallResult result) {
  const ReadyPlan::Entry &range = ready.entries[entry];
  bool behindLaunch = false;
  for (size_t i = range.firstLaunch; i < range.endLaunch; ++i) {
    if (ready.launches[i].items(counts, result) == 0)
      continue;
    auto index = static_cast<uint32_t>(i - range.firstLaunch);
    if (Check error = launch(entry, index, behindLaunch && !profile, counts))
      return error;
    if (Check error = profile ? marks.mark(index) : Check())
      return error;
    // What a library puts into the stream last need not be a kernel.
    behindLaunch = !products.takes(launchOf(entry, index));
  }
  return {};
}

/// Puts a whole call into the stream.
Check CudaExecutor::enqueue(uint32_t entry, const CallCounts &given,
                            float *resultsTo) {
  if (Check error = uploadInputs())
    return error;
  int64_t counts[kCounts] = {given.rows, given.segments, given.outputs, 1};
  if (profile) {
    marks.clear();
    if (Check error = marks.mark(UINT32_MAX))
      return error;
  }
  if (Check error = launchAll(entry, counts, given.result))
    return error;
  bool chosen = given.result == artifact::CallResult::Choices;
  uint64_t bytes =
      static_cast<uint64_t>(given.outputs) *
      (chosen ? sizeof(Choice) : rowWidth(model->program()) * sizeof(float));
  if (bytes == 0)
    return {};
  return driver().check(
      chosen ? "downloading the choices of a call"
             : "downloading the logits of a call",
      driver().copyToHost(resultsTo, deviceLogits.get(), bytes, stream.get()));
}

Check CudaExecutor::finish(const std::string &what) {
  return driver().check(what, driver().streamSynchronize(stream.get()));
}

/// A library that multiplies for the first time may load code, which cannot be
/// recorded. What it computes of whatever lies there is overwritten.
Check CudaExecutor::warmUp(uint32_t entry, const CallCounts &given) {
  int64_t counts[kCounts] = {given.rows, given.segments, given.outputs, 1};
  const ReadyPlan::Entry &range = ready.entries[entry];
  for (size_t i = range.firstLaunch; i < range.endLaunch; ++i) {
    auto index = static_cast<uint32_t>(i - range.firstLaunch);
    if (products.takes(launchOf(entry, index)) &&
        ready.launches[i].items(counts, given.result) > 0)
      if (Check error = multiply(entry, index, counts))
        return error;
  }
  return {};
}

Check CudaExecutor::record(uint32_t entry, const CallCounts &counts,
                           CudaOwned<cuda::GraphExec> &graph) {
  if (Check error = warmUp(entry, counts))
    return error;
  std::string what =
      "recording entry '" + compiled.entries->Get(entry)->name()->str() + "'";
  if (Check error = driver().check(
          what, driver().captureBegin(stream.get(), cuda::kCaptureThreadLocal)))
    return error;
  Check failed =
      enqueue(entry, counts, static_cast<float *>(decodeLogits.get()));
  // The recording has to end in any case.
  cuda::Graph recorded = nullptr;
  cuda::Result result = driver().captureEnd(stream.get(), &recorded);
  if (failed) {
    if (result == cuda::kSuccess && recorded)
      driver().graphDestroy(recorded);
    return failed;
  }
  if (result != cuda::kSuccess)
    return driver().failure(what, result);
  cuda::GraphExec executable = nullptr;
  result = driver().graphInstantiate(&executable, recorded, 0);
  driver().graphDestroy(recorded);
  if (result != cuda::kSuccess)
    return driver().failure(what, result);
  graph = CudaOwned<cuda::GraphExec>(context, executable,
                                     driver().graphExecDestroy);
  return {};
}

Check CudaExecutor::replay(uint32_t entry, const CallCounts &counts) {
  CudaGraphs::Key key = {entry, counts.rows, counts.segments, counts.outputs,
                         counts.result};
  cuda::GraphExec known = graphs.find(key);
  if (!known) {
    CudaOwned<cuda::GraphExec> graph;
    if (Check error = record(entry, counts, graph))
      return error;
    known = graph.get();
    graphs.add(key, std::move(graph));
  }
  return driver().check("entry '" +
                            compiled.entries->Get(entry)->name()->str() + "'",
                        driver().graphLaunch(known, stream.get()));
}

Check CudaExecutor::abandon(Check error) {
  if (error)
    driver().streamSynchronize(stream.get()); // the failure is known
  return error;
}

Check CudaExecutor::run(uint32_t entry, const CallCounts &counts) {
  CudaScope scope(*context);
  if (Check error = scope.entered())
    return error;
  return abandon(runCall(entry, counts));
}

Check CudaExecutor::runCall(uint32_t entry, const CallCounts &counts) {
  const artifact::Entry &compiledEntry = *compiled.entries->Get(entry);
  Check error = kept ? watch.start() : Check();
  if (error)
    return error;
  if (isDecode(compiledEntry) && switches.graphs && !switches.checkLaunches &&
      !profile) {
    lastResults = static_cast<float *>(decodeLogits.get());
    error = replay(entry, counts);
  } else {
    lastResults = reinterpret_cast<float *>(prefillLogits.data());
    error = enqueue(entry, counts, lastResults);
  }
  if (!error && kept)
    error = watch.stop();
  if (error)
    return error;
  error = finish("entry '" + compiledEntry.name()->str() + "'");
  if (error && !switches.checkLaunches)
    error->message +=
        "; one of its launches failed: EFFC_CUDA_CHECK_LAUNCHES=1 "
        "in the environment tells which";
  if (!error && profile)
    error = reportLaunches(entry, counts);
  if (error || !kept)
    return error;
  Result<double> seconds = watch.seconds();
  if (!seconds)
    return seconds.error();
  *kept += *seconds;
  return {};
}

/// Places the marks of a call that has just ended before now.
Check CudaExecutor::reportLaunches(uint32_t entry, const CallCounts &given) {
  auto times = marks.times();
  if (!times)
    return times.error();
  if (times->empty())
    return {};
  int64_t counts[kCounts] = {given.rows, given.segments, given.outputs, 1};
  auto nanoseconds = [](double seconds) {
    return static_cast<int64_t>(seconds * 1e9);
  };
  int64_t first = Profile::now() - nanoseconds(times->back().second);
  int64_t begin = first;
  for (const auto &[index, seconds] : *times) {
    const ReadyPlan::Launch &launch =
        ready.launches[ready.entries[entry].firstLaunch + index];
    int64_t end = first + nanoseconds(seconds);
    profile->addLaunch(index, launch.items(counts, given.result), begin, end);
    begin = end;
  }
  return {};
}

Check CudaExecutor::keepTime() {
  CudaScope scope(*context);
  if (Check error = scope.entered())
    return error;
  Result<CudaStopwatch> made = CudaStopwatch::create(context, stream.get());
  if (!made)
    return made.error();
  watch = std::move(*made);
  kept = 0;
  return {};
}

Check CudaExecutor::time(uint32_t entry, const CallCounts &given,
                         const TimingOptions &options, CallTimes &out) {
  CudaScope scope(*context);
  if (Check error = scope.entered())
    return error;
  // What is run to be timed is no part of a profile.
  Profile *told = std::exchange(profile, nullptr);
  Check error = abandon(timeCall(entry, given, options, out));
  profile = told;
  return error;
}

Check CudaExecutor::timeCall(uint32_t entry, const CallCounts &given,
                             const TimingOptions &options, CallTimes &out) {
  DeviceMemory elsewhere;
  if (options.flushBytes) {
    auto memory = allocateOnDevice(context, options.flushBytes,
                                   "what is written between timings");
    if (!memory)
      return memory.error();
    elsewhere = std::move(*memory);
  }
  if (Check error = uploadInputs())
    return error;
  int64_t counts[kCounts] = {given.rows, given.segments, given.outputs, 1};
  const ReadyPlan::Entry &range = ready.entries[entry];
  auto launches = static_cast<uint32_t>(range.endLaunch - range.firstLaunch);
  // What to time: each launch, then all of them, then nothing.
  std::vector<CudaStopwatch> watches;
  for (uint32_t i = 0; i < launches + 2; ++i) {
    auto made = CudaStopwatch::create(context, stream.get());
    if (!made)
      return made.error();
    watches.push_back(std::move(*made));
  }
  out = CallTimes();
  out.launches.resize(launches);
  for (uint32_t run = 0; run < options.warmUps + options.runs; ++run) {
    for (uint32_t i = 0; i < launches + 2; ++i) {
      if (options.flushBytes)
        if (Check error = driver().check(
                "writing between timings",
                driver().setBytes(elsewhere.get(),
                                  static_cast<unsigned char>(run),
                                  options.flushBytes, stream.get())))
          return error;
      if (Check error = watches[i].start())
        return error;
      Check failed = i < launches
                         ? launch(entry, i, /*behindLaunch=*/false, counts)
                     : i == launches ? launchAll(entry, counts, given.result)
                                     : Check();
      if (failed)
        return failed;
      if (Check error = watches[i].stop())
        return error;
    }
    if (Check error = finish("timing entry '" +
                             compiled.entries->Get(entry)->name()->str() + "'"))
      return error;
    for (uint32_t i = 0; i < launches + 2 && run >= options.warmUps; ++i) {
      Result<double> seconds = watches[i].seconds();
      if (!seconds)
        return seconds.error();
      std::vector<double> &list = i < launches    ? out.launches[i]
                                  : i == launches ? out.calls
                                                  : out.nothing;
      list.push_back(*seconds);
    }
  }
  return {};
}

cuda::Pointer CudaExecutor::slot(uint32_t index) const {
  return slots.get() + index * model->program().slot_bytes();
}

/// Queues a copy of each stretch, and waits for all of them.
template <typename Stretch>
Check CudaExecutor::moveAll(
    const char *what, std::span<const Stretch> stretches,
    const std::function<cuda::Result(const Stretch &)> &queue) {
  CudaScope scope(*context);
  if (Check error = scope.entered())
    return error;
  for (const Stretch &stretch : stretches)
    if (Check error = driver().check(what, queue(stretch)))
      return abandon(error);
  return finish(what);
}

Check CudaExecutor::copySlot(uint32_t from, uint32_t to,
                             std::span<const SlotRange> ranges) {
  return moveAll<SlotRange>(
      "copying a sequence's states", ranges, [&](const SlotRange &range) {
        return driver().copyOnDevice(slot(to) + range.offset,
                                     slot(from) + range.offset, range.size,
                                     stream.get());
      });
}

Check CudaExecutor::readSlot(uint32_t index, std::span<const SlotRead> pieces) {
  return moveAll<SlotRead>(
      "downloading a sequence's states", pieces, [&](const SlotRead &piece) {
        return driver().copyToHost(piece.memory, slot(index) + piece.offset,
                                   piece.size, stream.get());
      });
}

Check CudaExecutor::writeSlot(uint32_t index,
                              std::span<const SlotWrite> pieces) {
  return moveAll<SlotWrite>(
      "uploading a sequence's states", pieces, [&](const SlotWrite &piece) {
        return driver().copyToDevice(slot(index) + piece.offset, piece.memory,
                                     piece.size, stream.get());
      });
}
