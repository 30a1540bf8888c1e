// The tools of this program. They read and compute: none writes, starts a program or uses the network.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "app/tools/opened_folders.h"
#include "app/tools/tool.h"

namespace warpchat {

inline constexpr std::string_view kBuiltInPrefix = "warpchat__";  // no tool of a server begins so

class BuiltInTools : public ToolSource {
 public:
  // folders: that read_file and search may read, which do not exist without any. Error: one of them is no folder.
  explicit BuiltInTools(const std::vector<std::string>& folders);

  std::vector<std::string> folders() const { return folders_.paths(); }  // real ones
  std::vector<Tool> declarations() const override;
  ToolResult call(std::string_view name, const nlohmann::json& arguments, const ToolCallControl& control) override;

 private:
  OpenedFolders folders_;
};

}  // namespace warpchat
