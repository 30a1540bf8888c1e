// The choices for the user: models in the folders with facts of their headers, suggestions of the hub, and devices. A
// separate thread looks for them, since folders and drivers can be slow.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "app/chat/chat_state.h"
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
  std::string fault = {};  // why nothing could be found; empty: it could
};

class ChoiceFinder {
 public:
  ~ChoiceFinder();

  struct Question {
    ModelFlags flags;          // for loading a model; their model is a choice, too
    uint64_t spare_bytes = 0;  // of main memory that the loaded model would free
  };
  // found is called on the finder's thread, or here if no thread can be started. Call it again only after that.
  void look(Question question, std::function<void(FoundChoices)> found);

 private:
  // Facts of a file's header, valid while file and context are the same.
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
