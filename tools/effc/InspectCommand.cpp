// `effc inspect`: what is in a file. Everything shown comes from the document
// of effc_model_describe(), which --json prints as it is.

#include "runtime/include/effc/effc.hpp"
#include "tools/effc/Chips.h"
#include "tools/effc/Commands.h"
#include "tools/effc/Inputs.h"
#include "tools/effc/ModelAccess.h"
#include "tools/effc/ModelWork.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Quantities.h"
#include "tools/terminal/Table.h"
#include "tools/terminal/Terminal.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

using namespace effc;
using namespace effc::cli;
using Json = nlohmann::ordered_json;

namespace {
struct InspectOptions {
  std::string file;
  ModelAccess access;
  bool kernels = false, state = false, check = false, json = false;
  std::optional<std::string> budget;
  std::string flops = "executed";
  std::optional<uint64_t> sequence, chunk; // of published FLOPs
  std::string chip; // empty: the one that a target is named for
};
} // namespace

/// How many sequences fit in `bytes`, from the memory that is known in advance.
static uint64_t sequencesIn(const Json &memory, uint64_t bytes) {
  uint64_t perSession = memory["per_session"];
  uint64_t fixed = uint64_t(memory["weights"]) + uint64_t(memory["arena"]) +
                   uint64_t(memory["logits"]) + uint64_t(memory["tables"]);
  if (bytes < fixed)
    return 0;
  constexpr uint64_t kMost = 1048576; // of one engine
  return perSession ? std::min(kMost, (bytes - fixed) / perSession) : kMost;
}

static std::string shapeOf(const Json &shape) {
  std::string text;
  for (const Json &dimension : shape)
    text +=
        (text.empty() ? "" : "x") + std::to_string(dimension.get<uint64_t>());
  return text;
}

static std::string summary(const std::string &file, const Json &model) {
  std::string text = file + "\n";
  text += "  format " + std::to_string(int(model["format"]["major"])) + "." +
          std::to_string(int(model["format"]["minor"])) + ", " +
          formatBytes(model["file_bytes"]) + "\n";
  text += "  SHA-256 " + model["sha256"].get<std::string>() + "\n";
  if (model.contains("provenance")) {
    const Json &from = model["provenance"];
    auto part = [&](const char *key, const char *before) {
      std::string value = from.value(key, "");
      return value.empty() ? value : before + value;
    };
    text += "  compiled by " + part("compiler", "") +
            part("commit", ", commit ") + part("llvm", ", LLVM ") +
            part("ptxas", ", ptxas ") + "\n";
    std::string options;
    for (const Json &option : from["options"])
      options += " " + option.get<std::string>();
    if (!options.empty())
      text += "  options" + options + "\n";
    for (const Json &source : from["sources"])
      text += "  from " + source["name"].get<std::string>() + ", " +
              formatBytes(source["bytes"]) + ", XXH3 " +
              source["checksum"].get<std::string>() + "\n";
    text += part("family", "  family ") + (from["family"] == "" ? "" : "\n");
  }
  text += "  " + formatCount(model["parameters"]) + " parameters, " +
          formatCount(model["flops_per_token"]) + " FLOPs per token, " +
          formatCount(model["head_flops_per_row"]) +
          " of them for its logits\n";
  text += "  vocabulary " + formatCount(model["vocabulary_size"]) + ", width " +
          formatCount(model["model_width"]) + ", " +
          (model["tokenizer"] ? "with a tokenizer" : "without a tokenizer") +
          "\n";
  for (const Json &chat : model["chat_templates"])
    text += "  chat template '" + chat["name"].get<std::string>() + "', " +
            formatBytes(chat["bytes"]) + "\n";
  uint64_t context = model["max_context"];
  text += "  context " +
          (context ? formatCount(context) + " tokens" : "unbounded") + "\n";
  return text;
}

/// What runs on what: "host", or the name of a target. A module for one chip is
/// listed under the targets that name it.
static std::string targets(const Json &model) {
  Table table;
  const Json &segments = model["segments"];
  for (const Json &segment : segments)
    if (segment["kind"] == "host_code")
      table.add({"host", segment["isa"], formatBytes(segment["bytes"])});
  for (const Json &target : model["targets"]) {
    std::set<size_t> used;
    for (const Json &kernel : target["kernels"])
      for (const Json &where : kernel["code"])
        used.insert(where["segment"].get<size_t>());
    for (size_t index : used)
      table.add({target["name"], segments[index]["isa"],
                 formatBytes(segments[index]["bytes"])});
  }
  return "\ntargets\n" + table.text();
}

/// Of the host, or of the target called `name`.
static std::string entries(const Json &plan, const std::string &name) {
  Table table;
  table.add({"entry", "rows", "chunk", "arena", "launches"});
  for (const Json &entry : plan["entries"])
    table.add({entry["name"], std::to_string(int(entry["rows"])),
               std::to_string(int(entry["chunk"])),
               formatBytes(entry["arena_bytes"]),
               formatCount(entry["launches"])});
  return "\nentry points" + name + "\n" + table.text();
}

static std::string entries(const Json &model) {
  std::string text;
  if (!model["entries"].empty())
    text += entries(model, "");
  for (const Json &target : model["targets"])
    text += entries(target, " of " + target["name"].get<std::string>());
  return text;
}

static std::string memory(const Json &model) {
  const Json &memory = model["memory"];
  Table table;
  table.add(
      {"weights", formatBytes(memory["weights"]), "mapped from the file"});
  uint64_t fixed = memory["fixed_per_session"], perToken = memory["per_token"];
  table.add({"state", formatBytes(memory["per_session"]),
             perToken == 0
                 ? "per sequence"
                 : "per sequence at most: " +
                       (fixed ? formatBytes(fixed) + " and " : "") +
                       formatBytes(perToken) + " a token, as it grows"});
  table.add({"arena", formatBytes(memory["arena"]), "once"});
  table.add({"logits", formatBytes(memory["logits"]), "once, as far as used"});
  table.add({"tables", formatBytes(memory["tables"]), "once"});
  return "\nmemory\n" + table.text();
}

static std::string states(const Json &model) {
  Table table;
  table.add({"state", "kind", "growth", "type", "shape", "bytes"});
  for (const Json &state : model["states"])
    table.add({state["name"], state["kind"], state["growth"], state["type"],
               shapeOf(state["shape"]), formatCount(state["bytes"])});
  return "\nstate of a sequence, layout " +
         model["layout_id"].get<std::string>() + "\n" + table.text();
}

/// "x86-64-v3+64": where a kernel lies; in a driver's module it has no place.
static std::string placesOf(const Json &model, const Json &kernel) {
  std::string text;
  for (const Json &where : kernel["code"]) {
    text += (text.empty() ? "" : ", ") +
            model["segments"][where["segment"].get<size_t>()]["isa"]
                .get<std::string>();
    if (where.contains("offset"))
      text += "+" + std::to_string(where["offset"].get<uint64_t>());
  }
  return text;
}

/// The columns that kernels of the host and of a GPU share: what a launch must
/// move and compute, and in which entry.
static std::vector<std::string> workOf(const Json &kernel) {
  auto orUnknown = [](const Json &number, auto format) {
    return number.is_null() ? "-" : format(number.get<uint64_t>());
  };
  return {kernel["entry"].is_null() ? "-" : kernel["entry"].get<std::string>(),
          orUnknown(kernel["launch_bytes"], formatBytes),
          orUnknown(kernel["launch_flops"], formatCount)};
}

static std::string hostKernels(const Json &model) {
  Table table;
  table.add({"kernel", "operands", "stack", "launches", "code bytes", "entry",
             "bytes", "FLOPs", "code"});
  for (const Json &kernel : model["kernels"]) {
    uint64_t bytes = 0; // of the largest
    for (const Json &where : kernel["code"])
      bytes = std::max(bytes, where["bytes"].get<uint64_t>());
    std::vector<std::string> row = {
        kernel["name"], std::to_string(int(kernel["operands"])),
        formatBytes(kernel["stack_bytes"]), formatCount(kernel["launches"]),
        formatCount(bytes)};
    for (std::string &cell : workOf(kernel))
      row.push_back(std::move(cell));
    row.push_back(placesOf(model, kernel));
    table.add(row);
  }
  return table.text();
}

/// The chip whose ceilings give the floors of a target's kernels.
static const Chip &chipOf(const Json &target, const std::string &asked) {
  if (const Chip *chip = findChip(asked))
    return *chip;
  bool isAmpere =
      target["name"].get<std::string>().find("_80") != std::string::npos;
  return *findChip(isAmpere ? "a100" : "h200");
}

/// The least time of one launch; null where neither bytes nor FLOPs are known.
static Json launchFloor(const Chip &on, const Json &kernel) {
  const Json &bytes = kernel["launch_bytes"], &flops = kernel["launch_flops"];
  if (bytes.is_null() && flops.is_null())
    return {};
  auto orNone = [](const Json &number) {
    return number.is_null() ? 0 : number.get<uint64_t>();
  };
  return floorSeconds(on, orNone(bytes), orNone(flops));
}

/// Adds to each kernel of a GPU the least time of its launches in a decode step
/// of one sequence, and that of one launch.
static void addFloors(Json &model, const std::string &chip) {
  for (Json &target : model["targets"]) {
    const Chip &on = chipOf(target, chip);
    target["chip"] = {{"name", on.name},
                      {"bytes_per_second", on.bytesPerSecond},
                      {"flops_per_second", on.flopsPerSecond},
                      {"source", on.source}};
    for (Json &kernel : target["kernels"]) {
      kernel["step_floor_seconds"] =
          floorSeconds(on, kernel["step_bytes"], kernel["step_flops"]);
      kernel["launch_floor_seconds"] = launchFloor(on, kernel);
    }
  }
}

/// A floor in microseconds; one that rounds to nothing is not shown as none.
static std::string floorText(const Json &seconds) {
  if (seconds.is_null())
    return "-";
  double microseconds = 1e6 * seconds.get<double>();
  return microseconds < 0.001 ? "<0.001" : formatNumber(microseconds);
}

/// "mma 12, ex2 4".
static std::string instructionsOf(const Json &kernel) {
  if (!kernel.contains("instructions"))
    return "-";
  std::string text;
  for (const auto &[name, count] : kernel["instructions"].items())
    text += (text.empty() ? "" : ", ") + name + " " +
            std::to_string(count.get<uint64_t>());
  return text.empty() ? "none of those counted" : text;
}

static std::string targetKernels(const Json &model, const Json &target) {
  auto orUnknown = [](const Json &kernel, const char *key) {
    return kernel.contains(key) ? formatCount(kernel[key]) : "-";
  };
  Table table;
  table.add({"kernel", "operands", "threads", "shared", "registers", "spills",
             "launches", "entry", "bytes", "FLOPs", "floor", "code",
             "instructions"});
  for (const Json &kernel : target["kernels"]) {
    std::vector<std::string> row = {kernel["name"],
                                    std::to_string(int(kernel["operands"])),
                                    std::to_string(int(kernel["threads"])),
                                    formatBytes(kernel["shared_bytes"]),
                                    orUnknown(kernel, "registers"),
                                    orUnknown(kernel, "spill_bytes"),
                                    formatCount(kernel["launches"])};
    for (std::string &cell : workOf(kernel))
      row.push_back(std::move(cell));
    row.push_back(floorText(kernel["launch_floor_seconds"]));
    row.push_back(placesOf(model, kernel));
    row.push_back(instructionsOf(kernel));
    table.add(row);
  }
  return "\nkernels of " + target["name"].get<std::string>() +
         "; spills in bytes of a thread, floors in microseconds on " +
         target["chip"]["name"].get<std::string>() + "\n" + table.text();
}

static std::string kernels(const Json &model) {
  std::string text;
  if (!model["kernels"].empty())
    text += "\nkernels\n" + hostKernels(model);
  for (const Json &target : model["targets"])
    text += targetKernels(model, target);
  return text + "\nbytes and FLOPs are those that one launch in a full call of "
                "'entry' cannot avoid; what passes between kernels is not "
                "counted, '-' is unknown\n";
}

namespace {
/// Shows how far the reading of a file has come.
class ReadingBar {
public:
  explicit ReadingBar(const char *name) : name(name) {}
  static void report(void *user, uint64_t done, uint64_t total) {
    auto &self = *static_cast<ReadingBar *>(user);
    if (!self.bar) // made when the total is known
      self.bar.emplace(self.name, "bytes", total);
    self.bar->update(done);
  }

private:
  const char *name;
  std::optional<Progress> bar;
};
} // namespace

static void checkAll(const Model &model) {
  ReadingBar bar("check");
  check(effc_model_check(model.get(), ReadingBar::report, &bar));
}

static std::string sha256Of(const Model &model) {
  ReadingBar bar("SHA-256");
  char digits[65];
  check(effc_model_sha256(model.get(), ReadingBar::report, &bar, digits));
  return digits;
}

static void inspect(const InspectOptions &options) {
  if (!options.chip.empty() && !options.kernels && !options.json)
    throw UsageError("--chip needs --kernels or --json, which show floors");
  for (auto [name, given] :
       {std::pair("--sequence", options.sequence), {"--chunk", options.chunk}})
    if (given)
      throw UsageError(std::string(name) +
                       " needs --flops published, which counts by it");
  std::optional<uint64_t> budget;
  if (options.budget)
    budget = parseBytes(*options.budget);
  Model model = openModel(options.file, options.access);
  Json json = Json::parse(model.describe());
  json["sha256"] = sha256Of(model);
  addFloors(json, options.chip);
  if (options.check) {
    checkAll(model);
    json["check"] = "ok";
  }
  uint64_t sequences = budget ? sequencesIn(json["memory"], *budget) : 0;
  if (options.json) {
    if (budget)
      json["budget"] = {{"bytes", *budget}, {"sequences", sequences}};
    print(json.dump(2) + "\n");
    return;
  }
  print(summary(options.file, json));
  // Whoever asks for one thing is not shown all the rest.
  if (options.kernels || !(options.state || budget || options.check))
    print(targets(json) + entries(json) + memory(json));
  if (options.state)
    print(states(json));
  if (options.kernels)
    print(kernels(json));
  if (budget)
    print("\nbudget\n  " + formatCount(sequences) +
          " sequences of full length fit in " + formatBytes(*budget) + "\n");
  if (options.check)
    print("\nall checksums match\n");
}

void effc::cli::addInspectCommand(CLI::App &app) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App *command = app.add_subcommand(
      "inspect", "Show what is in a compiled model, or in a GGUF file");
  addModelFile(*command, options->file);
  addModelAccess(*command, options->access);
  command->option_defaults()->group("What to show");
  command->add_flag("--kernels", options->kernels, "List the kernels");
  command
      ->add_option("--chip", options->chip,
                   "Whose ceilings give the floors of kernels (default: a100 "
                   "for sm_80, h200 for sm_90a)")
      ->type_name("CHIP")
      ->check(CLI::IsMember(chipList()));
  command->add_flag("--state", options->state, "List the states of a sequence");
  command->add_flag("--check", options->check,
                    "Compare all checksums, weights included");
  command
      ->add_option("--budget", options->budget,
                   "Say how many sequences of full length fit in so many bytes "
                   "(512M, 1.5G)")
      ->type_name("BYTES");
  command->add_flag("--json", options->json, "Print JSON");
  command->option_defaults()->group("Counting");
  // Published ones are counted by the program that links the compiler: it takes
  // this command's place before the line is read here.
  command
      ->add_option("--flops", options->flops,
                   "Whose FLOPs: 'executed', those that no way of computing "
                   "the model avoids, or 'published', as papers count them")
      ->check(CLI::IsMember({"executed", "published"}));
  command
      ->add_option("--sequence", options->sequence,
                   "With --flops published: tokens of the sequence (default: "
                   "2048)")
      ->check(wholeNumber(1, kMostCounted));
  command
      ->add_option("--chunk", options->chunk,
                   "With --flops published: tokens of a recurrence's chunk "
                   "(default: 64); 0: leave recurrences out")
      ->check(wholeNumber(0, kMostCounted));
  command->footer("effc inspect model.effc --budget 8G\n"
                  "effc inspect model.effc --kernels --state --check");
  command->callback([options] { inspect(*options); });
}
