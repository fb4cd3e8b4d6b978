#include "tools/effc-verify/PlanDifference.h"

#include "runtime/abi/FileHeader.h"
#include "runtime/schema/program_generated.h"
#include "tools/terminal/Failure.h"

#include <algorithm>
#include <cstdio>
#include <flatbuffers/minireflect.h>
#include <fstream>
#include <memory>
#include <vector>

using namespace effc;
using artifact::ProgramT;
using cli::Failure;

// A schema nests its tables five deep; the loader has bounded their number.
static constexpr flatbuffers::uoffset_t kMostDepth = 64, kMostTables = 1u << 31;

namespace {
struct NamedValue {
  std::string path, value; // "entries[2].launches[0].items.tile", "4"
};

/// Lists every field that a program has, those that its schema gets as well.
class FieldLister : public flatbuffers::IterationVisitor {
public:
  std::vector<NamedValue> fields;

private:
  void StartSequence() override { path.emplace_back(); }
  void EndSequence() override { path.pop_back(); }
  void StartVector() override { lists.push_back(path.back()); }
  void EndVector() override { lists.pop_back(); }
  void Field(size_t, size_t, flatbuffers::ElementaryType, bool,
             const flatbuffers::TypeTable *, const char *name,
             const uint8_t *) override {
    path.back() = name;
  }
  void Element(size_t i, flatbuffers::ElementaryType,
               const flatbuffers::TypeTable *, const uint8_t *) override {
    path.back() = lists.back() + "[" + std::to_string(i) + "]";
  }
  void UType(uint8_t value, const char *name) override { named(value, name); }
  void Bool(bool value) override { add(value ? "true" : "false"); }
  void Char(int8_t value, const char *name) override { named(value, name); }
  void UChar(uint8_t value, const char *name) override { named(value, name); }
  void Short(int16_t value, const char *name) override { named(value, name); }
  void UShort(uint16_t value, const char *name) override { named(value, name); }
  void Int(int32_t value, const char *name) override { named(value, name); }
  void UInt(uint32_t value, const char *name) override { named(value, name); }
  void Long(int64_t value) override { add(std::to_string(value)); }
  void ULong(uint64_t value) override { add(std::to_string(value)); }
  void Float(float value) override { Double(value); }
  void Double(double value) override {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    add(text);
  }
  void String(const flatbuffers::String *value) override {
    add("'" + value->str() + "'");
  }

  void named(int64_t value, const char *name) {
    add(name ? name : std::to_string(value));
  }
  void add(std::string value) {
    std::string whole;
    for (const std::string &part : path)
      whole += (whole.empty() ? "" : ".") + part;
    fields.push_back({std::move(whole), std::move(value)});
  }

  std::vector<std::string> path, lists;
};
} // namespace

/// The program of an artifact.
static std::unique_ptr<ProgramT> readProgram(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::vector<uint8_t> start(rt::FileHeader::kBytes), bytes;
  auto read = [&](std::vector<uint8_t> &into) {
    stream.read(reinterpret_cast<char *>(into.data()),
                static_cast<std::streamsize>(into.size()));
  };
  read(start);
  rt::FileHeader header = rt::FileHeader::decode(start.data());
  if (stream && header.programSize <= rt::FileHeader::kMaxProgramBytes) {
    bytes.resize(header.programSize);
    stream.seekg(static_cast<std::streamoff>(header.programOffset));
    read(bytes);
  }
  // Sound when the runtime opened the file, which may have changed since.
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), kMostDepth,
                                 kMostTables);
  if (!stream || bytes.empty() || !artifact::VerifyProgramBuffer(verifier))
    throw Failure("cannot read the plan of '" + path +
                  "', which could be read before");
  return std::unique_ptr<ProgramT>(
      artifact::GetProgram(bytes.data())->UnPack());
}

/// The number of a segment among those of its kind.
static uint32_t numberInKind(const ProgramT &program, uint32_t segment) {
  if (segment >= program.segments.size())
    return segment;
  auto begin = program.segments.begin();
  return static_cast<uint32_t>(
      std::count_if(begin, begin + segment, [&](const auto &other) {
        return other->kind == program.segments[segment]->kind;
      }));
}

/// Takes out what is no part of the host's plan.
static void keepPlan(ProgramT &program) {
  for (auto &kernel : program.kernels)
    for (auto &code : kernel->code)
      code->segment = numberInKind(program, code->segment);
  for (auto &weight : program.weights) {
    // Those of another file lie there as they do.
    if (weight->file)
      weight->row_stride_bytes = 0;
    weight->source.clear();
    weight->offset = weight->size = weight->checksum = 0;
    weight->file = 0;
    weight->file_offset = weight->sample_checksum = 0;
  }
  program.segments.clear();
  program.weight_files.clear();
  program.targets.clear();
  program.provenance.reset();
  program.generation.reset();
  program.parameters = 0;
  program.layout_id = 0;
}

static std::vector<NamedValue> listFields(const ProgramT &program) {
  flatbuffers::FlatBufferBuilder builder;
  builder.ForceDefaults(true);
  builder.Finish(artifact::Program::Pack(builder, &program));
  FieldLister lister;
  flatbuffers::IterateFlatBuffer(builder.GetBufferPointer(),
                                 artifact::ProgramTypeTable(), &lister);
  return std::move(lister.fields);
}

/// "kernel ssd_4, stack_bytes" for "kernels[4].stack_bytes".
static std::string describePlace(const std::string &path,
                                 const ProgramT &program) {
  size_t i = 0, launch = 0;
  int end = 0;
  const char *text = path.c_str();
  if (std::sscanf(text, "entries[%zu].%n", &i, &end) == 1 && end > 0 &&
      i < program.entries.size()) {
    const artifact::EntryT &entry = *program.entries[i];
    std::string place = "entry " + entry.name + ", ";
    text += end;
    end = 0;
    if (std::sscanf(text, "launches[%zu].%n", &launch, &end) == 1 && end > 0 &&
        launch < entry.launches.size()) {
      const std::string &note = entry.launches[launch]->note;
      place += "launch " + std::to_string(launch) +
               (note.empty() ? "" : " (" + note + ")") + ", ";
      text += end;
    }
    return place + text;
  }
  auto named = [&](const char *format, const char *word, const auto &list) {
    end = 0;
    bool is = std::sscanf(path.c_str(), format, &i, &end) == 1 && end > 0 &&
              i < list.size();
    return is ? word + (" " + list[i]->name) + ", " + (path.c_str() + end) : "";
  };
  for (const std::string &place :
       {named("kernels[%zu].%n", "kernel", program.kernels),
        named("states[%zu].%n", "state", program.states),
        named("weights[%zu].%n", "weight", program.weights)})
    if (!place.empty())
      return place;
  return path;
}

std::optional<std::string>
effc::verify::findPlanDifference(const std::string &file,
                                 const std::string &anew) {
  std::unique_ptr<ProgramT> found = readProgram(file),
                            expected = readProgram(anew);
  // A weight of another file has its own stride in neither.
  for (size_t i = 0;
       i < std::min(found->weights.size(), expected->weights.size()); ++i)
    expected->weights[i]->file = found->weights[i]->file;
  keepPlan(*found);
  keepPlan(*expected);
  std::vector<NamedValue> has = listFields(*found),
                          wants = listFields(*expected);
  auto [one, other] =
      std::mismatch(has.begin(), has.end(), wants.begin(), wants.end(),
                    [](const NamedValue &a, const NamedValue &b) {
                      return a.path == b.path && a.value == b.value;
                    });
  if (one == has.end() && other == wants.end())
    return std::nullopt;
  auto hasPath = [](const std::vector<NamedValue> &fields,
                    const NamedValue &field) {
    return std::any_of(
        fields.begin(), fields.end(),
        [&](const NamedValue &other) { return other.path == field.path; });
  };
  // Where the paths differ, one of the two has a field that the other has not.
  bool isMissing =
      one == has.end() || (other != wants.end() && !hasPath(has, *other));
  bool isMore =
      !isMissing && (other == wants.end() || one->path != other->path);
  const std::string &path = isMissing ? other->path : one->path;
  return describePlace(path, isMissing ? *expected : *found) + ": " +
         (isMissing ? "nothing" : one->value) + " in the file, " +
         (isMore ? "nothing" : other->value) + " compiled again";
}
