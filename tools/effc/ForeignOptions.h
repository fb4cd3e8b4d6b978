// What users of other engines type out of habit, and what effc has in its place.
#ifndef EFFC_TOOLS_EFFC_FOREIGNOPTIONS_H
#define EFFC_TOOLS_EFFC_FOREIGNOPTIONS_H

#include "tools/terminal/CommandLine.h"

namespace effc::cli {

/// Options of llama.cpp, Ollama and the Hugging Face library that have no
/// namesake here.
inline constexpr ForeignOption kForeignOptions[] = {
    {"-c", "the context is fixed when a model is compiled: effc compile "
           "--max-context N"},
    {"--ctx-size", "the context is fixed when a model is compiled: effc "
                   "compile --max-context N"},
    {"-ngl", "a model runs on one device as a whole: --device"},
    {"--gpu-layers", "a model runs on one device as a whole: --device"},
    {"--n-gpu-layers", "a model runs on one device as a whole: --device"},
    {"-b", "rows of a call are fixed when a model is compiled: effc compile "
           "--prefill-rows"},
    {"-ub", "rows of a call are fixed when a model is compiled: effc compile "
            "--prefill-rows"},
    {"-np", "several continuations of one prompt: --samples N"},
    {"--mlock", "weights are mapped; to read them into memory: --copy"},
    {"--no-mmap", "to read weights into memory: --copy"},
    {"-hf", "effc reads local files: download the checkpoint, then effc "
            "compile DIR -o FILE"},
    {"--presence-penalty", "what was said before is weighed by "
                           "--repeat-penalty alone, as repetition_penalty is"},
    {"--frequency-penalty", "what was said before is weighed by "
                            "--repeat-penalty alone, as repetition_penalty "
                            "is"},
    {"--max-new-tokens", "-n N"},
    {"--max-tokens", "-n N"},
    {"--list-devices", "effc devices"},
    {"--list", "devices: effc devices; a model is a file, and effc inspect "
               "tells of one"},
    {"-o", "results go to standard output; as a document: --json"},
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_FOREIGNOPTIONS_H
