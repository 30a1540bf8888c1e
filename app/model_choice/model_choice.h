// A model that can be chosen, as lists show it: a file, a server or one of its models, a model of the hub.
#pragma once
#include <cstdint>
#include <string>

namespace warpchat {

enum class FitsMemory { kYes, kNo, kUnknown, kUnsupported };  // kUnsupported: regardless of memory

struct ModelChoice {
  enum class Kind { kFile, kEndpoint, kServed, kFetch };  // kServed: of an endpoint; kFetch: on the hub, not downloaded
  std::string path, name;                                 // but for kFile: its name, twice
  uint64_t bytes = 0;
  std::string quantisation;  // "Q4_K_M"; empty: not said
  FitsMemory fits = FitsMemory::kUnknown;
  Kind kind = Kind::kFile;
  // kFile: facts of its header; kEndpoint: its address; kServed: context and capabilities; kFetch: its purpose or
  // number of downloads.
  std::string about = {};
  std::string why = {};            // it fits or does not: "needs about 2.9 GB of memory, 1.2 GB are free"
  bool is_unsaved = false;         // kEndpoint: it is in use, but not stored; its path is its address
  std::string default_model = {};  // kEndpoint: that answers if none is chosen; empty: none

  // kFile, as far as its header and folder say.
  std::string architecture = {};
  uint64_t n_parameters = 0, needed = 0;  // needed: bytes of memory
  uint32_t context = 0;                   // kServed, too: tokens that the model was made for, or the server allows
  std::string store = {};                 // whose folder it lies in: "Ollama"
  bool operator==(const ModelChoice&) const = default;
};

}  // namespace warpchat
