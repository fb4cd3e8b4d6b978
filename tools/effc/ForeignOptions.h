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
    {"--repetition-penalty", "--repeat-penalty"},
    {"--repeat-last-n", "--repeat-penalty looks at the whole text"},
    {"--mirostat",
     "there is no draw by mirostat: --top-p, --min-p and --typical "
     "leave tokens out"},
    {"--xtc-probability", "there is no draw by XTC: --top-p, --min-p and "
                          "--typical leave tokens out"},
    {"--dry-multiplier", "there is no DRY: --repeat-penalty, "
                         "--presence-penalty and --frequency-penalty weigh "
                         "what was said"},
    {"--dynatemp-range", "--temperature is one number"},
    {"--top-nsigma", "--top-p, --min-p and --typical leave tokens out"},
    {"--grammar", "texts of a grammar: effc run, effc chat, effc sample"},
    {"--json-schema", "texts of a schema: effc run, effc chat, effc sample"},
    {"--max-new-tokens", "-n N"},
    {"--max-tokens", "-n N"},
    {"--list-devices", "effc devices"},
    {"--list", "devices: effc devices; a model is a file, and effc inspect "
               "tells of one"},
    {"-o", "results go to standard output; as a document: --json"},
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_FOREIGNOPTIONS_H
