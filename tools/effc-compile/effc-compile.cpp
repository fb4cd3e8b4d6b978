// `effc compile`: parses options, calls the compiler library, prints what it
// says.
#include "compiler/Compiler.h"
#include "compiler/OutOfMemory.h"
#include "compiler/OutputPlaces.h"
#include "compiler/RemarkFile.h"
#include "compiler/RemarkList.h"
#include "compiler/WeightReport.h"
#include "tools/effc-compile/ClosingLine.h"
#include "tools/effc-compile/GivenRows.h"
#include "tools/effc-compile/ProductChecks.h"
#include "tools/terminal/CommandLine.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Quantities.h"
#include "tools/terminal/SafeText.h"
#include "tools/terminal/Supervision.h"
#include "tools/terminal/Terminal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <optional>

using namespace effc;
using namespace effc::cli;

namespace {

std::vector<std::string> namesOf(llvm::ArrayRef<const Target *> targets) {
  std::vector<std::string> names;
  for (const Target *target : targets)
    names.push_back(target->name.str());
  return names;
}

/// Options as they are typed; checked and turned into CompileOptions by
/// parse().
struct Arguments {
  std::string model, output, weightsFrom, tokenizerFrom, weightsType,
      importance, stateDtype = "f32", products = "usual";
  std::vector<std::string> targets = namesOf(defaultTargets(Products::Usual));
  std::string weights = "embed", dense = "auto", forceForm,
              compileTo = "artifact", dumpPhases, compileFrom, phases;
  std::string remarks, werror;
  std::vector<std::string> allow;
  GivenRows rows;
  std::vector<int64_t> prefillRows = {16, 64, 256};
  int64_t maxBatch = 64, maxContext = 0, sinks = 0, window = 0;
  bool bitStable = true, stripIr = false, noOptimise = false, timing = false,
       noTokenizer = false;
  bool ungroupedNorm = false, noSync = false, reportWeights = false;
  const CLI::Option *bitStableFlag = nullptr, *targetOption = nullptr;
};

/// What the runtime loads at most.
constexpr uint64_t kLongestContext = uint64_t(1) << 48;
/// What a state of all its keys can have at most.
constexpr uint64_t kLongestWindow = uint64_t(1) << 30;

/// What is wrong with a form; empty when nothing is.
std::string checkForm(const std::string &text) {
  return parseForcedForm(text)
             ? ""
             : "expects " + listForcedForms() + ", but got '" + text + "'";
}

std::string listTargets() {
  std::string known;
  for (const Target &target : targets())
    known += (known.empty() ? "" : ", ") + target.name.str();
  return known;
}

/// What is compiled, where to, and for what.
void declareFiles(CLI::App &app, Arguments &a) {
  app.option_defaults()->group("Files and targets");
  app.add_option("MODEL", a.model,
                 "Hugging Face directory, GGUF file, or .mlir file of the seq "
                 "dialect")
      ->required();
  app.add_option("-o,--output", a.output,
                 "The .effc file; with --compile-to the module's file "
                 "(standard output without -o)")
      ->type_name("FILE");
  app.add_option("--weights-from", a.weightsFrom,
                 "Directory that the weights of a .mlir file are in")
      ->type_name("DIR");
  app.add_option("--allow", a.allow,
                 "Keys of config.json, or of a GGUF file's architecture, that "
                 "are left aside though they may "
                 "change the model, which the user answers for")
      ->type_name("KEY,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  a.targetOption =
      app.add_option("--target", a.targets,
                     "What to compile for, one or more: " + listTargets())
          ->type_name("TARGET,...")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->capture_default_str();
}

/// The types in which numbers are kept and multiplied.
void declareNumbers(CLI::App &app, Arguments &a) {
  app.option_defaults()->group("Types of numbers");
  app.add_option("--weights-type,--dtype", a.weightsType,
                 "Type of the stored matrices (default: the checkpoint's), or "
                 "a mix of types as llama-quantize has it, such as q4_k_m. "
                 "GLOB=TYPE is for matrices of such names, in effc or in the "
                 "checkpoint; commas join several. Rows that the blocks of a "
                 "type do not divide get smaller blocks, or stay as they are; "
                 "--remarks says which")
      ->type_name("TYPE")
      ->check(CLI::Validator(
          [](std::string &text) {
            return isWeightsType(text)
                       ? std::string()
                       : "expects " + llvm::join(weightTypes(), ", ") +
                             ", a description of blocks (dialects/storage), or "
                             "GLOB=TYPE, but got '" +
                             text + "'";
          },
          "{" + llvm::join(weightTypes(), ",") + "}"));
  app.add_option("--importance", a.importance,
                 "How much each input of each matrix counts where weights are "
                 "rounded (--weights-type): a file that llama-imatrix has "
                 "written, as GGUF or in the older form. --report-weights then "
                 "shows errors by it too")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  app.add_option("--state-dtype", a.stateDtype,
                 "Type of a sequence's keys, values and matrix states; 16 bits "
                 "halve their memory. Keys and values are rounded when a token "
                 "is made (on GPUs where a call ends), matrix states where a "
                 "call ends, so that results may then differ slightly with "
                 "batching. int8: keys and values alone, on the host, with a "
                 "scale for each head and token")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"f32", "bf16", "f16", "int8"}))
      ->capture_default_str();
  app.add_option(
         "--products", a.products,
         "What products multiply. usual: bf16 on GPUs, exact on the host. "
         "exact: no less than f32 holds; the "
         "host multiplies weights of 4 to 8 bits as integers, by rows "
         "of 24 bits. On the host, int16 and int8: such rows rounded "
         "to 16 and 8 bits, int8 as llama.cpp does; f32: such weights "
         "unpacked; bf16: rows by weights in bf16, rounded to bf16, by "
         "levels that have such products. On GPUs bf16 or f16: rounded, for a "
         "third to a sixth of the instructions; with bf16 and without "
         "--bit-stable what kernels hand on is rounded too where its readers "
         "tolerate it; f16 "
         "loses an eighth of what bf16 does, and is infinite beyond 65504; "
         "tf32: as exact "
         "as f16 with the range of f32, for a third to two thirds. "
         "Sums are f32. Single rows of decode times a weight are exact "
         "on GPUs without --bit-stable")
      ->type_name("TYPE")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(kProducts), std::end(kProducts))))
      ->capture_default_str();
  app.add_flag("--ungrouped-norm", a.ungroupedNorm,
               "Norm all channels of a gated norm together where the model "
               "has groups, as transformers did before release 5");
  declareGivenRows(app, a.rows);
}

/// How much a call and a sequence may hold.
void declareSizes(CLI::App &app, Arguments &a) {
  app.option_defaults()->group("Sizes");
  app.add_option("--max-context", a.maxContext,
                 "Longest text in tokens, for which keys and values have room "
                 "(default: the model's); no effect on a model without them")
      ->type_name("N")
      ->check(wholeNumber(1, kLongestContext));
  CLI::Option *window =
      app.add_option("--window", a.window,
                     "Limit attention to the last N tokens, so that a text may "
                     "be endless (StreamingLLM)")
          ->type_name("N")
          ->check(wholeNumber(1, kLongestWindow));
  app.add_option("--sinks", a.sinks,
                 "First tokens that stay in sight beside --window")
      ->type_name("N")
      ->check(wholeNumber(1, kLongestWindow))
      ->needs(window);
  app.add_option("--prefill-rows", a.prefillRows,
                 "Prompt tokens that one call takes, of one or many sequences: "
                 "a compiled entry for each size, ascending")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false) // what follows may be the model
      ->check(wholeNumber(1, 4096))
      ->capture_default_str();
  app.add_option("--max-batch", a.maxBatch,
                 "Sequences that one decode call advances at most")
      ->type_name("N")
      ->check(wholeNumber(1, 4096))
      ->capture_default_str();
}

/// Ways to the same results.
void declareChoices(CLI::App &app, Arguments &a) {
  app.option_defaults()->group("How it is computed");
  app.add_option(
         "--weights", a.weights,
         "embed: into the .effc file; reference: matrices stay in the "
         "checkpoint's files, which the .effc file names; none: compile "
         "from config.json alone")
      ->type_name("WHERE")
      ->check(CLI::IsMember({"embed", "reference", "none"}))
      ->capture_default_str();
  app.add_option("--dense", a.dense,
                 "Who multiplies by dense weights on GPUs. library: cuBLASLt, "
                 "where operands have 16 bits, a call has 64 rows or more and "
                 "nothing else is fused. auto is generated: neither was timed")
      ->type_name("WHO")
      ->check(CLI::IsMember({"auto", "generated", "library"}))
      ->capture_default_str();
  a.bitStableFlag = app.add_flag(
      "--bit-stable,!--no-bit-stable", a.bitStable,
      "Give the same bits for every batch, cutting of prompts and thread count "
      "(default on the host; given up, with a remark, where --state-dtype "
      "rounds matrix states)");
  app.add_flag("--no-optimise", a.noOptimise,
               "Leave the host's code as it is first written: it compiles "
               "several times as fast and reads prompts at a third of the "
               "speed, with the same bits");
  app.add_option("--force-form", a.forceForm,
                 "Form of every mixer in prefill: step, quadratic, scan or "
                 "chunkwise[:C]")
      ->type_name("FORM")
      ->check(CLI::Validator(checkForm, ""));
}

/// What is left out, and what is shown besides.
void declareResults(CLI::App &app, Arguments &a) {
  app.option_defaults()->group("Results");
  app.add_option("--compile-to", a.compileTo,
                 "Stop after a phase and print its module: import, seq, tile, "
                 "plan, binary, artifact")
      ->type_name("PHASE")
      ->capture_default_str();
  app.add_option("--dump-phases", a.dumpPhases,
                 "Folder that gets the module of every phase")
      ->type_name("DIR");
  auto *from =
      app.add_option(
             "--compile-from", a.compileFrom,
             "Begin behind a phase, with its modules in --phases as "
             "they were written or changed since: import, seq, tile, "
             "plan, binary. Weights, tokenizer and settings are MODEL's")
          ->type_name("PHASE");
  auto *phases = app.add_option("--phases", a.phases,
                                "Folder that --dump-phases has filled, by the "
                                "same options")
                     ->type_name("DIR");
  from->needs(phases);
  phases->needs(from);
  CLI::Option *tokenizer =
      app.add_option("--tokenizer", a.tokenizerFrom,
                     "Directory of the tokenizer's files (default: the "
                     "model's own)")
          ->type_name("DIR");
  app.add_flag("--no-tokenizer", a.noTokenizer,
               "Leave the tokenizer out; token ids then stand for text")
      ->excludes(tokenizer);
  app.add_flag("--strip-ir", a.stripIr,
               "Leave the seq module out of the artifact");
  app.add_flag("--no-sync", a.noSync,
               "Do not wait until the output is on the disk: for "
               "measurements, since a loss of power may lose it");
  app.add_option(
         "--remarks", a.remarks,
         "File that gets every choice and its reason, a line each; - for "
         "standard error, where layers alike share a line")
      ->type_name("FILE");
  app.add_option("--werror", a.werror, "Make remarks of a kind errors")
      ->type_name("KIND")
      ->check(CLI::IsMember({"fallback"}));
  app.add_flag("--report-weights", a.reportWeights,
               "Print what each matrix lost when it was stored in another "
               "type: bits, the error relative in L2, the largest one over the "
               "root mean square, and its share of all squared errors");
  app.add_flag("--timing", a.timing, "Print where the time went");
}

/// In the order in which --help lists them.
void declare(CLI::App &app, Arguments &a) {
  declareFiles(app, a);
  declareSizes(app, a);
  declareNumbers(app, a);
  declareChoices(app, a);
  declareResults(app, a);
  app.footer(
      "effc compile path/to/checkpoint -o model.effc\n"
      "effc compile path/to/checkpoint -o model.effc --target "
      "host,sm_90a\n"
      "effc compile model.mlir --weights-from DIR -o model.effc "
      "--remarks -\n"
      "effc compile path/to/checkpoint -o model.effc --compile-from tile "
      "--phases dump");
}

/// What is wrong with products that go to a library; empty when nothing is.
std::string checkLibrary(const Arguments &a, const CompileOptions &options) {
  if (a.dense != "library")
    return "";
  if (llvm::none_of(options.targets,
                    [](const Target *target) { return target->isForGpus(); }))
    return "--dense library leaves products to cuBLASLt, which runs on GPUs: "
           "expects a target such as sm_80, but got " +
           llvm::join(a.targets, ",");
  if (a.products != "usual" && a.products != "bf16" && a.products != "f16")
    return "--dense library multiplies bf16 by bf16 or f16 by f16, but "
           "activations stay f32 with --products " +
           a.products;
  if (a.bitStable && a.bitStableFlag->count() > 0)
    return "--bit-stable cannot hold with --dense library: a library adds in "
           "another order for other numbers of rows";
  return "";
}

/// Fills `options`; a message means wrong usage.
std::string parse(const Arguments &a, CompileOptions &options) {
  options.targets.clear();
  for (const std::string &name : a.targets) {
    const Target *target = findTarget(name);
    if (!target)
      return "unknown target '" + name +
             "'; this compiler knows: " + listTargets();
    if (llvm::is_contained(options.targets, target))
      return "target '" + name + "' is named twice";
    options.targets.push_back(target);
  }
  if (a.targetOption->count() == 0)
    options.targets = defaultTargets(*findProducts(a.products));
  std::optional<Phase> phase = findPhase(a.compileTo);
  if (!phase)
    return "unknown phase '" + a.compileTo +
           "'; phases are import, seq, tile, plan, binary, artifact";
  if (!a.compileFrom.empty()) {
    options.compileFrom = findPhase(a.compileFrom);
    if (!options.compileFrom || *options.compileFrom == Phase::Artifact)
      return "--compile-from expects import, seq, tile, plan or binary, but "
             "got "
             "'" +
             a.compileFrom + "'";
    if (*phase <= *options.compileFrom)
      return "--compile-from " + a.compileFrom + " begins behind phase '" +
             a.compileFrom + "', but --compile-to " + a.compileTo +
             " ends with or before it";
    options.phases = a.phases;
  }
  if (*phase == Phase::Artifact && (a.output.empty() || a.output == "-"))
    return "an artifact needs a file: -o OUT.effc";
  if (!std::is_sorted(a.prefillRows.begin(), a.prefillRows.end(),
                      std::less_equal<>()))
    return "--prefill-rows expects ascending numbers";
  if (llvm::is_contained(a.bitStableFlag->results(), "true") &&
      llvm::is_contained(a.bitStableFlag->results(), "false"))
    return "expects one of --bit-stable and --no-bit-stable, but got both";
  if (std::string wrong = checkLibrary(a, options); !wrong.empty())
    return wrong;
  options.model = a.model;
  options.weightsFrom = a.weightsFrom;
  options.output = a.output;
  options.weightsType = a.weightsType;
  if (!a.importance.empty() && a.weightsType.empty())
    return "--importance says how weights are rounded, but nothing rounds "
           "them: "
           "expects --weights-type too, such as q4_k_m";
  if (!a.importance.empty() && a.weights == "none")
    return "--importance says how weights are rounded, but --weights none "
           "writes none";
  options.importance = a.importance;
  options.ungroupedNorm = a.ungroupedNorm;
  if (std::string wrong = choose(a.rows, options); !wrong.empty())
    return wrong;
  options.allow = a.allow;
  llvm::sort(options.allow);
  options.allow.erase(llvm::unique(options.allow), options.allow.end());
  if (llvm::is_contained(options.allow, ""))
    return "--allow expects keys of config.json, but got an empty one";
  options.sinks = a.sinks;
  options.window = a.window;
  if (a.weights == "reference")
    options.weights = codegen::WeightsMode::Reference;
  else if (a.weights == "none")
    options.weights = codegen::WeightsMode::None;
  if (a.reportWeights && *phase != Phase::Artifact)
    return "--report-weights measures what is written: expects --compile-to "
           "artifact, but got " +
           a.compileTo;
  if (a.reportWeights && a.weights == "none")
    return "--report-weights measures what is written, but --weights none "
           "writes no weights";
  options.compileTo = *phase;
  options.dumpPhases = a.dumpPhases;
  options.tokenizer = !a.noTokenizer;
  options.tokenizerFrom = a.tokenizerFrom;
  options.stripIr = a.stripIr;
  options.durable = !a.noSync;
  options.fallbackIsError = a.werror == "fallback";
  options.timing = a.timing;
  options.pipeline.prefillRows.assign(a.prefillRows.begin(),
                                      a.prefillRows.end());
  options.pipeline.decodeRows = decodeRowsFor(a.maxBatch);
  options.pipeline.maxContext = a.maxContext;
  options.pipeline.stateStorage = *findStateStorage(a.stateDtype);
  for (const Target *target : options.targets)
    if (options.pipeline.stateStorage == StateStorage::Int8 &&
        target->device != tile::Device::Host)
      return "--state-dtype int8 is for the host alone, but got " +
             target->name.str() +
             ": expects f16 or bf16 for GPUs, or a file of its own for the "
             "host";
  options.pipeline.products = *findProducts(a.products);
  options.pipeline.libraryProducts = a.dense == "library";
  options.pipeline.forceForm = parseForcedForm(a.forceForm);
  options.pipeline.optimised = !a.noOptimise;
  if (a.noOptimise && llvm::none_of(options.targets, [](const Target *target) {
        return target->device == tile::Device::Host;
      }))
    return "--no-optimise is for the host's code, but got " +
           options.targets.front()->name.str() +
           ": expects a target of the host, or code of GPUs without it";
  options.pipeline.bitStable = a.bitStable;
  options.pipeline.bitStableOnGpu = a.bitStable && a.bitStableFlag->count() > 0;
  return checkProducts(options);
}

/// Throws Failure where `error` is one.
void check(llvm::Error error) {
  if (error)
    throw Failure(llvm::toString(std::move(error)));
}

/// Choices that are not what was asked for, or not the fast one, and what is not
/// followed: each kind once, with the place that had it first and the entries that have it.
class Fallbacks {
public:
  void add(llvm::StringRef where, llvm::StringRef text) {
    if (!all.insert((where + ": " + text).str()).second)
      return;
    text.consume_front("fallback: ");
    text.consume_front("warning: ");
    // "form in prefill_16: step instead of ...": alike in every entry.
    std::string entry;
    if (text.consume_front(kForm)) {
      auto [name, rest] = text.split(": ");
      entry = name.str();
      text = rest;
    }
    auto [place, isNew] =
        kinds.try_emplace({entry.empty() ? "" : kForm, text.str()});
    Kind &kind = place->second;
    if (isNew)
      kind.first = where.str();
    kind.places.insert(where);
    if (!entry.empty() && !llvm::is_contained(kind.entries, entry))
      kind.entries.push_back(entry);
  }
  void print() const {
    if (all.empty())
      return;
    constexpr size_t kShown = 4;
    size_t shown = 0;
    for (const auto &[text, kind] : kinds) {
      if (++shown > kShown)
        break;
      size_t count = kind.places.size();
      printWarning(kind.first + (kind.first.empty() ? "" : ": ") + text.first +
                   llvm::join(kind.entries, ", ") +
                   (kind.entries.empty() ? "" : ": ") + text.second +
                   (count > 1
                        ? " (here and in " + formatCount(count - 1) +
                              (count > 2 ? " other places)" : " other place)")
                        : ""));
    }
    printNote(formatCount(all.size()) +
              (all.size() == 1 ? " choice is" : " choices are") +
              " not what was asked for or not the fast one: see '--remarks -'");
  }

private:
  static constexpr const char *kForm = "form in ";
  struct Kind {
    std::string first; // of the places
    llvm::StringSet<> places;
    std::vector<std::string> entries;
  };
  llvm::StringSet<> all;
  std::map<std::pair<std::string, std::string>, Kind> kinds;
};

void compileInto(const CompileOptions &options, const std::string &remarks,
                 bool reportWeights) {
  check(checkOutputPlaces(options, remarks));
  RemarkFile file;
  check(file.open(remarks));
  CompileEvents events;
  Fallbacks fallbacks;
  RemarkList list(namesOf(targetsWithPlans(options.targets)));
  if (!remarks.empty()) {
    events.target = [&](llvm::StringRef target) { list.setTarget(target); };
    events.remark = [&](llvm::StringRef where, llvm::StringRef text) {
      list.add(where, text);
    };
  } else
    events.fallback = [&](llvm::StringRef where, llvm::StringRef text) {
      fallbacks.add(where, text);
    };
  std::optional<CompiledFile> written;
  events.written = [&](const CompiledFile &file) { written = file; };
  std::optional<Progress> progress; // made when the total is known
  events.weights = [&](uint64_t done, uint64_t total) {
    if (!progress)
      progress.emplace("weights", "elements", total);
    progress->update(done);
  };
  WeightReport report;
  if (reportWeights)
    events.loss = [&](llvm::StringRef weight, llvm::StringRef from,
                      llvm::StringRef as, const codegen::WeightLoss &loss) {
      report.add(withoutControls(weight.str()), from, as, loss);
    };
  llvm::Error error = compile(options, events);
  // A file is for programs, which find each remark; names come from files, and
  // standard error may be a terminal.
  bool isShown = remarks == "-";
  for (const std::string &line : isShown ? list.groupedLines() : list.lines())
    file.write("remark: " + (isShown ? withoutControls(line) : line) + "\n");
  llvm::Error closing = file.close();
  if (error) {
    llvm::consumeError(std::move(closing));
    check(std::move(error));
  } else {
    check(std::move(closing));
  }
  fallbacks.print();
  print(report.table());
  if (written)
    llvm::errs() << withoutControls(closingLine(options, *written)) << "\n";
}

/// What CLI11 says of a program's arguments, without its own name.
std::vector<std::string> argumentsOf(int argc, char **argv) {
  return {argv + (argc > 0), argv + argc};
}

int run(int argc, char **argv) {
  CLI::App app("Compile a model into one .effc file", "effc compile");
  app.set_version_flag("--version", "effc " + getVersion().str() + " (commit " +
                                        getCommit().str() +
                                        ", LLVM " LLVM_VERSION_STRING ")");
  Arguments arguments;
  declare(app, arguments);
  if (!readCommandLine(app, "effc compile", argumentsOf(argc, argv)))
    return kDone;
  CompileOptions options;
  if (std::string message = parse(arguments, options); !message.empty())
    throw UsageError(message);
  supervise();
  compileInto(options, arguments.remarks, arguments.reportWeights);
  return kDone;
}

} // namespace

int main(int argc, char **argv) {
  endWhenOutOfMemory(kFailed);
  return runMain("effc compile --help", run, argc, argv);
}
