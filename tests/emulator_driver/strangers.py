"""Other projects' programs from PyPI on libcuda_emulator.so. Each runs kernels of its own and is compared with numpy.

usage: strangers.py LIBRARY [--folder FOLDER] [PROGRAM...]
       strangers.py LIBRARY [--folder FOLDER] numba-suite [PART...]

Installs missing packages in a virtual environment in FOLDER (default: build/strangers beside LIBRARY). That needs the
network and up to 2 GB. tests/requirements/strangers/ names every package with the hashes of its files, so that nothing
else is installed or run. numba-suite runs numba-cuda's own tests: all (an hour) or the named parts (cudapy.test_atomics).
Exits with 1 if a program failed.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Program: environment. Its packages, in the versions that ptx/README.md names: REQUIREMENTS/PROGRAM.txt, the program's
# own first. No nvidia-nvjitlink among them: with it, numba generates machine code, which the emulator cannot run.
REQUIREMENTS = pathlib.Path(__file__).resolve().parent.parent / "requirements" / "strangers"
PROGRAMS = {"nvrtc": {}, "numba": {}, "triton": {}, "tinygrad": {"DEV": "CUDA"}, "tinygrad-ptx": {"DEV": "CUDA:PTX"},
            "halide": {}, "drjit": {}, "taichi": {}, "iree": {}}


def nvrtc():
    import numpy as np
    from cuda.bindings import driver, nvrtc as rtc
    source = b"""
    #include <cuda_fp16.h>
    extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) y[i] = __half2float(__float2half(a)) * x[i] + y[i];
    }"""
    include = next(p for p in sys.path if p.endswith("site-packages")) + "/nvidia/cu13/include"
    program = ok(rtc.nvrtcCreateProgram(source, b"saxpy.cu", 0, [], []))
    options = [b"--gpu-architecture=compute_90", b"-I" + include.encode()]
    has_headers = os.path.exists(include + "/cuda_fp16.h")
    if not has_headers:
        source = source.replace(b"#include <cuda_fp16.h>", b"").replace(b"__half2float(__float2half(a))", b"a")
        program = ok(rtc.nvrtcCreateProgram(source, b"saxpy.cu", 0, [], []))
    ok(rtc.nvrtcCompileProgram(program, len(options), options))
    text = b" " * ok(rtc.nvrtcGetPTXSize(program))
    ok(rtc.nvrtcGetPTX(program, text))
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    run_text(text, b"saxpy", (8, 1, 1), (128, 1, 1), 0, [y, x, np.float32(2.5), np.int32(1000)])
    expect(y, 2.5 * np.arange(1000) + 1)


def triton():
    import numpy as np
    import triton as tr
    import triton.language as tl
    from triton.backends.compiler import GPUTarget

    @tr.jit
    def matmul(a, b, c, N: tl.constexpr, TILE: tl.constexpr):
        rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
        columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
        total = tl.zeros((TILE, TILE), tl.float32)
        for k in range(0, N, TILE):
            inner = k + tl.arange(0, TILE)
            left = tl.load(a + rows[:, None] * N + inner[None, :])
            right = tl.load(b + inner[:, None] * N + columns[None, :])
            total += tl.dot(left, right, input_precision="ieee")
        tl.store(c + rows[:, None] * N + columns[None, :], total)

    n, tile = 64, 32
    source = tr.compiler.ASTSource(matmul, {"a": "*fp32", "b": "*fp32", "c": "*fp32", "N": "constexpr",
                                            "TILE": "constexpr"}, {"N": n, "TILE": tile})
    compiled = tr.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4, "ptx_version": 90})
    a, b = (np.random.default_rng(i).random((n, n), np.float32) for i in (1, 2))
    c = np.zeros((n, n), np.float32)
    spare = [np.zeros(1, np.float32)] * 2  # scratch memory that the compiler expects after the arguments
    run_text(compiled.asm["ptx"].encode() + b"\0", b"matmul", (n // tile, n // tile, 1), (128, 1, 1),
             compiled.metadata.shared, [a, b, c] + spare)
    expect(c, a.astype(np.float64) @ b, 1e-5)


def numba():
    import numpy as np
    from numba import cuda, float32

    @cuda.jit
    def tiled(a, b, c):
        left, right = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = float32(0)
        for tile in range(a.shape[1] // 16):
            left[tx, ty], right[tx, ty] = a[x, ty + tile * 16], b[tx + tile * 16, y]
            cuda.syncthreads()
            for k in range(16):
                total += left[tx, k] * right[k, ty]
            cuda.syncthreads()
        c[x, y] = total

    @cuda.jit
    def halves(x):  # links the half-precision functions, a second text
        i = cuda.grid(1)
        x[i] = x[i] * x[i] + x[i]

    @cuda.jit
    def histogram(values, bins):
        i = cuda.grid(1)
        if i < values.size:
            cuda.atomic.add(bins, values[i], 1)

    a, b = (np.random.default_rng(i).random((64, 64), np.float32) for i in (1, 2))
    c = np.zeros((64, 64), np.float32)
    tiled[(4, 4), (16, 16)](a, b, c)
    expect(c, a.astype(np.float64) @ b, 1e-5)
    x = np.arange(32, dtype=np.float16) / 4
    halves[1, 32](x)
    expect(x, (np.arange(32) / 4) ** 2 + np.arange(32) / 4, 1e-2)
    values, bins = np.random.default_rng(3).integers(0, 8, 500), np.zeros(8, np.int64)
    histogram[4, 128](values, bins)
    expect(bins, np.bincount(values, minlength=8))


def tinygrad():
    import numpy as np
    from tinygrad import Tensor
    a, b = (np.random.default_rng(i).random((32, 32), np.float32) for i in (1, 2))
    expect((Tensor(a) @ Tensor(b)).numpy(), a.astype(np.float64) @ b, 1e-5)
    expect(Tensor(a).softmax(1).sum(0).numpy(), (np.exp(a) / np.exp(a).sum(1, keepdims=True)).sum(0), 1e-5)


def halide():
    import halide as hl
    import numpy as np
    x, y, xi, yi = (hl.Var(name) for name in ("x", "y", "xi", "yi"))
    data = np.random.default_rng(1).random((66, 66)).astype(np.float32)
    source, blurred = hl.Buffer(data), hl.Func("blurred")
    blurred[x, y] = sum(source[x + i, y + j] for i in range(3) for j in range(3)) / 9.0
    blurred.gpu_tile(x, y, xi, yi, 8, 8)
    target = hl.get_host_target().with_feature(hl.TargetFeature.CUDA).with_feature(hl.TargetFeature.CUDACapability80)
    out = blurred.realize([64, 64], target)
    out.copy_to_host()
    expect(np.array(out), sum(data[i:i + 64, j:j + 64] for i in range(3) for j in range(3)) / 9, 1e-5)


def drjit():
    import drjit as dr
    import numpy as np
    from drjit.cuda import Float, UInt32
    x = dr.arange(Float, 1000) / 100
    expect(np.array(dr.sin(x) * dr.exp(-x)), np.sin(np.arange(1000) / 100) * np.exp(-np.arange(1000) / 100), 1e-5)
    picked = dr.gather(Float, x, dr.arange(UInt32, 100) * 7)
    expect(np.array(dr.sum(picked)), (np.arange(100) * 7 / 100).sum(), 1e-5)


def taichi():
    import numpy as np
    import taichi as ti
    ti.init(arch=ti.cuda, device_memory_GB=0.25, log_level=ti.ERROR)
    assert ti.lang.impl.current_cfg().arch == ti.cuda, "taichi fell back to the processor"
    values, total = ti.field(ti.f32, 1000), ti.field(ti.f32, ())

    @ti.kernel
    def fill():
        for i in values:
            values[i] = ti.sqrt(i * 1.0)

    @ti.kernel
    def add():
        for i in values:
            total[None] += values[i]

    fill()
    add()
    expect(values.to_numpy(), np.sqrt(np.arange(1000)), 1e-5)
    expect(total[None], np.sqrt(np.arange(1000)).sum(), 1e-4)


def iree():
    import numpy as np
    from iree import compiler, runtime
    text = """func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<64x64xf32>
      %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
      %product = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>)
                 outs(%start : tensor<64x64xf32>) -> tensor<64x64xf32>
      return %product : tensor<64x64xf32>
    }"""
    code = compiler.compile_str(text, target_backends=["cuda"], extra_args=["--iree-cuda-target=sm_80"])
    context = runtime.SystemContext(config=runtime.Config("cuda"))
    context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, code))
    a, b = (np.random.default_rng(i).random((64, 64), np.float32) for i in (1, 2))
    expect(context.modules.module.f(a, b).to_host(), a.astype(np.float64) @ b, 1e-2)  # TF32 may be chosen


def ok(results):
    assert int(results[0]) == 0, results[0]
    return results[1] if len(results) == 2 else results[1:]


def expect(found, expected, tolerance=0.0):
    import numpy as np
    error = np.abs(np.asarray(found, np.float64) - expected).max() / max(1.0, np.abs(expected).max())
    assert error <= tolerance, f"error {error:.3g} of the largest value, {tolerance:g} is allowed"


def run_text(text, kernel, grid, block, shared_bytes, arguments):
    """Runs a kernel of a PTX text; arrays among the arguments are copied to the device and back."""
    import numpy as np
    from cuda.bindings import driver as cu
    ok(cu.cuInit(0))
    ok(cu.cuCtxCreate(None, 0, 0))
    function = ok(cu.cuModuleGetFunction(ok(cu.cuModuleLoadData(text)), kernel))
    values, buffers = [], []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            pointer = ok(cu.cuMemAlloc(argument.nbytes))
            ok(cu.cuMemcpyHtoD(pointer, argument.ctypes.data, argument.nbytes))
            buffers.append((pointer, argument))
            argument = np.uint64(int(pointer))
        values.append(np.array([argument]))
    parameters = np.array([value.ctypes.data for value in values], np.uint64)
    ok(cu.cuLaunchKernel(function, *grid, *block, shared_bytes, 0, parameters.ctypes.data, 0))
    ok(cu.cuCtxSynchronize())
    for pointer, array in buffers:
        ok(cu.cuMemcpyDtoH(array.ctypes.data, pointer, array.nbytes))


def prepare(folder, library):
    """A virtual environment, and a folder where the library has libcuda's names. -> python, environment"""
    python = folder / "python" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "python"], check=True)
    names = folder / "names"
    names.mkdir(parents=True, exist_ok=True)
    for name in ("libcuda.so", "libcuda.so.1"):
        (names / name).unlink(missing_ok=True)
        (names / name).symlink_to(library)
    # An invalid library hides an nvJitLink of this machine from numba.
    (names / "libnvJitLink.so.13").write_text("not a library\n")
    environment = {k: v for k, v in os.environ.items() if k not in ("CUDA_HOME", "CUDA_PATH", "PYTHONPATH")}
    environment.update(LD_LIBRARY_PATH=str(names), DRJIT_LIBCUDA_PATH=str(names / "libcuda.so"))
    return python, environment


def install(python, name):
    """-> the program's package and version"""
    requirements = REQUIREMENTS / f"{name.removesuffix('-ptx')}.txt"
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--require-hashes", "--no-deps",
                    "--only-binary", ":all:", "-r", requirements], check=True)
    return next(line.split()[0] for line in requirements.read_text().splitlines() if "==" in line)


def run_program(name, python, environment):
    package = install(python, name)
    command = [python, __file__, "--run", name.removesuffix("-ptx")]
    try:
        done = subprocess.run(command, env={**environment, **PROGRAMS[name]}, capture_output=True, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        print(f"{name}: {package} has no end in 900 s", flush=True)
        return False
    if done.returncode == 0:
        print(f"{name}: {package} runs", flush=True)
    else:
        print(f"{name}: {package} fails\n{done.stdout[-2000:]}{done.stderr[-4000:]}", flush=True)
    return done.returncode == 0


def numba_parts(python):
    where = subprocess.run([python, "-c", "import numba_cuda; print(numba_cuda.__path__[0])"], check=True,
                           capture_output=True, text=True).stdout.strip()
    tests = pathlib.Path(where) / "numba" / "cuda" / "tests"
    return sorted(f"{p.parent.name}.{p.stem}" for p in tests.glob("*/test_*.py") if p.parent.name != "nocuda")


# Failures of numba-cuda's own tests that are not the emulator's fault, found by their text.
NUMBA_EXPECTED = {
    r"Skipped: ": "needs CuPy, which needs a GPU's libraries",
    r"CUDA_ERROR_NO_BINARY_FOR_GPU": "libcudadevrt.a is machine code",
    r"test_ipc\.": "memory shared between processes is not emulated",
    r"test_device_arch_specific": "tensor maps are not emulated",
    r"function consume has other parameters": "numba declares a result that the function has not; nvlink refuses it too",
    r"test_dump_assembly|test_efficient_launch": "counts a warning that nvJitLink is missing",
    r"test_cpu_and_cuda_": "the cache of numba's CPU half",
}


def run_numba_suite(parts, python, environment):
    """Whether every failure is one of NUMBA_EXPECTED."""
    install(python, "numba")
    n_tests, expected, unexpected = 0, dict.fromkeys(NUMBA_EXPECTED.values(), 0), 0
    for part in parts or numba_parts(python):
        command = [python, "-m", "numba.runtests", f"numba.cuda.tests.{part}"]
        try:
            done = subprocess.run(command, env={**environment, **PROGRAMS["numba"]}, capture_output=True, text=True,
                                  timeout=900)
            ran = re.search(r"^Ran (\d+) tests?", done.stderr, re.M)
            failures = re.split(r"^=+\n(?=ERROR|FAIL)", done.stderr, flags=re.M)[1:] if ran else [done.stderr[-2000:]]
        except subprocess.TimeoutExpired:
            ran, failures = None, ["no end in 900 s"]
        n_tests += int(ran[1]) if ran else 0
        print(f"{part}: {ran[0] if ran else 'did not run'}", flush=True)
        for failure in failures:
            reason = next((why for what, why in NUMBA_EXPECTED.items() if re.search(what, failure)), None)
            if reason:
                expected[reason] += 1
            else:
                unexpected += 1
                print(f"  {failure}", flush=True)
    print(f"numba-cuda's own tests: {n_tests} ran, {unexpected} failed; expected to fail:")
    for reason, n in expected.items():
        print(f"  {n}: {reason}")
    return unexpected == 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_intermixed_args()
    library = arguments.library.resolve()
    folder = (arguments.folder or library.parent / "strangers").resolve()
    python, environment = prepare(folder, library)
    if arguments.programs[:1] == ["numba-suite"]:
        return 0 if run_numba_suite(arguments.programs[1:], python, environment) else 1
    unknown = set(arguments.programs) - set(PROGRAMS)
    if unknown:
        print(f"strangers.py: unknown program {', '.join(unknown)} (known: {', '.join(PROGRAMS)}, numba-suite)")
        return 2
    results = [run_program(name, python, environment) for name in arguments.programs or PROGRAMS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        globals()[sys.argv[2]]()
    else:
        sys.exit(main())
