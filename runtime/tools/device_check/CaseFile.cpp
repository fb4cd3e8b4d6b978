#include "runtime/tools/device_check/CaseFile.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

using namespace effc::check;
using Json = nlohmann::json;

namespace {
/// numbers.bin.
class Numbers {
public:
  explicit Numbers(const std::string &path) : path(path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
      throw Failure(path + ": cannot be read");
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }

  template <typename T> std::vector<T> take(uint64_t at, uint64_t count) const {
    if (at > bytes.size() || count > (bytes.size() - at) / sizeof(T))
      throw Failure(path + ": has " + std::to_string(bytes.size()) +
                    " bytes, but " + std::to_string(count) +
                    " numbers from byte " + std::to_string(at) +
                    " on are named");
    std::vector<T> out(count);
    std::memcpy(out.data(), bytes.data() + at, count * sizeof(T));
    return out;
  }

private:
  std::string path;
  std::vector<char> bytes;
};
} // namespace

static CaseStep readCall(const Json &step, const Numbers &numbers) {
  CaseStep call;
  call.kind = step.at("call") == "prefill" ? CaseStep::Kind::Prefill
                                           : CaseStep::Kind::Decode;
  for (const Json &segment : step.at("segments"))
    call.segments.push_back({segment.at("slot"), segment.at("start"),
                             segment.at("begins"), segment.at("tokens")});
  call.expected = numbers.take<double>(step.at("at"), step.at("count"));
  return call;
}

static CaseStep readStep(const Json &step, const CaseFile &file,
                         const Numbers &numbers) {
  if (step.contains("call"))
    return readCall(step, numbers);
  CaseStep read;
  if (step.contains("write_slot")) {
    read.kind = CaseStep::Kind::WriteSlot;
    read.slot = step.at("write_slot");
    read.bytes = numbers.take<uint8_t>(step.at("at"), file.slotBytes);
    return read;
  }
  read.kind = CaseStep::Kind::ReadState;
  read.state = step.at("read_state");
  read.slot = step.at("slot");
  read.expected = numbers.take<double>(step.at("at"), step.at("count"));
  return read;
}

CaseFile CaseFile::read(const std::string &folder) {
  std::string path = folder + "/case.json";
  std::ifstream stream(path);
  if (!stream)
    throw Failure(path + ": cannot be read");
  try {
    Json json = Json::parse(stream);
    Numbers numbers(folder + "/numbers.bin");
    CaseFile file;
    file.name = json.at("name");
    file.artifact = folder + "/case.effc";
    file.tolerance = json.at("tolerance");
    file.slots = json.at("slots");
    file.slotBytes = json.at("slot_bytes");
    for (const Json &step : json.at("steps"))
      file.steps.push_back(readStep(step, file, numbers));
    return file;
  } catch (const Json::exception &error) {
    throw Failure(path + ": " + error.what());
  }
}
