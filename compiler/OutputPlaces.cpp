// Compares every place that is written with every file that is read.
#include "compiler/OutputPlaces.h"

#include "codegen/artifact/OutputFile.h"
#include "compiler/PhaseFiles.h"
#include "llvm/Support/FileSystem.h"

#include <filesystem>

using namespace llvm;
using namespace effc;
namespace fs = std::filesystem;

namespace {
struct Place {
  std::string path;
  std::string what; // "the output"
};
} // namespace

/// The path that writing to `path` writes, which need not exist.
static fs::path resolve(const std::string &path) {
  std::error_code ignored; // then the path stands for itself
  fs::path absolute = fs::absolute(path, ignored);
  fs::path resolved = fs::weakly_canonical(absolute, ignored);
  return resolved.empty() ? absolute : resolved;
}

static bool isSameFile(const std::string &a, const std::string &b) {
  return sys::fs::equivalent(a, b) || resolve(a) == resolve(b);
}

/// What a folder holds that a model is read from. Everything of these two kinds
/// counts: which of them are read is known only when they have been read.
static void addFilesOf(const std::string &folder,
                       std::vector<std::string> &files) {
  std::error_code ignored; // a folder that cannot be listed cannot be read
  for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end;
       at.increment(ignored))
    if (at->path().extension() == ".json" ||
        at->path().extension() == ".safetensors")
      files.push_back(at->path().string());
}

static std::vector<Place> listPlaces(const CompileOptions &options,
                                     StringRef remarks) {
  std::vector<Place> places;
  if (!options.output.empty() && options.output != "-")
    places.push_back({options.output, "the output"});
  if (!remarks.empty() && remarks != "-")
    places.push_back({remarks.str(), "the file of remarks"});
  auto runs = [&](Phase phase) {
    return !options.compileFrom || phase > *options.compileFrom;
  };
  if (!options.dumpPhases.empty())
    for (const PhaseInfo &info : kPhases)
      if (!info.dumpFile.empty() && runs(info.phase))
        places.push_back(
            {(fs::path(options.dumpPhases) / info.dumpFile.str()).string(),
             ("the module of phase " + info.name).str()});
  return places;
}

static Error refusal(StringRef path, const Twine &reason) {
  return createStringError("cannot write " + path + ": " + reason);
}

Error effc::checkOutputPlaces(const CompileOptions &options,
                              StringRef remarks) {
  std::vector<std::string> folders, files;
  if (sys::fs::is_directory(options.model))
    folders.push_back(options.model);
  else
    files.push_back(options.model);
  if (!options.weightsFrom.empty())
    folders.push_back(options.weightsFrom);
  if (!options.tokenizerFrom.empty())
    folders.push_back(options.tokenizerFrom);
  for (const std::string &folder : folders)
    addFilesOf(folder, files);
  if (!options.importance.empty())
    files.push_back(options.importance);
  // The modules that are gone on from are what is compiled.
  if (options.compileFrom)
    for (const Target *target : options.targets)
      files.push_back(
          phaseFile(options.phases, options, *target, *options.compileFrom));

  std::vector<Place> places = listPlaces(options, remarks);
  for (const Place &place : places)
    for (const std::string &file : files)
      if (isSameFile(place.path, file))
        return refusal(place.path, "it is a file of the model");
  for (size_t i = 0; i < places.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (isSameFile(places[i].path, places[k].path))
        return refusal(places[i].path, "it is " + places[k].what + " and " +
                                           places[i].what + " at once");

  for (const std::string &folder : folders) {
    if (!options.dumpPhases.empty() && isSameFile(options.dumpPhases, folder))
      return refusal(options.dumpPhases,
                     "modules of phases do not go into the model's folder");
    if (!remarks.empty() && remarks != "-" &&
        isSameFile(resolve(remarks.str()).parent_path().string(), folder))
      return refusal(remarks, "remarks do not go into the model's folder");
  }
  // What is made here goes again. The others are opened before anything is
  // compiled.
  if (!options.output.empty() && options.output != "-")
    return codegen::OutputFile::create(options.output).takeError();
  return Error::success();
}
