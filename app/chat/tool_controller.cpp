// The servers open while the model loads; what they tell reaches the controller as tasks.
#include "app/chat/tool_controller.h"

#include <utility>

#include "models/error.h"
#include "models/text_format.h"
#include "models/threads.h"

namespace warpchat {

namespace {

constexpr auto kReplace = nlohmann::json::error_handler_t::replace;

ToolServerLine line_of(const McpServerState& server) {
  ToolServerLine line{
      .name = server.name, .address = server.address, .is_open = server.state == McpState::kOpen, .log = server.log};
  switch (server.state) {
    case McpState::kWaiting:
    case McpState::kOpening:
      line.condition = "is being opened";
      break;
    case McpState::kOpen:
      line.condition = counted(server.n_tools, "tool") + ", MCP " + server.version;
      break;
    case McpState::kFailed:
      line.condition = "cannot be used: " + server.reason;
      break;
    case McpState::kEnded:
      line.condition = "has ended" + (server.reason.empty() ? "" : ": " + server.reason);
      break;
  }
  return line;
}

// The difference that the tools make to a short prompt; 0: the model does not count.
uint32_t tokens_of(Responder& model, const Tools& tools) {
  const std::vector<Message> question{{.role = "user", .content = "?"}};
  try {
    AnswerOptions options;
    const std::optional<uint32_t> without = model.count(question, options);
    add_tools(options, tools);
    const std::optional<uint32_t> with = model.count(question, options);
    return with && without && *with > *without ? *with - *without : 0;
  } catch (const PromptTooLong& error) {
    return error.tokens;
  } catch (const Error&) {
    return 0;
  }
}

// Those that are left where the file of servers has a fault.
ToolSources own_sources(ToolFlags flags) {
  flags.no_mcp = true;
  flags.mcp_config.clear();
  try {
    return tool_sources(flags);
  } catch (const Error&) {  // a folder's fault has been told
    return {};
  }
}

}  // namespace

ToolController::~ToolController() {
  stop_opening();
  if (opening_.joinable()) opening_.join();
}

void ToolController::begin(const ToolFlags& flags) {
  ToolSources sources;
  try {
    sources = tool_sources(flags);
  } catch (const Error& error) {
    state_.tell_error(error.what());
    sources = own_sources(flags);
  }
  for (const std::string& warning : sources.servers.warnings) state_.tell_error(warning);
  const auto on_notice = [this](const std::string& sentence) {
    post_([this, sentence] { state_.tell_error(sentence); });
  };
  access_.emplace(std::move(sources), flags, /*can_ask=*/true, on_notice);
  access_->has_servers() ? open() : opened();
}

void ToolController::open() {
  if (opening_.joinable()) opening_.join();  // it has ended
  is_opening_ = true;
  stop_ = {};
  list();
  const auto open = [this, stop = stop_.get_token()] {
    try {
      access_->open_servers(stop);
    } catch (const McpStopped&) {  // those that have opened are not used either
    }
    post_([this] { opened(); });
  };
  try {
    opening_ = start_thread("to open the MCP servers", open, [this](const char* sentence) {
      post_([this, sentence = std::string(sentence)] {
        state_.tell_error(sentence);
        opened();
      });
    });
  } catch (const Error& error) {
    state_.tell_error(error.what());
    opened();
  }
}

void ToolController::follow_servers() {
  if (is_opening_ || std::exchange(has_followed_, false) || !access_->have_other_tools()) return;
  has_followed_ = true;
  open();
}

void ToolController::stop_opening() { stop_.request_stop(); }

void ToolController::opened() {
  is_opening_ = false;
  access_->list_again();
  list();
}

std::shared_ptr<Approval> ToolController::approval_of(ConversationId id) {
  const auto kept = kept_.find(id);
  return kept != kept_.end() ? kept->second : access_->new_approval();
}

void ToolController::keep(ConversationId id, std::shared_ptr<Approval> approval) {
  if (id != 0) kept_[id] = std::move(approval);
}

bool ToolController::are_offered_to(const Responder* model) const {
  return model != nullptr && !access_->tools().list().empty() && model->facts().can_call_tools;
}

void ToolController::tell_if_useless(const ResponderFacts& model) {
  if (model.can_call_tools || access_->tools().list().empty() || told_about_ == model.model) return;
  told_about_ = model.model;
  state_.tell_error("the chat template of " + model.model + " has no place for tools; none are offered");
}

std::shared_ptr<Responder> ToolController::answers_of(std::shared_ptr<Responder> model,
                                                      std::shared_ptr<Approval> approval) const {
  return are_offered_to(model.get()) ? access_->answers_of(std::move(model), std::move(approval)) : model;
}

void ToolController::add_to(AnswerOptions& options, const Responder* model) const {
  if (are_offered_to(model)) add_tools(options, access_->tools());
}

bool ToolController::set(Approval& approval, const std::string& tool, Permission permission) {
  const Tool* found = access_->tools().find(tool);
  if (found == nullptr) return false;
  try {
    if (const std::string fault = approval.set(*found, permission); !fault.empty()) state_.tell_error(fault);
  } catch (const Error& error) {
    state_.tell_error(error.what());
  }
  return true;
}

void ToolController::read_servers(const std::string& path) {
  McpConfig read = read_mcp_config(path);
  std::erase_if(read.servers, [](const McpServerConfig& server) { return server.is_disabled; });
  if (read.servers.empty()) throw Error(path + " has no server that is not disabled");
  ServerImport import{path, "", read.servers.size()};
  for (const McpServerConfig& server : read.servers) import.shown += shown_server(server) + "\n";
  imported_ = std::move(read);  // only what is shown may be added
  show_import(std::move(import));
}

void ToolController::show_import(std::optional<ServerImport> import) {
  OfferedTools offered = state_.now().tools;
  offered.import = std::move(import);
  state_.change(updates::SetTools{std::move(offered)});
}

void ToolController::add_servers(bool are_wanted) {
  if (are_wanted && is_opening_) throw Error("the servers are still being opened; try again once they are");
  if (!state_.now().tools.import) return;
  show_import(std::nullopt);
  if (!are_wanted) return;
  keep_servers(imported_.servers);
  access_->add_servers(std::exchange(imported_, {}));
  open();
}

void ToolController::open_folder(const std::string& folder) { access_->open_folder(folder); }

void ToolController::show(std::shared_ptr<Approval> approval) {
  shown_ = std::move(approval);
  list();
}

void ToolController::list(Responder* model) {
  OfferedTools offered{.is_opening = is_opening_, .folders = access_->folders(), .import = state_.now().tools.import};
  for (const McpServerState& server : access_->servers()) offered.servers.push_back(line_of(server));
  const std::vector<Tool>& tools = access_->tools().list();
  const std::vector<Permission> permissions = (shown_ ? *shown_ : *access_->new_approval()).permissions(tools);
  for (size_t i = 0; i < tools.size(); ++i)
    offered.tools.push_back(
        {tools[i].name, tools[i].description, tools[i].schema.dump(2, ' ', false, kReplace), permissions[i]});
  if (are_offered_to(model)) offered.tokens = tokens_of(*model, access_->tools());
  if (offered != state_.now().tools) state_.change(updates::SetTools{std::move(offered)});
}

}  // namespace warpchat
