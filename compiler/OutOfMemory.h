// How a program of the compiler ends when memory runs out.
#ifndef EFFC_COMPILER_OUTOFMEMORY_H
#define EFFC_COMPILER_OUTOFMEMORY_H

namespace effc {

/// From now on an allocation that fails ends the process: one line on standard
/// error, "effc: error: out of memory", the status `status`, and what LLVM
/// removes on signals is removed. LLVM and MLIR are built without exceptions, so
/// that std::bad_alloc would end the process in their code with a dump of the
/// stack; so no destructor runs. For a whole process, of one thread or more.
void endWhenOutOfMemory(int status);

} // namespace effc

#endif // EFFC_COMPILER_OUTOFMEMORY_H
