// Variables of module scope: constants, device variables with initialisers of every kind, static and dynamic shared
// memory, and structures that hold addresses of other variables.

struct Row {
  short key;
  double value;
  char name[5];
};

__constant__ float coefficients[5] = {1.5f, -2.25f, 0.0f, 1e-40f, 3e38f};
__constant__ Row rows[3] = {{1, 2.5, "one"}, {-2, 1e300, "two"}, {3, -0.0, "thre"}};
__constant__ unsigned char packed[7] = {1, 2, 3, 250, 251, 252, 253};
__constant__ int limits;  // the host sets it
__device__ int counter = 41;
__device__ unsigned long long wide = 0x123456789abcdef0ull;
__device__ short table[2][3] = {{1, 2, 3}, {-4, -5, -6}};
__device__ int zeroed[64];
__device__ int* pointer_to_counter = &counter;
__device__ short* pointer_into_table = &table[1][2];
__device__ const char message[] = "warp\tand \"weft\"";
struct Node {
  int value;
  Node* next;
};
__device__ Node last = {30, nullptr};
__device__ Node middle = {20, &last};
__device__ Node first = {10, &middle};

// Reads all of them into to[] as 64-bit values or bits.
extern "C" __global__ void read_variables(long long* to) {
  const int i = threadIdx.x;
  if (i < 5) to[i] = __float_as_int(coefficients[i]);
  if (i < 3) to[5 + i] = rows[i].key;
  if (i < 3) to[8 + i] = __double_as_longlong(rows[i].value);
  if (i < 3) to[11 + i] = rows[i].name[2];
  if (i < 7) to[14 + i] = packed[i];
  if (i < 6) to[21 + i] = table[i / 3][i % 3];
  if (i < 64) to[32 + i] = zeroed[i];
  if (i > 0) return;
  to[27] = *pointer_to_counter;
  to[28] = (long long)wide;
  to[29] = *pointer_into_table;
  to[30] = limits;
  to[31] = sizeof message * 1000 + message[4];
  to[96] = 0;
  for (const Node* node = &first; node; node = node->next) to[96] += node->value;
}

// Writes them, so that the next launch sees the change.
extern "C" __global__ void write_variables() {
  zeroed[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) {
    ++*pointer_to_counter;
    middle.next = nullptr;
  }
}

// Static shared variables of several types before the dynamic ones, which two names share.
extern __shared__ __align__(16) unsigned char dynamic_bytes[];
extern "C" __global__ void shared_variables(int* to, int dynamic_words) {
  __shared__ char flags[3];
  __shared__ double reals[2];
  __shared__ int words[32];
  int* dynamic = (int*)dynamic_bytes;
  const int i = threadIdx.x;
  if (i < 3) flags[i] = (char)(i + 1);
  if (i < 2) reals[i] = i + 0.5;
  words[i] = 100 + i;
  for (int w = i; w < dynamic_words; w += 32) dynamic[w] = w;
  __syncthreads();
  int sum = 0;
  for (int w = 0; w < dynamic_words; ++w) sum += dynamic[w];
  to[i] = flags[i % 3] + (int)(reals[i % 2] * 10) + words[31 - i] + sum;
}

// A static variable inside a kernel keeps its value between launches; a template has one for each type.
template <class T>
__device__ T next_value() {
  static __device__ T value = 7;
  value += 1;
  return value;
}
extern "C" __global__ void static_variables(double* to) {
  to[0] = next_value<int>();
  to[1] = next_value<float>();
  to[2] = next_value<int>();
}
