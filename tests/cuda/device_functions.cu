// Calls: functions not inlined, recursion, pointers to functions, virtual functions, structs by value, local arrays.

struct Vector {
  float x, y, z;
};
struct Mixed {  // members at odd offsets, 40 bytes
  char tag;
  short half;
  int word;
  double real;
  unsigned char bytes[11];
};
struct Matrix {
  float at[4][4];
};

__device__ __noinline__ float dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __noinline__ Vector cross(Vector a, Vector b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
__device__ __noinline__ Matrix transposed(Matrix m) {
  Matrix t;
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c) t.at[c][r] = m.at[r][c];
  return t;
}

// to[i] = a . (b x c), a triple product by calls with structs in and out.
extern "C" __global__ void triple_product(const Vector* a, const Vector* b, const Vector* c, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = dot(a[i], cross(b[i], c[i]));
}

// A kernel's parameters by value: to = transpose(m) scaled by mixed.real, then mixed's members one by one.
extern "C" __global__ void struct_parameters(Matrix m, Mixed mixed, char narrow, float* to, long long* members) {
  const Matrix t = transposed(m);
  const int i = threadIdx.x;
  to[i] = t.at[i / 4][i % 4] * (float)mixed.real;
  if (i < 11) members[i] = mixed.bytes[i];
  if (i == 11) members[i] = mixed.tag;
  if (i == 12) members[i] = mixed.half;
  if (i == 13) members[i] = mixed.word;
  if (i == 14) members[i] = narrow;
}

__device__ __noinline__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ unsigned count_odd(unsigned n);
__device__ __noinline__ unsigned count_even(unsigned n) { return n == 0 ? 1 : count_odd(n - 1); }
__device__ __noinline__ unsigned count_odd(unsigned n) { return n == 0 ? 0 : count_even(n - 1); }

// Every lane recurses to its own depth.
extern "C" __global__ void recursion(const unsigned* n, unsigned* fib, unsigned* ack, unsigned* even) {
  const int i = threadIdx.x;
  fib[i] = fibonacci(n[i]);
  ack[i] = ackermann(n[i] % 3, n[i] % 5);
  even[i] = count_even(n[i]);
}

__device__ __noinline__ float doubled(float x) { return x + x; }
__device__ __noinline__ float squared(float x) { return x * x; }
__device__ __noinline__ float negated(float x) { return -x; }
using Function = float (*)(float);
__device__ Function functions[3] = {doubled, squared, negated};

// A table of functions, each lane its own choice; then a pointer handed down to another function.
__device__ __noinline__ float apply_twice(Function f, float x) { return f(f(x)); }
extern "C" __global__ void function_pointers(const float* x, const int* which, float* to, float* twice) {
  const int i = threadIdx.x;
  to[i] = functions[which[i]](x[i]);
  twice[i] = apply_twice(which[i] == 0 ? doubled : which[i] == 1 ? squared : negated, x[i]);
}

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3.0f * radius * radius; }
};
extern "C" __global__ void virtual_functions(const float* size, float* areas) {
  const int i = threadIdx.x;
  const Square square(size[i]);
  const Circle circle(size[i]);
  const Shape* shapes[2] = {&square, &circle};
  areas[i] = shapes[i % 2]->area() + 1000 * shapes[(i / 2) % 2]->area();
}

// Local arrays with indices known only at run time: an insertion sort of 16 numbers a thread, and a pointer into it.
__device__ __noinline__ void insert(int* sorted, int n, int value) {
  int at = n;
  for (; at > 0 && sorted[at - 1] > value; --at) sorted[at] = sorted[at - 1];
  sorted[at] = value;
}
extern "C" __global__ void local_arrays(const int* values, int* sorted, unsigned char* bytes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int mine[16];
  for (int j = 0; j < 16; ++j) insert(mine, j, values[16 * i + j]);
  for (int j = 0; j < 16; ++j) sorted[16 * i + j] = mine[j];
  unsigned char digits[12];
  int count = 0;
  for (unsigned rest = mine[15]; rest > 0 || count == 0; rest /= 10) digits[count++] = '0' + rest % 10;
  for (int j = 0; j < 12; ++j) bytes[12 * i + j] = j < count ? digits[count - 1 - j] : ' ';
}

// Many arguments of every width, an early return inside, a result by reference.
__device__ __noinline__ bool polynomial(signed char a, unsigned short b, int c, long long d, float e, double f,
                                        const int* g, int h, bool negate, double* result) {
  if (h == 13) return false;
  const double sum = a + b * 2.0 + c * 3.0 + (double)d * 4.0 + e * 5.0 + f * 6.0 + g[h] * 7.0;
  *result = negate ? -sum : sum;
  return true;
}
extern "C" __global__ void many_arguments(const int* g, double* to, bool negate) {
  const int i = threadIdx.x;
  double result = -1;
  const bool done = polynomial((signed char)-i, (unsigned short)(i * 1000), i - 7, (long long)i << 33, i * 0.5f,
                               i * 0.25, g, i, negate, &result);
  to[i] = done ? result : 0.5;
}
