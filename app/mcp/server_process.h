// The process of a server: its environment, its program, its start and its end.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "app/mcp/mcp_config.h"
#include "app/platform/process_start.h"

namespace warpchat {

// "NAME=value": of this program's variables the few that programs need, without keys, and those of the configuration.
std::vector<std::string> server_environment(const McpServerConfig& config);

class ServerProcess {  // with a guard, which kills its group when this program ends without ending it
 public:
  // Error, part of a sentence: there is no such program (with the folders of PATH), or the system does not start it.
  explicit ServerProcess(const McpServerConfig& config);
  ~ServerProcess();  // kills it and its group unless it has been reaped
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  Pipe& in() { return in_; }    // written here
  Pipe& out() { return out_; }  // read here, like err
  Pipe& err() { return err_; }
  int descriptor() const { return descriptor_; }  // readable once the process has ended; -1: the kernel has none

  bool has_ended() const;
  void signal_group(int number) const;  // the process and those that it started
  // Kills what is left of its group, and waits for the process. How it ended: "exit code 1", "signal 9 (Killed)".
  std::string reap();

 private:
  Pipe in_{Pipe::Own::kWriter}, out_, err_;
  pid_t pid_ = 0;  // also of its group; 0: reaped
  int descriptor_ = -1;
};

}  // namespace warpchat
