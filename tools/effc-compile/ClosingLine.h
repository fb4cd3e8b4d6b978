// What a compilation says when it is done.
#ifndef EFFC_TOOLS_EFFCCOMPILE_CLOSINGLINE_H
#define EFFC_TOOLS_EFFCCOMPILE_CLOSINGLINE_H

#include "compiler/CompiledFile.h"
#include "compiler/Compiler.h"

#include <string>

namespace effc::cli {

/// "m.effc: 259 MiB, 134,515,008 parameters, bf16, for host, sm_90a (products of
/// bf16); a sequence takes up to 360 MiB (8,192 tokens)". Of GPUs it says what
/// products multiply, since these round unasked.
std::string closingLine(const CompileOptions &options,
                        const CompiledFile &file);

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFCCOMPILE_CLOSINGLINE_H
