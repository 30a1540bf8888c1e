// Device attributes.
#include <cstdio>
#include <string>

#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

namespace {

struct Attribute {
  CUdevice_attribute id;
  uint64_t (*value)(const DeviceProfile& p);
};

template <uint64_t n>
uint64_t constant(const DeviceProfile&) {
  return n;
}

const Attribute kAttributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, constant<1024>},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, constant<1024>},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, constant<1024>},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, constant<64>},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, constant<0x7fffffff>},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, constant<65535>},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, constant<65535>},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, [](const DeviceProfile& p) { return p.shared_per_block; }},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, constant<65536>},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, constant<32>},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, constant<0x7fffffff>},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, constant<65536>},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, constant<1000000>},  // kHz; %clock counts at a nominal 1 GHz
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, constant<512>},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, constant<1>},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, [](const DeviceProfile& p) -> uint64_t { return p.n_sms; }},
    {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, constant<0>},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, constant<0>},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, constant<1>},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, constant<0>},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, constant<1>},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, constant<0>},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, constant<0>},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, constant<0>},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, constant<0>},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, constant<1000000>},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, constant<64>},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, constant<(4 << 20)>},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
     [](const DeviceProfile& p) -> uint64_t { return p.max_threads_per_sm; }},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, constant<1>},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, constant<1>},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, [](const DeviceProfile& p) -> uint64_t { return p.target / 10; }},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, [](const DeviceProfile& p) -> uint64_t { return p.target % 10; }},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, constant<1>},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, constant<1>},
    {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, constant<1>},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, [](const DeviceProfile& p) { return p.shared_per_sm; }},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
     [](const DeviceProfile& p) -> uint64_t { return p.registers_per_sm; }},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, constant<1>},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, constant<1>},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, constant<1>},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, constant<1>},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1, constant<1>},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1, constant<1>},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1, constant<1>},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, constant<1>},
    {CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, constant<0>},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
     [](const DeviceProfile& p) { return p.shared_per_block_optin; }},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, constant<1>},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
     [](const DeviceProfile& p) -> uint64_t { return p.max_blocks_per_sm; }},
    {CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, constant<0>},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, constant<1024>},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, constant<1>},
    {CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, constant<0>},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, constant<0>},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, constant<1>},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, constant<1>},
};

// CUDA 13.0's attributes end here; those missing from the table above are features that this device lacks.
constexpr CUdevice_attribute kLastKnownAttribute = 148;

template <class Body>
CUresult with_device(CUdevice device, Body body) {
  return api_of(device, [&](Driver& d, auto&) -> CUresult { return body(d.device->profile()); });
}

std::string bus_id(CUdevice device) {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02x:00.0", static_cast<unsigned>(device));
  return text;
}

}  // namespace
}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return with_device(device, [&](const DeviceProfile& profile) -> CUresult {
    if (value == nullptr || attribute <= 0 || attribute > kLastKnownAttribute) return CUDA_ERROR_INVALID_VALUE;
    *value = 0;
    for (const Attribute& row : kAttributes)
      if (row.id == attribute) *value = static_cast<int>(row.value(profile));
    if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) *value = device;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return with_device(device, [&](const DeviceProfile& profile) -> CUresult {
    if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, static_cast<size_t>(length), "PTX emulator sm_%u", profile.target);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return with_device(device, [&](const DeviceProfile& profile) -> CUresult {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *bytes = profile.memory_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return with_device(device, [&](const DeviceProfile& profile) -> CUresult {
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *uuid = {{'p', 't', 'x', ' ', 'e', 'm', 'u', 'l', 'a', 't', 'o', 'r', ' ', 's', static_cast<char>('m' + device),
              static_cast<char>(profile.target)}};
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return with_device(device, [&](const DeviceProfile&) -> CUresult {
    if (text == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(text, static_cast<size_t>(length), "%s", bus_id(device).c_str());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  return with_device(0, [&](const DeviceProfile&) -> CUresult {
    if (device == nullptr || text == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (CUdevice ordinal = 0; ordinal < count_devices(); ++ordinal)
      if (text == bus_id(ordinal)) return *device = ordinal, CUDA_SUCCESS;
    return CUDA_ERROR_INVALID_DEVICE;
  });
}

}  // extern "C"
}  // namespace ptx::cuda
