/*===- device.h - Where a compiled model runs ----------------------------===*\
 *
 * A part of effc.h, which includes it: the host, an NVIDIA GPU, a simulated
 * GPU.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_DEVICE_H
#define EFFC_DEVICE_H

#include "effc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct effc_host_options {
  size_t size;
  /* Threads that work, the calling one included; 0: one per usable core (what
   * the process is bound to, and the quotas of its control group and of those
   * above it, rounded down). Results do not depend on it. */
  uint32_t threads;
  /* The level of the instruction set whose code alone runs, "x86-64-v3": the last
   * bits of results are those of a level, the same on every machine that has it.
   * Arm's, "aarch64-dotprod" and "aarch64-i8mm", have those of "x86-64-v3".
   * NULL: what EFFC_HOST_ISA in the environment names, or without it the highest
   * level that a file has code for and the machine runs. */
  const char *isa;
} effc_host_options_t;

EFFC_API effc_host_options_t effc_host_options_default(void);

/* Creates the host as a device: a pool of threads that sleep between calls.
 *
 * EFFC_INVALID_ARGUMENT: more than 1024 threads, or a level that the library
 * does not know.
 * EFFC_UNSUPPORTED: the machine lacks what the level asks for (named).
 * EFFC_EXHAUSTED: the system grants no more threads. */
EFFC_API effc_status_t *
effc_device_create_host(const effc_host_options_t *options,
                        effc_device_t **out_device);

typedef struct effc_sim_options {
  size_t size;
  uint32_t architecture; /* 80: sm_80, 90: sm_90a; 0: the newest that the file
                            has code for */
  uint32_t threads;      /* of the host, as in effc_host_options_t */
} effc_sim_options_t;

EFFC_API effc_sim_options_t effc_sim_options_default(void);

/* Creates a simulated GPU: it runs a GPU's kernels on the host, thread by
 * thread, some thousand times slower than one, and looks at what they do. Out
 * of bounds, misaligned, never written, a race, an operation that not all
 * threads reach: the call that runs the kernel fails with EFFC_DEVICE_ERROR and
 * says which kernel, block, thread and operation it was.
 *
 * EFFC_UNSUPPORTED: the library was built without the simulated GPU, as it is
 * without -DEFFC_INSTALL_SIMULATOR=ON, or runs on another processor than
 * x86-64-v3.
 * EFFC_INVALID_ARGUMENT, EFFC_EXHAUSTED: as effc_device_create_host(). */
EFFC_API effc_status_t *
effc_device_create_sim(const effc_sim_options_t *options,
                       effc_device_t **out_device);

typedef struct effc_cuda_options {
  size_t size;
  uint32_t ordinal; /* which of the GPUs that the driver lists */
} effc_cuda_options_t;

EFFC_API effc_cuda_options_t effc_cuda_options_default(void);

/* Opens a GPU of NVIDIA's through the driver ("libcuda.so.1", or the library
 * that EFFC_CUDA_DRIVER in the environment names), in its primary context.
 * Takes no memory of it yet: an engine does.
 *
 * Where a launch fails on the GPU, the call gives EFFC_DEVICE_ERROR, and so
 * does whatever comes after it: the driver gives such a context up. With
 * EFFC_CUDA_CHECK_LAUNCHES=1 in the environment every launch is waited for, so
 * that the message names it. EFFC_CUDA_OVERLAP=0 keeps a launch from beginning
 * before the one before it has ended, and EFFC_CUDA_GRAPHS=0 has calls of
 * decoding launched anew instead of replayed: a wrong number that goes away
 * with one of them is the fault of what it turns off.
 *
 * A driver that is older than the assembler may refuse a file's modules: its
 * PTX, where there is some for this GPU, is compiled in their place, which
 * effc_engine_note() says. EFFC_CUDA_CODE=ptx in the environment takes PTX in
 * any case.
 *
 * An engine for a file whose products are to go to cuBLASLt (effc compile
 * --dense library) opens "libcublasLt.so.13", ".12", or the library that
 * EFFC_CUBLASLT in the environment names, and takes 32 MiB of the GPU's memory
 * for it; where it is not there, EFFC_UNSUPPORTED says so. EFFC_CUBLASLT=none
 * has the file's own kernels do these products.
 *
 * EFFC_UNSUPPORTED: there is no driver, it is too old (the message has its
 * version and the one needed), or it finds no GPU.
 * EFFC_INVALID_ARGUMENT: there are not so many GPUs. */
EFFC_API effc_status_t *
effc_device_create_cuda(const effc_cuda_options_t *options,
                        effc_device_t **out_device);

/* Fails, with the reason, when `model` has no code or no weights to run on
 * `device`, or needs a library that is not there or more shared memory than a
 * GPU's block has. Costs nothing, but for a
 * model whose products go to cuBLASLt, which is opened to see.
 * EFFC_UNSUPPORTED. */
EFFC_API effc_status_t *effc_device_accepts(const effc_device_t *device,
                                            const effc_model_t *model);

EFFC_API void effc_device_free(effc_device_t *device);

/* Returns how many threads of the host work for it, the calling one included.
 */
EFFC_API uint32_t effc_device_threads(const effc_device_t *device);

/* Returns one line, "host (x86-64-v3, 2 threads)", owned by the device. Of the
 * host it names the highest level that runs here, or the one asked for. That of
 * a simulated GPU names the code that it runs, "sim (sm_90a, played by 2
 * threads)", where it was created for an architecture. */
EFFC_API const char *effc_device_description(const effc_device_t *device);

/* Returns the instruction set of the code that runs, owned by the engine:
 * "x86-64-v4", "sm_90a", "compute_80" of PTX, "sim_90a". */
EFFC_API const char *effc_engine_isa(const effc_engine_t *engine);

/* Returns one line, owned by the engine, of what is not as one would expect of
 * how the model runs: that a GPU's driver refused the file's best code for it
 * and has compiled the file's PTX instead, and why. "" where there is nothing
 * to say. */
EFFC_API const char *effc_engine_note(const effc_engine_t *engine);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* EFFC_DEVICE_H */
