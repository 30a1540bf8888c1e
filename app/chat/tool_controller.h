// The tools of a run: opens the servers on a thread, keeps each conversation's approval, and offers the tools to
// models.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "app/chat/state/inbox.h"
#include "app/chat/state/state_store.h"
#include "app/mcp/tool_access.h"

namespace warpchat {

class ToolController {
 public:
  ToolController(StateStore& state, std::function<void(Task)> post) : state_(state), post_(std::move(post)) {}
  ~ToolController();  // ends the servers

  void begin(const ToolFlags& flags);  // a fault of the configuration is told, and there are no servers then
  bool is_opening() const { return is_opening_; }
  // Before a message: lists the tools of servers that have told of other ones, and is_opening() until they are there.
  // At the second call for the message nothing is listed, since a server may tell each time.
  void follow_servers();
  void stop_opening();  // the servers that have not opened are left out

  // The conversation's, from its last time on; a new one for id 0.
  std::shared_ptr<Approval> approval_of(ConversationId id);
  void keep(ConversationId id, std::shared_ptr<Approval> approval);

  bool are_offered_to(const Responder* model) const;  // there are some, and its template has a place for them
  void tell_if_useless(const ResponderFacts& model);  // once for a model
  std::shared_ptr<Responder> answers_of(std::shared_ptr<Responder> model, std::shared_ptr<Approval> approval) const;
  void add_to(AnswerOptions& options, const Responder* model) const;  // for a prompt with the same beginning

  // Says so where a permission holds in this conversation alone. False: there is no such tool.
  bool set(Approval& approval, const std::string& tool, Permission permission);
  void open_folder(const std::string& folder);  // Error

  // Servers of a file are shown before they are started. Error: the file, or mcp.json, has a fault.
  void read_servers(const std::string& path);
  void add_servers(bool are_wanted);

  void show(std::shared_ptr<Approval> approval);  // of the conversation that is shown from now on
  void list(Responder* model = nullptr);          // model: what the tools cost its prompts is counted

 private:
  void open();
  void opened();
  void show_import(std::optional<ServerImport> import);

  StateStore& state_;
  const std::function<void(Task)> post_;
  ToolFlags flags_;
  std::optional<ToolAccess> access_;  // after begin()
  std::map<ConversationId, std::shared_ptr<Approval>> kept_;
  std::shared_ptr<Approval> shown_;  // null: of none yet
  bool is_opening_ = false, has_followed_ = false;
  std::string told_about_;  // the model that has no place for tools
  McpConfig imported_;      // that is shown
  std::stop_source stop_;
  std::thread opening_;
};

}  // namespace warpchat
