// Words in memory that streams wait for and write: single, in batches and in graphs.
#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {
namespace {

class MemoryOperations : public DriverTest {
 protected:
  static CUstreamBatchMemOpParams value(CUstreamBatchMemOpType type, CUdeviceptr at, uint64_t v, unsigned flags = 0) {
    CUstreamBatchMemOpParams operation{};
    operation.waitValue = {type, at, v, flags, 0};
    return operation;
  }
};

TEST_F(MemoryOperations, AStreamWaitsForTheHost) {
  const CUstream s = stream();
  volatile uint32_t* words = mapped_words(4);
  const CUdeviceptr at = address_of(words);
  ok(cuStreamWaitValue32_v2(s, at, 3, CU_STREAM_WAIT_VALUE_GEQ));
  ok(cuStreamWriteValue32_v2(s, at + 4, 17, 0));
  ok(cuStreamWriteValue64_v2(s, at + 8, 0x1122334455667788u, 0));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
  EXPECT_EQ(words[1], 0u);
  words[0] = 4;
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(words[1], 17u);
  EXPECT_EQ(words[3], 0x11223344u);
}

// Every comparison with a word that satisfies it, and with one that only a later write satisfies.
TEST_F(MemoryOperations, Comparisons) {
  const struct {
    const char* why;
    unsigned flags;
    uint64_t wanted, before, after;
    bool is_wide;
  } rows[] = {
      {"at least", CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 5, false},
      {"at least, round the end", CU_STREAM_WAIT_VALUE_GEQ, 0xfffffff0, 0xffffffe0, 3, false},
      {"equal", CU_STREAM_WAIT_VALUE_EQ, 5, 6, 5, false},
      {"a common bit", CU_STREAM_WAIT_VALUE_AND, 6, 9, 2, false},
      {"a bit in neither", CU_STREAM_WAIT_VALUE_NOR, 0xffff0000, 0x0000ffff, 0x0000fffe, false},
      {"64 bits: at least", CU_STREAM_WAIT_VALUE_GEQ, 1ull << 40, 1ull << 39, 1ull << 41, true},
      {"64 bits: equal in both halves", CU_STREAM_WAIT_VALUE_EQ, 0x100000002, 2, 0x100000002, true},
      {"64 bits: a common bit above", CU_STREAM_WAIT_VALUE_AND, 1ull << 63, 1, 1ull << 63, true},
  };
  const CUstream waits = stream(), writes = stream();
  for (const auto& row : rows) {
    const CUdeviceptr p = upload<uint64_t>({row.before});
    if (row.is_wide)
      ok(cuStreamWaitValue64_v2(waits, p, row.wanted, row.flags));
    else
      ok(cuStreamWaitValue32_v2(waits, p, static_cast<uint32_t>(row.wanted), row.flags));
    EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(waits)) << row.why;
    ok(cuStreamWriteValue64_v2(writes, p, row.after, 0));
    EXPECT_RESULT(CUDA_SUCCESS, cuStreamSynchronize(waits)) << row.why;
  }
}

TEST_F(MemoryOperations, BatchesRunInOrder) {
  const CUstream s = stream();
  volatile uint32_t* words = mapped_words(2);
  const CUdeviceptr at = address_of(words);
  CUstreamBatchMemOpParams barrier{};
  barrier.memoryBarrier = {CU_STREAM_MEM_OP_BARRIER, 1};
  std::vector<CUstreamBatchMemOpParams> batch = {value(CU_STREAM_MEM_OP_WRITE_VALUE_32, at, 1), barrier,
                                                 value(CU_STREAM_MEM_OP_WAIT_VALUE_32, at, 1, CU_STREAM_WAIT_VALUE_EQ),
                                                 value(CU_STREAM_MEM_OP_WRITE_VALUE_32, at + 4, 2)};
  ok(cuStreamBatchMemOp_v2(s, 4, batch.data(), 0));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(words[0], 1u);
  EXPECT_EQ(words[1], 2u);

  // The same as a node with parameters that change.
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context, 4, batch.data(), 0}, got{};
  ok(cuGraphCreate(&graph, 0));
  ok(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
  ok(cuGraphBatchMemOpNodeGetParams(node, &got));
  ASSERT_EQ(got.count, 4u);
  EXPECT_EQ(got.paramArray[3].writeValue.address, at + 4);
  batch[3].writeValue.value64 = 7;
  ok(cuGraphBatchMemOpNodeSetParams(node, &params));
  ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
  ok(cuGraphLaunch(exec, s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(words[1], 7u);
  batch[3].writeValue.value64 = 8;
  ok(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
  ok(cuGraphLaunch(exec, s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(words[1], 8u);
  ok(cuGraphExecDestroy(exec));
  ok(cuGraphDestroy(graph));
}

TEST_F(MemoryOperations, ACaptureRecordsThem) {
  const CUstream s = stream();
  const CUdeviceptr p = upload<uint32_t>({0, 0});
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ok(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  ok(cuStreamWriteValue32_v2(s, p, 3, 0));
  ok(launch(kernel("append"), 1, 1, s, p, 4u));
  ok(cuStreamEndCapture(s, &graph));
  CUgraphNode root = nullptr;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  size_t count = 1;
  ok(cuGraphGetRootNodes(graph, &root, &count));
  ok(cuGraphNodeGetType(root, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  ok(cuGraphInstantiateWithFlags(&exec, graph, 0));
  ok(cuGraphLaunch(exec, s));
  ok(cuStreamSynchronize(s));
  EXPECT_EQ(word(p), 34u);
  ok(cuGraphExecDestroy(exec));
  ok(cuGraphDestroy(graph));
}

TEST_F(MemoryOperations, WrongOnes) {
  const CUstream s = stream();
  const CUdeviceptr p = upload<uint64_t>({0});
  CUstreamBatchMemOpParams flush{}, nonsense{};
  flush.flushRemoteWrites = {CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, 0};
  nonsense.operation = 77;
  uint64_t on_stack = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32_v2(s, p + 2, 0, 0));   // not aligned
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue64_v2(s, p + 4, 0, 0));   // not aligned to 8
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32_v2(s, p + 8, 0, 0));  // past the end
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue64_v2(s, address_of(&on_stack), 0, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32_v2(s, p, 0, 4));  // no such comparison
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, cuStreamWaitValue32_v2(s, p, 0, CU_STREAM_WAIT_VALUE_FLUSH));
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, cuStreamWriteValue32_v2(s, p, 0, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  EXPECT_RESULT(CUDA_SUCCESS, cuStreamWriteValue32(s, p, 0, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuStreamWriteValue32_v2(reinterpret_cast<CUstream>(&on_stack), p, 0, 0));
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, cuStreamBatchMemOp_v2(s, 1, &flush, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp_v2(s, 1, &nonsense, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp_v2(s, 1, nullptr, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp_v2(s, 257, &flush, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp_v2(s, 0, nullptr, 1));
  EXPECT_RESULT(CUDA_SUCCESS, cuStreamSynchronize(s));
}

}  // namespace
}  // namespace ptx::cuda
