#include "runtime/tools/device_check/LaunchTimes.h"

#include "runtime/src/ModelChecks.h"

#include <algorithm>
#include <fstream>
#include <set>

using namespace effc;
using namespace effc::check;
using Json = nlohmann::ordered_json;

/// The median, and what one run in ten is below or above.
static Json summarise(std::vector<double> seconds) {
  if (seconds.empty())
    return nullptr;
  std::sort(seconds.begin(), seconds.end());
  auto at = [&](double part) {
    double place = part * static_cast<double>(seconds.size() - 1);
    return seconds[static_cast<size_t>(place + 0.5)];
  };
  return {{"median", at(0.5)}, {"p10", at(0.1)}, {"p90", at(0.9)}};
}

static void fillInputs(const TimeRequest &request, rt::Executor &executor,
                       uint32_t entryRows, uint32_t slots) {
  const rt::CallInputs &inputs = executor.inputs();
  int32_t row = 0;
  for (uint32_t i = 0; i < request.sequences; ++i) {
    inputs.segments[i] = artifact::SegmentRecord(
        static_cast<int32_t>(i), row, static_cast<int32_t>(request.tokens),
        /*flags: begins and ends*/ 3, 0);
    for (uint32_t t = 0; t < request.tokens; ++t, ++row) {
      inputs.tokens[row] = row;
      inputs.rowSlots[row] = static_cast<int32_t>(i);
      inputs.rowPositions[row] = t;
      inputs.outputRows[row] = row;
    }
  }
  for (; static_cast<uint32_t>(row) < entryRows; ++row) {
    inputs.tokens[row] = 0;
    inputs.rowSlots[row] = static_cast<int32_t>(slots);
    inputs.rowPositions[row] = 0;
  }
}

static void writeOutputs(const std::string &path, const float *numbers,
                         uint64_t count) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(numbers),
             static_cast<std::streamsize>(count * sizeof(float)));
  file.close();
  if (!file)
    throw Failure(path + ": cannot be written");
}

/// Row after row, without what pads them.
static void writeWeights(const std::string &path, const rt::Model &model) {
  static constexpr const char *kTypes[] = {"F32", "BF16", "F16"};
  static_assert(artifact::ElementType::F16 == artifact::ElementType(2));
  Json header = Json::object();
  std::string data;
  const artifact::Program &program = model.program();
  for (uint32_t i = 0; i < program.weights()->size(); ++i) {
    const artifact::Weight &weight = *program.weights()->Get(i);
    bool isVector = weight.shape()->size() < 2;
    uint64_t rows = isVector ? 1 : weight.shape()->Get(0);
    if (weight.type() > artifact::ElementType::F16)
      throw Failure(weight.name()->str() + ": a safetensors file has no " +
                    std::string(rt::typeName(program, weight)));
    uint64_t bytes = rt::rowBytes(program, weight);
    Json shape = Json::array();
    for (uint64_t extent : *weight.shape())
      shape.push_back(extent);
    size_t begin = data.size();
    for (uint64_t row = 0; row < rows; ++row)
      data.append(reinterpret_cast<const char *>(model.weight(i)) +
                      row * weight.row_stride_bytes(),
                  bytes);
    header[weight.name()->str()] = {
        {"dtype", kTypes[static_cast<int>(weight.type())]},
        {"shape", shape},
        {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  uint64_t size = text.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(&size), sizeof size);
  file << text << data;
  file.close();
  if (!file)
    throw Failure(path + ": cannot be written");
}

/// Bytes that a launch cannot avoid: weights read once, fixed states read and
/// written. One that takes the tokens looks rows up.
static std::pair<uint64_t, uint64_t>
leastBytes(const artifact::Program &program, const artifact::Launch &launch,
           int64_t sequences) {
  std::set<std::pair<artifact::OperandKind, uint32_t>> seen;
  uint64_t weights = 0, states = 0;
  bool looksUp = false;
  for (const artifact::Operand *operand : *launch.operands()) {
    looksUp |= operand->kind() == artifact::OperandKind::Tokens;
    if (!seen.insert({operand->kind(), operand->index()}).second)
      continue;
    if (operand->kind() == artifact::OperandKind::Weight)
      weights += program.weights()->Get(operand->index())->size();
    else if (operand->kind() == artifact::OperandKind::State)
      if (const auto &state = *program.states()->Get(operand->index());
          state.growth() == artifact::Growth::Fixed)
        states += 2 * state.size() * static_cast<uint64_t>(sequences);
  }
  return {looksUp ? 0 : weights, states};
}

/// What the launches of an entry have to do, and how long they take.
static Json describe(const artifact::Program &program, const rt::Plan &plan,
                     const artifact::Entry &entry, const rt::CallCounts &given,
                     const rt::CallTimes &times) {
  const int64_t counts[] = {given.rows, given.segments, given.outputs, 1};
  Json launches = Json::array();
  for (uint32_t i = 0; i < entry.launches()->size(); ++i) {
    const artifact::Launch &launch = *entry.launches()->Get(i);
    const artifact::Kernel &kernel = *plan.kernels->Get(launch.kernel());
    auto counted = launch.items()->count();
    int64_t rows =
        counted == artifact::Count::Outputs ? given.outputs : given.rows;
    auto [weights, states] = leastBytes(program, launch, given.segments);
    launches.push_back(
        {{"kernel", kernel.name()->str()},
         {"note", launch.note() ? launch.note()->str() : ""},
         {"only_for", artifact::EnumNameCallResult(launch.only_for())},
         {"blocks",
          rt::itemCount(*launch.items(), counts[static_cast<int>(counted)])},
         {"threads", kernel.threads()},
         {"flops", launch.flops_per_row() * static_cast<uint64_t>(rows)},
         {"weight_bytes", weights},
         {"state_bytes", states},
         {"seconds",
          times.launches.empty() ? Json() : summarise(times.launches[i])}});
  }
  return launches;
}

Json check::timeLaunches(rt::Device &device, const TimeRequest &request) {
  Prepared prepared = prepare(device, request.file, request.sequences);
  rt::Executor &executor = *prepared.executor;
  const rt::Plan &plan = executor.plan();
  int64_t rows = int64_t(request.sequences) * request.tokens;
  uint32_t index = findEntry(plan,
                             request.decode ? artifact::EntryKind::Decode
                                            : artifact::EntryKind::Prefill,
                             rows);
  const artifact::Entry &entry = *plan.entries->Get(index);
  fillInputs(request, executor, entry.rows(), request.sequences);
  rt::CallCounts counts = {rows, request.sequences, rows};
  require(executor.run(index, counts));
  if (!request.outputs.empty())
    writeOutputs(request.outputs, executor.results(),
                 static_cast<uint64_t>(rows) *
                     prepared.model->program().vocabulary_size());
  if (!request.weights.empty())
    writeWeights(request.weights, *prepared.model);
  rt::CallTimes times;
  if (rt::Check error = executor.time(index, counts, request.timing, times))
    if (error->code != EFFC_UNSUPPORTED)
      throw Failure(error->message);
  return {{"device", device.description()},
          {"target", std::string(plan.name)},
          {"file", request.file},
          {"entry", entry.name()->str()},
          {"sequences", request.sequences},
          {"tokens", request.tokens},
          {"runs", request.timing.runs},
          {"flush_bytes", request.timing.flushBytes},
          {"launches",
           describe(prepared.model->program(), plan, entry, counts, times)},
          {"call_seconds", summarise(times.calls)},
          {"nothing_seconds", summarise(times.nothing)}};
}
