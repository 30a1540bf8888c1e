// What the user can choose from: the models in the folders with what their headers say, endpoints with a name, what the
// hub has for a first start, and the devices. Looked for on a thread of its own, since folders and drivers can be slow.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "app/desk/desk_state.h"
#include "app/memory_room.h"
#include "app/options.h"

namespace warpchat {

// "Q4_K_M" for the number that general.file_type holds; empty for one without a name.
std::string name_of_file_type(uint64_t number);

// What a model's file name ends with, if it is a quantisation: "Q4_K_M" of "qwen2.5-3b-instruct-q4_k_m.gguf".
std::string quantisation_in_name(const std::string& path);

struct FoundChoices {
  std::vector<ModelChoice> models;
  std::vector<DeviceChoiceRow> devices;
};

class ChoiceFinder {
 public:
  ~ChoiceFinder();

  struct Question {
    ModelFlags flags;          // that a model would be loaded with; its model is a choice too
    uint64_t spare_bytes = 0;  // of main memory that would be given back: what the loaded model holds
  };
  // found is called on the finder's thread, or here if the system gives none. To be asked again only after that.
  void look(Question question, std::function<void(FoundChoices)> found);

 private:
  // What a file's header says, for as long as file and context are the same.
  struct Header {
    std::filesystem::file_time_type changed;
    int32_t context = -1;
    uint64_t bytes = 0;  // of all parts
    std::string quantisation;
    uint64_t needed_on_cpu = 0, needed_on_gpu = 0;  // bytes of memory; 0: not known
  };
  ModelChoice choice(const FoundModel& model, const ModelFlags& flags, const MemoryRoom& room);
  static Header read(const std::string& path, const ModelFlags& flags);

  std::map<std::string, Header> headers_;  // by path; of the finder's thread
  std::thread thread_;
};

}  // namespace warpchat
