# Kernels on the stand-in for CUDA's driver, one launch at a time: memory, modules
# of PTX, launches, through the functions that a driver has.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import re
import subprocess

STREAM_NON_BLOCKING = 1
MOST_DYNAMIC_SHARED_BYTES = 8
ERROR_LOG, ERROR_LOG_BYTES = 5, 6


class Fault(Exception):
    """What the driver, or a kernel, did not like."""


def compile_kernels(tfc_opt, source, passes, chip="sm_80"):
    """(the host's IR, PTX of the kernels that `passes` make of the IR in a file, by
    kernel its threads and its bytes of shared memory)."""
    run = subprocess.run(
        [tfc_opt, source, "--pass-pipeline=builtin.module(" + passes +
         ",gpu.module(tfc-convert-to-llvm,canonicalize,cse),"
         f"tfc-emit-image{{chip={chip} ptxas=none}})"], capture_output=True, text=True)
    if run.returncode != 0:
        raise Fault(run.stderr[:2000])
    escaped = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', run.stdout).group(1)
    ptx = re.sub(r"\\([0-9A-F]{2}|\\)",
                 lambda m: "\\" if m.group(1) == "\\" else
                 chr(int(m.group(1), 16)), escaped)
    kernels = {}
    for name, metadata in re.findall(
            r'#gpu\.kernel_metadata<"(\w+)".*?metadata = \{(.*?)\}',
            run.stdout):
        threads = re.search(r"nvvm\.maxntid = array<i32: (\d+)", metadata)
        shared = re.search(r"transformer\.shared_bytes = (\d+)", metadata)
        kernels[name] = (int(threads.group(1)),
                         int(shared.group(1)) if shared else 0)
    return run.stdout, ptx, kernels


class Device:
    """The driver's first device."""

    def __init__(self, driver):
        self.library = ctypes.CDLL(driver)
        self.functions = {}
        self.call("cuInit", ctypes.c_uint(0))
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context),
                  ctypes.c_int(0))
        self.call("cuCtxPushCurrent", context)
        self.context = context
        self.stream = ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(self.stream),
                  ctypes.c_uint(STREAM_NON_BLOCKING))

    def close(self):
        """Gives the context back, with which the stand-in writes what it
        counted."""
        self.call("cuCtxPopCurrent", ctypes.byref(self.context))
        self.call("cuDevicePrimaryCtxRelease", ctypes.c_int(0))

    def find(self, name):
        if name not in self.functions:
            address = ctypes.c_void_p()
            self.library.cuGetProcAddress_v2(
                name.encode(), ctypes.byref(address), ctypes.c_int(12000),
                ctypes.c_uint64(0), None)
            if not address.value:
                raise Fault(f"expected a driver with {name}")
            self.functions[name] = ctypes.CFUNCTYPE(ctypes.c_int)(
                address.value)
        return self.functions[name]

    def call(self, name, *arguments):
        result = self.find(name)(*arguments)
        if result != 0:
            text = ctypes.c_char_p()
            self.find("cuGetErrorString")(ctypes.c_int(result),
                                          ctypes.byref(text))
            raise Fault(f"{name}: {(text.value or b'').decode()}")

    def load(self, ptx):
        """A module."""
        module = ctypes.c_void_p()
        log = ctypes.create_string_buffer(4096)
        options = (ctypes.c_int * 2)(ERROR_LOG, ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module),
                      ctypes.c_char_p(ptx.encode()), ctypes.c_uint(2), options,
                      values)
        except Fault as fault:
            raise Fault(f"{fault} {log.value.decode()}") from fault
        return module

    def upload(self, data):
        """The address of a copy of bytes in the device's memory."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc", ctypes.byref(address),
                  ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoDAsync", address, ctypes.c_char_p(bytes(data)),
                  ctypes.c_size_t(len(data)), self.stream)
        self.finish()
        return address

    def download(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoHAsync", data, address, ctypes.c_size_t(size),
                  self.stream)
        self.finish()
        return data.raw

    def free(self, address):
        self.call("cuMemFree", address)

    def finish(self):
        self.call("cuStreamSynchronize", self.stream)

    def launch(self, module, name, grid, threads, shared, arguments):
        """Runs a kernel to its end; arguments are numbers of ctypes."""
        kernel = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(kernel), module,
                  ctypes.c_char_p(name.encode()))
        if shared > 48 << 10:
            self.call("cuFuncSetAttribute", kernel,
                      ctypes.c_int(MOST_DYNAMIC_SHARED_BYTES),
                      ctypes.c_int(shared))
        pointers = (ctypes.c_void_p * len(arguments))(
            *(ctypes.addressof(argument) for argument in arguments))
        sizes = [ctypes.c_uint(size) for size in
                 (*grid, threads, 1, 1, shared)]
        self.call("cuLaunchKernel", kernel, *sizes, self.stream, pointers,
                  None)
        self.finish()
