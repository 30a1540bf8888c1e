// What a model file is: read from its header, and kept in the state directory while the file stays the same. A header
// of 150,000 tokens takes milliseconds to read, and there may be a hundred files.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/model_choice/memory_room.h"
#include "app/model_choice/model_stores.h"
#include "app/settings/options.h"

namespace warpchat {

// "Q4_K_M" for the number that general.file_type holds; empty for one without a name.
std::string name_of_file_type(uint64_t number);

// What a model's file name ends with, if it is a quantisation: "Q4_K_M" of "qwen2.5-3b-instruct-q4_k_m.gguf".
std::string quantisation_in_name(const std::string& path);

// Numbers are 0 and texts empty where they are not known.
struct ModelFacts {
  uint64_t bytes = 0;  // of all parts
  uint64_t n_parameters = 0;
  uint32_t context = 0;  // tokens that the model was made for
  std::string quantisation, architecture;
  std::string purpose;                            // what it is for, if not for chatting; empty: it may chat
  std::string unsupported;                        // why it cannot run here, whatever the memory
  uint64_t needed_on_cpu = 0, needed_on_gpu = 0;  // bytes of memory, with the flags' context and cache
};

// Facts of a file as it is now; never throws for a file that cannot be read.
ModelFacts read_model_facts(const std::string& path, const ModelFlags& flags);

class ModelCatalogue {
 public:
  explicit ModelCatalogue(std::string file = "");  // of facts that are kept; empty: none

  // The models that may chat, described, in their order.
  std::vector<ModelChoice> describe(const std::vector<FoundModel>& models, const ModelFlags& flags,
                                    const MemoryRoom& room);
  void save();  // what it has read, without files that are gone; best effort

 private:
  struct Entry {
    std::string state;  // of the file, and the flags that memory depends on
    ModelFacts facts;
  };
  const ModelFacts& facts_of(const std::string& path, const ModelFlags& flags);
  void load();

  std::string file_;
  std::map<std::string, Entry> entries_;  // by path
  bool is_loaded_ = false, is_changed_ = false;
};

std::string facts_file();  // in the state directory

// The models of these places that may chat, with facts from facts_file().
std::vector<ModelChoice> describe_models(const ModelPlaces& places, const ModelFlags& flags, const MemoryRoom& room);

}  // namespace warpchat
