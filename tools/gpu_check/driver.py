"""The CUDA driver by ctypes: what it takes to load PTX, start kernels and time them. No toolkit is needed."""
import ctypes
import struct
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

# Codes after which nothing works in this process any more: the context is lost.
LOST = {4, 46, 100, 201, 214, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 720, 999}

JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES = 5, 6
SM_COUNT, CLOCK_KHZ, MEMORY_CLOCK_KHZ, BUS_BITS, L2_BYTES = 16, 13, 36, 37, 38
MAJOR, MINOR, SHARED_PER_SM, SHARED_PER_BLOCK = 75, 76, 81, 97
MAX_DYNAMIC_SHARED = 8
CLUSTER_DIMENSION, PROGRAMMATIC_SERIALIZATION = 4, 6
CAPTURE_RELAXED = 2
NON_BLOCKING = 1


class CudaError(Exception):
    """What the driver refused, and whether anything more can be asked of it in this process."""

    def __init__(self, message: str, code: int = 0):
        super().__init__(message)
        self.lost = code in LOST


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute: an id, four bytes of padding, a union of 64 bytes."""
    _fields_ = [("id", c_uint), ("pad", c_uint), ("value", c_uint * 16)]


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""
    _fields_ = [("grid_x", c_uint), ("grid_y", c_uint), ("grid_z", c_uint), ("block_x", c_uint), ("block_y", c_uint), ("block_z", c_uint),
                ("shared_bytes", c_uint), ("stream", c_void_p), ("attributes", POINTER(LaunchAttribute)), ("count", c_uint)]


# Name in libcuda -> types of arguments. All return a CUresult. Device pointers are 64-bit numbers, handles are void pointers.
SIGNATURES = {
    "cuInit": [c_uint],
    "cuGetErrorName": [c_int, POINTER(c_char_p)],
    "cuGetErrorString": [c_int, POINTER(c_char_p)],
    "cuDriverGetVersion": [POINTER(c_int)],
    "cuDeviceGet": [POINTER(c_int), c_int],
    "cuDeviceGetName": [c_char_p, c_int, c_int],
    "cuDeviceGetAttribute": [POINTER(c_int), c_int, c_int],
    "cuDeviceTotalMem_v2": [POINTER(c_size_t), c_int],
    "cuDevicePrimaryCtxRetain": [POINTER(c_void_p), c_int],
    "cuCtxSetCurrent": [c_void_p],
    "cuCtxSynchronize": [],
    "cuModuleLoadDataEx": [POINTER(c_void_p), c_void_p, c_uint, POINTER(c_int), POINTER(c_void_p)],
    "cuModuleGetFunction": [POINTER(c_void_p), c_void_p, c_char_p],
    "cuFuncSetAttribute": [c_void_p, c_int, c_int],
    "cuMemAlloc_v2": [POINTER(c_uint64), c_size_t],
    "cuMemFree_v2": [c_uint64],
    "cuMemsetD32Async": [c_uint64, c_uint, c_size_t, c_void_p],
    "cuMemcpyHtoD_v2": [c_uint64, c_void_p, c_size_t],
    "cuMemcpyDtoH_v2": [c_void_p, c_uint64, c_size_t],
    "cuLaunchKernel": [c_void_p, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_void_p, POINTER(c_void_p), POINTER(c_void_p)],
    "cuLaunchKernelEx": [POINTER(LaunchConfig), c_void_p, POINTER(c_void_p), POINTER(c_void_p)],
    "cuStreamCreate": [POINTER(c_void_p), c_uint],
    "cuStreamSynchronize": [c_void_p],
    "cuStreamBeginCapture_v2": [c_void_p, c_int],
    "cuStreamEndCapture": [c_void_p, POINTER(c_void_p)],
    "cuGraphInstantiateWithFlags": [POINTER(c_void_p), c_void_p, c_uint64],
    "cuGraphLaunch": [c_void_p, c_void_p],
    "cuGraphExecDestroy": [c_void_p],
    "cuGraphDestroy": [c_void_p],
    "cuEventCreate": [POINTER(c_void_p), c_uint],
    "cuEventRecord": [c_void_p, c_void_p],
    "cuEventSynchronize": [c_void_p],
    "cuEventElapsedTime": [POINTER(c_float), c_void_p, c_void_p],
    # The map, data type, rank, address, extents, strides, box, steps, interleave, swizzle, promotion, fill.
    "cuTensorMapEncodeTiled": [c_void_p, c_int, c_uint, c_uint64, POINTER(c_uint64), POINTER(c_uint64), POINTER(c_uint), POINTER(c_uint),
                               c_int, c_int, c_int, c_int],
}


class Arguments:
    """What a kernel is called with: each value is kept alive beside the pointer to it."""

    def __init__(self, values: list):
        self.values = values
        self.pointers = (c_void_p * len(values))(*(ctypes.cast(ctypes.pointer(value), c_void_p) for value in values))


class Kernel:
    """A function of a loaded module."""

    def __init__(self, gpu: "Gpu", function: c_void_p):
        self.gpu, self.function = gpu, function
        self.shared_limit = 0

    def launch(self, grid: int, block: int, arguments: Arguments, shared: int = 0, cluster: int = 0, programmatic: bool = False) -> None:
        """Into the stream; does not wait."""
        gpu = self.gpu
        if shared > max(self.shared_limit, 48 << 10):
            gpu.call("cuFuncSetAttribute", self.function, MAX_DYNAMIC_SHARED, shared)
            self.shared_limit = shared
        if not cluster and not programmatic:
            gpu.call("cuLaunchKernel", self.function, grid, 1, 1, block, 1, 1, shared, gpu.stream, arguments.pointers, None)
            return
        attributes = (LaunchAttribute * 2)()
        count = 0
        if cluster:
            attributes[count].id = CLUSTER_DIMENSION
            attributes[count].value[0], attributes[count].value[1], attributes[count].value[2] = cluster, 1, 1
            count += 1
        if programmatic:
            attributes[count].id = PROGRAMMATIC_SERIALIZATION
            attributes[count].value[0] = 1
            count += 1
        config = LaunchConfig(grid, 1, 1, block, 1, 1, shared, gpu.stream, attributes, count)
        gpu.call("cuLaunchKernelEx", byref(config), self.function, arguments.pointers, None)


class Gpu:
    """The first GPU, with its primary context, a stream and two events."""

    def __init__(self, library: str = "libcuda.so.1"):
        try:
            self.library = ctypes.CDLL(library)
        except OSError as error:
            raise CudaError(f"{library} cannot be loaded: {error}") from None
        for name, types in SIGNATURES.items():
            # A driver that lacks a function fails where it is called.
            function = getattr(self.library, name, None)
            if function is not None:
                function.argtypes, function.restype = types, c_int
        self.call("cuInit", 0)
        self.device = self.made(c_int, "cuDeviceGet", 0).value
        self.context = self.made(c_void_p, "cuDevicePrimaryCtxRetain", self.device)
        self.call("cuCtxSetCurrent", self.context)
        self.stream = self.made(c_void_p, "cuStreamCreate", NON_BLOCKING)
        self.start, self.end = self.made(c_void_p, "cuEventCreate", 0), self.made(c_void_p, "cuEventCreate", 0)
        self.sms = self.attribute(SM_COUNT)
        self.capability = (self.attribute(MAJOR), self.attribute(MINOR))
        self.hopper = self.capability == (9, 0)
        self.modules: dict[str, Kernel] = {}

    def call(self, name: str, *arguments) -> None:
        try:
            function = getattr(self.library, name)
        except AttributeError:
            raise CudaError(f"the driver has no {name}") from None
        code = function(*arguments)
        if code:
            raise CudaError(f"{name}: {self.text_of(code)}", code)

    def text_of(self, code: int) -> str:
        texts = []
        for name in ("cuGetErrorName", "cuGetErrorString"):
            text = c_char_p()
            if getattr(self.library, name)(code, byref(text)) == 0 and text.value:
                texts.append(text.value.decode(errors="replace"))
        return ": ".join(texts) or f"error {code}"

    def made(self, kind, name: str, *arguments):
        """What a function writes to its first argument."""
        result = kind()
        self.call(name, byref(result), *arguments)
        return result

    def attribute(self, which: int) -> int:
        return self.made(c_int, "cuDeviceGetAttribute", which, self.device).value

    def name(self) -> str:
        text = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", text, 256, self.device)
        return text.value.decode(errors="replace")

    def describe(self) -> dict:
        return {"name": self.name(), "capability": f"{self.capability[0]}.{self.capability[1]}", "sms": self.sms,
                "driver": self.made(c_int, "cuDriverGetVersion").value,
                "memory_bytes": self.made(c_size_t, "cuDeviceTotalMem_v2", self.device).value, "l2_bytes": self.attribute(L2_BYTES),
                "clock_khz": self.attribute(CLOCK_KHZ), "memory_clock_khz": self.attribute(MEMORY_CLOCK_KHZ),
                "bus_bits": self.attribute(BUS_BITS), "shared_bytes_per_sm": self.attribute(SHARED_PER_SM),
                "shared_bytes_per_block": self.attribute(SHARED_PER_BLOCK)}

    def load(self, ptx: str, entry: str = "kernel") -> Kernel:
        """A kernel of PTX text, which the driver assembles for this GPU; what it says of errors is in the message."""
        if ptx in self.modules:
            return self.modules[ptx]
        log = ctypes.create_string_buffer(16384)
        options = (c_int * 2)(JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES)
        values = (c_void_p * 2)(ctypes.cast(log, c_void_p), c_void_p(len(log)))
        text = ctypes.create_string_buffer(ptx.encode())
        module = c_void_p()
        try:
            self.call("cuModuleLoadDataEx", byref(module), ctypes.cast(text, c_void_p), 2, options, values)
        except CudaError as error:
            error.args = (f"{error}\n{log.value.decode(errors='replace')}".strip(),)
            raise
        kernel = Kernel(self, self.made(c_void_p, "cuModuleGetFunction", module, entry.encode()))
        self.modules[ptx] = kernel
        return kernel

    def alloc(self, size: int) -> int:
        return self.made(c_uint64, "cuMemAlloc_v2", size).value

    def free(self, address: int) -> None:
        self.call("cuMemFree_v2", address)

    def fill(self, address: int, word: int, words: int) -> None:
        self.call("cuMemsetD32Async", address, word, words, self.stream)

    def write(self, address: int, data: bytes) -> None:
        self.call("cuMemcpyHtoD_v2", address, ctypes.cast(ctypes.create_string_buffer(data, len(data)), c_void_p), len(data))

    def read(self, address: int, size: int) -> bytes:
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", ctypes.cast(data, c_void_p), address, size)
        return data.raw

    def read_u64(self, address: int, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}Q", self.read(address, 8 * count))

    def wait(self) -> None:
        self.call("cuStreamSynchronize", self.stream)

    def seconds(self, work) -> float:
        """Between two events of the GPU, around what `work` puts into the stream."""
        self.call("cuEventRecord", self.start, self.stream)
        work()
        self.call("cuEventRecord", self.end, self.stream)
        self.call("cuEventSynchronize", self.end)
        return self.made(c_float, "cuEventElapsedTime", self.start, self.end).value / 1e3

    def graph(self, work) -> c_void_p:
        """What `work` puts into the stream, as a graph that can be launched."""
        self.call("cuStreamBeginCapture_v2", self.stream, CAPTURE_RELAXED)
        try:
            work()
        except CudaError:
            # The stream is of use again only once the capture is over, whatever that says.
            self.library.cuStreamEndCapture(self.stream, byref(c_void_p()))
            raise
        graph = c_void_p()
        self.call("cuStreamEndCapture", self.stream, byref(graph))
        runnable = self.made(c_void_p, "cuGraphInstantiateWithFlags", graph, 0)
        self.call("cuGraphDestroy", graph)
        return runnable

    def tensor_map(self, address: int, rows: int, columns: int, box: int) -> bytes:
        """Of a matrix of bf16, in square boxes that are swizzled by 128 bytes."""
        # The map is 128 bytes on a boundary of 64.
        room = ctypes.create_string_buffer(192)
        place = (ctypes.addressof(room) + 63) & ~63
        bf16, swizzle_128, promote_256 = 9, 3, 3
        self.call("cuTensorMapEncodeTiled", place, bf16, 2, address, (c_uint64 * 2)(columns, rows), (c_uint64 * 1)(2 * columns),
                  (c_uint * 2)(box, box), (c_uint * 2)(1, 1), 0, swizzle_128, promote_256, 0)
        return ctypes.string_at(place, 128)
