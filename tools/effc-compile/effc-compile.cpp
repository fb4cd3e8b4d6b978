// `effc compile`: parses options, calls the compiler library, prints what it
// says.
#include "compiler/Compiler.h"
#include "compiler/OutputPlaces.h"
#include "compiler/RemarkFile.h"
#include "tools/terminal/Failure.h"
#include "tools/terminal/OptionChecks.h"
#include "tools/terminal/Progress.h"
#include "tools/terminal/Terminal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>

using namespace effc;
using namespace effc::cli;

namespace {

/// Options as they are typed; checked and turned into CompileOptions by
/// parse().
struct Arguments {
  std::string model, output, weightsFrom, dtype, stateDtype = "f32",
                                                 products = "f32";
  std::vector<std::string> targets = {"host"};
  std::string weights = "embed", dense = "auto", forceForm,
              compileTo = "artifact", dumpPhases;
  std::string remarks, werror;
  std::vector<int64_t> prefillRows = {16, 64, 256};
  int64_t maxBatch = 64, maxContext = 0, sinks = 0, window = 0;
  bool bitStable = true, stripIr = false, timing = false, noTokenizer = false;
  bool ungroupedNorm = false;
  const CLI::Option *bitStableFlag = nullptr;
};

/// What the runtime loads at most.
constexpr uint64_t kLongestContext = uint64_t(1) << 48;
/// What a state of all its keys can have at most.
constexpr uint64_t kLongestWindow = uint64_t(1) << 30;

/// What is wrong with a form; empty when nothing is.
std::string checkForm(const std::string &text) {
  auto [name, chunk] = llvm::StringRef(text).split(':');
  int64_t length = 1;
  bool hasChunk = llvm::StringRef(text).contains(':');
  bool good = (name == "step" || name == "quadratic" || name == "scan")
                  ? !hasChunk
                  : name == "chunkwise" &&
                        (!hasChunk || !chunk.getAsInteger(10, length));
  if (good && length >= 1 && length <= 1024)
    return "";
  return "expects step, quadratic, scan or chunkwise[:C] with C in 1..1024, "
         "but got "
         "'" +
         text + "'";
}

std::string listTargets() {
  std::string known;
  for (const Target &target : kTargets)
    known += (known.empty() ? "" : ", ") + target.name.str();
  return known;
}

/// What is compiled, where to, and for what.
void declareFiles(CLI::App &app, Arguments &a) {
  app.add_option("MODEL", a.model,
                 "Hugging Face directory, or a .mlir file of the seq dialect")
      ->required();
  app.add_option("-o,--output", a.output,
                 "the .effc file; with --compile-to the module's file "
                 "(default: standard output)");
  app.add_option("--weights-from", a.weightsFrom,
                 "directory that the weights of a .mlir file are in");
  app.add_option("--target", a.targets,
                 "what to compile for, one or more: " + listTargets())
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
}

/// The types in which numbers are kept and multiplied.
void declareNumbers(CLI::App &app, Arguments &a) {
  app.add_option("--dtype", a.dtype,
                 "type of the stored matrices (default: the checkpoint's)")
      ->check(CLI::IsMember({"f32", "bf16", "f16"}));
  app.add_flag(
      "--ungrouped-norm", a.ungroupedNorm,
      "gated norms take one mean over all channels where the model has "
      "one per group, as releases of the public library before 5 do");
  app.add_option("--state-dtype", a.stateDtype,
                 "type in which matrix states are kept between calls; with "
                 "bf16 results depend on how prompts are cut and packed")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
  app.add_option("--products", a.products,
                 "what GPUs multiply: f32 as they are, rounded to bf16 or f16 "
                 "for a third to a sixth of the instructions (f16 loses an "
                 "eighth of what bf16 does, and is infinite beyond 65504), or "
                 "rounded to tf32 for a third to two thirds (as exact as f16, "
                 "with the range of f32); sums are f32, and exact stay the "
                 "host and, without --bit-stable, single rows of decode times "
                 "a weight")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(kProducts), std::end(kProducts))))
      ->capture_default_str();
}

/// How much a call and a sequence may hold.
void declareSizes(CLI::App &app, Arguments &a) {
  app.add_option("--prefill-rows", a.prefillRows,
                 "rows of each prefill entry, ascending")
      ->delimiter(',')
      ->allow_extra_args(false) // what follows may be the model
      ->check(wholeNumber(1, 4096))
      ->capture_default_str();
  app.add_option("--max-batch", a.maxBatch,
                 "sequences of the largest decode entry")
      ->check(wholeNumber(1, 4096))
      ->capture_default_str();
  app.add_option("--max-context", a.maxContext,
                 "positions that states which grow with the text are made "
                 "for (default: the model's); no effect on a model without "
                 "such states")
      ->check(wholeNumber(1, kLongestContext));
  CLI::Option *window =
      app.add_option("--window", a.window,
                     "tokens, its own included, that a token sees in layers "
                     "which see more of them in the model; texts are then as "
                     "long as one likes (StreamingLLM)")
          ->check(wholeNumber(1, kLongestWindow));
  app.add_option("--sinks", a.sinks,
                 "first tokens that stay in sight beside --window")
      ->check(wholeNumber(1, kLongestWindow))
      ->needs(window);
}

/// Ways to the same results.
void declareChoices(CLI::App &app, Arguments &a) {
  app.add_option(
         "--weights", a.weights,
         "embed: into the .effc file; reference: matrices stay in the "
         "checkpoint's files, which the .effc file names; none: compile "
         "from config.json alone")
      ->check(CLI::IsMember({"embed", "reference", "none"}))
      ->capture_default_str();
  app.add_option(
         "--dense", a.dense,
         "code of dense products: library leaves those of 16 bits, of 64 "
         "rows or more and alone in their kernels, to cuBLASLt where a "
         "GPU runs them; auto is generated, since neither has been "
         "timed")
      ->check(CLI::IsMember({"auto", "generated", "library"}))
      ->capture_default_str();
  a.bitStableFlag = app.add_flag(
      "--bit-stable,!--no-bit-stable", a.bitStable,
      "same bits for every batch, piece length and thread count (default on "
      "the host; given up, with a remark, where --state-dtype is bf16)");
  app.add_option("--force-form", a.forceForm,
                 "form of every mixer in prefill: step, quadratic, scan or "
                 "chunkwise[:C]")
      ->check(CLI::Validator(checkForm, "FORM"));
}

/// What is left out, and what is shown besides.
void declareResults(CLI::App &app, Arguments &a) {
  app.add_option("--compile-to", a.compileTo,
                 "stop after a phase and print its module: import, seq, tile, "
                 "plan, binary, artifact")
      ->capture_default_str();
  app.add_option("--dump-phases", a.dumpPhases,
                 "folder that gets the module of every phase");
  app.add_flag("--no-tokenizer", a.noTokenizer,
               "leave the tokenizer out; token ids then stand for text");
  app.add_flag("--strip-ir", a.stripIr,
               "leave the seq module out of the artifact");
  app.add_option(
      "--remarks", a.remarks,
      "file that gets every choice and its reason; - for standard error");
  app.add_option("--werror", a.werror,
                 "make remarks of a kind errors: fallback")
      ->check(CLI::IsMember({"fallback"}));
  app.add_flag("--timing", a.timing, "print where the time went");
}

/// In the order in which --help lists them.
void declare(CLI::App &app, Arguments &a) {
  declareFiles(app, a);
  declareNumbers(app, a);
  declareSizes(app, a);
  declareChoices(app, a);
  declareResults(app, a);
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
  if (a.products != "bf16" && a.products != "f16")
    return "--dense library multiplies bf16 by bf16 or f16 by f16, but "
           "activations stay f32 without --products bf16 or f16";
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
  std::optional<Phase> phase = findPhase(a.compileTo);
  if (!phase)
    return "unknown phase '" + a.compileTo +
           "'; phases are import, seq, tile, plan, binary, artifact";
  if (*phase == Phase::Artifact && (a.output.empty() || a.output == "-"))
    return "an artifact needs a file: -o OUT.effc";
  if (!std::is_sorted(a.prefillRows.begin(), a.prefillRows.end(),
                      std::less_equal<>()))
    return "--prefill-rows expects ascending numbers";
  if (llvm::is_contained(a.bitStableFlag->results(), "true") &&
      llvm::is_contained(a.bitStableFlag->results(), "false"))
    return "expects one of --bit-stable and --no-bit-stable, but got both";
  if (a.bitStable && a.bitStableFlag->count() > 0 && a.stateDtype == "bf16")
    return "--bit-stable cannot hold with --state-dtype bf16: a state is "
           "rounded where a call ends, so that results depend on how prompts "
           "are cut and packed";
  if (a.products != "f32" &&
      llvm::none_of(options.targets, [](const Target *target) {
        return target->device == tile::Device::Nvptx;
      }))
    return "--products " + a.products +
           " rounds what GPUs multiply, but the target is host";
  if (std::string wrong = checkLibrary(a, options); !wrong.empty())
    return wrong;
  options.model = a.model;
  options.weightsFrom = a.weightsFrom;
  options.output = a.output;
  options.dtype = a.dtype;
  options.ungroupedNorm = a.ungroupedNorm;
  options.sinks = a.sinks;
  options.window = a.window;
  if (a.weights == "reference")
    options.weights = codegen::WeightsMode::Reference;
  else if (a.weights == "none")
    options.weights = codegen::WeightsMode::None;
  options.compileTo = *phase;
  options.dumpPhases = a.dumpPhases;
  options.tokenizer = !a.noTokenizer;
  options.stripIr = a.stripIr;
  options.fallbackIsError = a.werror == "fallback";
  options.timing = a.timing;
  options.pipeline.prefillRows.assign(a.prefillRows.begin(),
                                      a.prefillRows.end());
  options.pipeline.decodeRows = decodeRowsFor(a.maxBatch);
  options.pipeline.maxContext = a.maxContext;
  options.pipeline.stateStorage =
      a.stateDtype == "bf16" ? StateStorage::BF16 : StateStorage::F32;
  options.pipeline.products = *findProducts(a.products);
  options.pipeline.libraryProducts = a.dense == "library";
  options.pipeline.forceForm = a.forceForm;
  options.pipeline.bitStable = a.bitStable;
  options.pipeline.bitStableOnGpu = a.bitStable && a.bitStableFlag->count() > 0;
  return "";
}

/// Throws Failure where `error` is one.
void check(llvm::Error error) {
  if (error)
    throw Failure(llvm::toString(std::move(error)));
}

void compileInto(const CompileOptions &options, const std::string &remarks) {
  check(checkOutputPlaces(options, remarks));
  RemarkFile file;
  check(file.open(remarks));
  CompileEvents events;
  llvm::StringSet<> fallbacks;
  auto lineOf = [](llvm::StringRef where, llvm::StringRef text) {
    return (where + (where.empty() ? "" : ": ") + text + "\n").str();
  };
  if (!remarks.empty())
    events.remark = [&](llvm::StringRef where, llvm::StringRef text) {
      file.write("remark: " + lineOf(where, text));
    };
  else
    events.fallback = [&](llvm::StringRef where, llvm::StringRef text) {
      fallbacks.insert(lineOf(where, text));
    };
  std::optional<Progress> progress; // made when the total is known
  events.weights = [&](uint64_t done, uint64_t total) {
    if (!progress)
      progress.emplace("weights", "elements", total);
    progress->update(done);
  };
  llvm::Error error = compile(options, events);
  llvm::Error closing = file.close();
  if (error) {
    llvm::consumeError(std::move(closing));
    check(std::move(error));
  }
  check(std::move(closing));
  if (!fallbacks.empty())
    llvm::errs() << "effc: note: " << fallbacks.size()
                 << (fallbacks.size() == 1 ? " choice is" : " choices are")
                 << " not what was asked for or not the fast one: see "
                    "'--remarks -'\n";
}

/// Returns whether there is something to compile.
bool parseCommandLine(CLI::App &app, int argc, char **argv) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success &success) {
    app.exit(success);
    return false;
  } catch (const CLI::ParseError &error) {
    throw UsageError(error.what());
  }
}

void run(int argc, char **argv) {
  CLI::App app("Compiles a model into one .effc file", "effc compile");
  app.set_version_flag("--version", "effc " + getVersion().str() + " (commit " +
                                        getCommit().str() +
                                        ", LLVM " LLVM_VERSION_STRING ")");
  Arguments arguments;
  declare(app, arguments);
  if (!parseCommandLine(app, argc, argv))
    return;
  CompileOptions options;
  if (std::string message = parse(arguments, options); !message.empty())
    throw UsageError(message);
  compileInto(options, arguments.remarks);
}

} // namespace

int main(int argc, char **argv) {
  try {
    run(argc, argv);
    return kDone;
  } catch (const UsageError &error) {
    printError(error.what());
    printNote("see effc compile --help");
    return kWrongUsage;
  } catch (const std::bad_alloc &) {
    printError("out of memory");
    return kFailed;
  } catch (const std::exception &error) {
    printError(error.what());
    return kFailed;
  }
}
