"""NVIDIA's Python bindings load the emulator as libcuda.so.1 and run a module, streams, events, a graph and a link.

usage: cuda_bindings_client.py LIBRARY. Needs the package cuda-bindings from PyPI, which tests/run.sh installs.
"""
import ctypes
import importlib.util
import os
import subprocess
import sys
import tempfile

KERNELS = b"""\
.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 launches;
.visible .entry scale(.param .u64 p, .param .f32 by, .param .u32 n) {
  .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [p]; ld.param.f32 %f1, [by]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.eq.u32 %p2, %r5, 0; @%p2 red.global.add.u32 [launches], 1;
  setp.ge.u32 %p1, %r5, %r1; @%p1 ret;
  mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3]; mul.f32 %f3, %f2, %f1; st.global.f32 [%rd3], %f3; ret;
}
.visible .entry spin(.param .u64 flag) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [flag];
again:
  ld.acquire.sys.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra again; ret;
}
\0"""
CALLER = b"""\
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry call(.param .u64 p) {
  .reg .b64 %rd<2>; .reg .b32 %r<3>; .param .b32 in; .param .b32 out;
  ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; st.param.b32 [in], %r1; call (out), twice, (in);
  ld.param.b32 %r2, [out]; st.global.u32 [%rd1], %r2; ret;
}
\0"""
CALLEE = b"""\
.version 8.0
.target sm_90
.address_size 64
.visible .func (.param .b32 r) twice(.param .b32 x) {
  .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret;
}
\0"""
N = 1000


def start(library):
    """Runs this file again, with a folder in LD_LIBRARY_PATH where the library is called libcuda.so.1."""
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.bindings") is None:
        print("cuda-bindings is not installed: start tests/run.sh, or python3 -m pip install cuda-bindings==13.0.3")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(library), os.path.join(folder, "libcuda.so.1"))
        environment = dict(os.environ, LD_LIBRARY_PATH=folder, CUDA_EMULATOR_CHECKS="all")
        return subprocess.run([sys.executable, __file__, "--client"], env=environment, timeout=300).returncode


def client():
    from cuda.bindings import driver as cu

    def ok(results):
        assert results[0] == cu.CUresult.CUDA_SUCCESS, results[0]
        return results[1] if len(results) == 2 else results[1:]

    def floats(pointer):
        values = (ctypes.c_float * N)()
        ok(cu.cuMemcpyDtoH(values, pointer, 4 * N))
        return list(values)

    ok(cu.cuInit(0))
    assert ok(cu.cuDriverGetVersion()) >= 13000
    device = ok(cu.cuDeviceGet(0))
    major = cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    assert ok(cu.cuDeviceGetAttribute(major, device)) == 9
    context = ok(cu.cuCtxCreate(None, 0, device))

    # A module, with the log of a wrong one.
    log = bytearray(1024)
    options = [cu.CUjit_option.CU_JIT_ERROR_LOG_BUFFER, cu.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    wrong = cu.cuModuleLoadDataEx(KERNELS.replace(b"mul.f32", b"mul.f33"), 2, options, [log, len(log)])
    assert wrong[0] == cu.CUresult.CUDA_ERROR_INVALID_PTX, wrong[0]
    assert b"line 12" in log and b"mul.f33" in log, bytes(log).rstrip(b"\0")
    module = ok(cu.cuModuleLoadData(KERNELS))
    scale, spin = (ok(cu.cuModuleGetFunction(module, name)) for name in (b"scale", b"spin"))
    launches, size = ok(cu.cuModuleGetGlobal(module, b"launches"))
    assert size == 4
    assert cu.cuModuleGetFunction(module, b"nothing")[0] == cu.CUresult.CUDA_ERROR_NOT_FOUND

    # Two streams and events: the second stream waits for the first, which waits for the host.
    pointer = ok(cu.cuMemAlloc(4 * N))
    values = (ctypes.c_float * N)(*range(N))
    ok(cu.cuMemcpyHtoD(pointer, values, 4 * N))
    flag = ok(cu.cuMemHostAlloc(4, cu.CU_MEMHOSTALLOC_DEVICEMAP))
    word = ctypes.c_uint.from_address(int(flag))
    word.value = 0
    first, second = (ok(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING)) for _ in range(2))
    before, between, after = (ok(cu.cuEventCreate(0)) for _ in range(3))
    ok(cu.cuEventRecord(before, first))
    ok(cu.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, first, ((int(flag),), (ctypes.c_uint64,)), 0))
    ok(cu.cuEventRecord(between, first))
    ok(cu.cuStreamWaitEvent(second, between, 0))
    arguments = ((pointer, 2.0, N), (None, ctypes.c_float, ctypes.c_uint))
    ok(cu.cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, second, arguments, 0))
    ok(cu.cuEventRecord(after, second))
    assert cu.cuStreamQuery(second)[0] == cu.CUresult.CUDA_ERROR_NOT_READY
    assert cu.cuEventQuery(after)[0] == cu.CUresult.CUDA_ERROR_NOT_READY
    word.value = 1
    ok(cu.cuEventSynchronize(after))
    assert floats(pointer) == [2.0 * i for i in range(N)]
    assert ok(cu.cuEventElapsedTime(before, after)) >= 0

    # A graph: captured, launched three times, then built by hand.
    ok(cu.cuStreamBeginCapture(first, cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    ok(cu.cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, first, arguments, 0))
    graph = ok(cu.cuStreamEndCapture(first))
    executable = ok(cu.cuGraphInstantiate(graph, 0))
    for _ in range(3):
        ok(cu.cuGraphLaunch(executable, first))
    ok(cu.cuStreamSynchronize(first))
    assert floats(pointer) == [16.0 * i for i in range(N)]
    nodes, count = ok(cu.cuGraphGetNodes(graph, 1))
    assert count == 1 and ok(cu.cuGraphNodeGetType(nodes[0])) == cu.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL
    by_hand = ok(cu.cuGraphCreate(0))
    clear = cu.CUDA_MEMSET_NODE_PARAMS()
    clear.dst, clear.elementSize, clear.width, clear.height, clear.value = pointer, 4, N, 1, 0
    ok(cu.cuGraphAddMemsetNode(by_hand, None, 0, clear, context))
    executable = ok(cu.cuGraphInstantiate(by_hand, 0))
    ok(cu.cuGraphLaunch(executable, second))
    ok(cu.cuStreamSynchronize(second))
    assert floats(pointer) == [0.0] * N
    counted = ctypes.c_uint()
    ok(cu.cuMemcpyDtoH(ctypes.addressof(counted), launches, 4))
    assert counted.value == 4, counted.value

    # Two texts linked, loaded as a library; pool memory in stream order.
    link = ok(cu.cuLinkCreate(0, [], []))
    for text in (CALLER, CALLEE):
        ok(cu.cuLinkAddData(link, cu.CUjitInputType.CU_JIT_INPUT_PTX, text, len(text), b"", 0, [], []))
    image, size = ok(cu.cuLinkComplete(link))
    library = ok(cu.cuLibraryLoadData(ctypes.string_at(image, size), [], [], 0, [], [], 0))
    ok(cu.cuLinkDestroy(link))
    call = ok(cu.cuLibraryGetKernel(library, b"call"))
    one = ok(cu.cuMemAllocAsync(4, first))
    ok(cu.cuMemsetD32Async(one, 21, 1, first))
    ok(cu.cuLaunchKernel(ok(cu.cuKernelGetFunction(call)), 1, 1, 1, 1, 1, 1, 0, first, ((one,), (None,)), 0))
    ok(cu.cuMemcpyDtoHAsync(ctypes.addressof(counted), one, 4, first))
    ok(cu.cuMemFreeAsync(one, first))
    ok(cu.cuStreamSynchronize(first))
    assert counted.value == 42, counted.value
    ok(cu.cuLibraryUnload(library))

    # Missing features report themselves.
    assert cu.cuMemAddressReserve(4096, 0, 0, 0)[0] == cu.CUresult.CUDA_ERROR_NOT_SUPPORTED

    # A fault ends the context, not the process.
    bad = ((0, 2.0, N), (ctypes.c_uint64, ctypes.c_float, ctypes.c_uint))
    ok(cu.cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, 0, bad, 0))
    result = cu.cuCtxSynchronize()[0]
    assert result == cu.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS, result
    ok(cu.cuCtxDestroy(context))
    ok(cu.cuCtxCreate(None, 0, device))
    ok(cu.cuCtxSynchronize())
    print("cuda-bindings ran a module, streams, events, graphs and a link")
    return 0


if __name__ == "__main__":
    sys.exit(client() if sys.argv[1:] == ["--client"] else start(sys.argv[1]))
