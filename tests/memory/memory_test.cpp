// Each flow of the program with its n-th allocation failing, for one n after another, and with all from the n-th on: it
// ends with a sentence or with success, never with a signal or a hang. What was said to be stored is stored.
//
// n goes to 200, and over the rest in steps; with $WARPCHAT_FULL_TESTS to 2,000 and every 50th beyond.
// $WARPCHAT_FAILING_ALLOCATION=N or N-: only the N-th, or all from it on, to look at one with a debugger.
#include <curl/curl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "app/chat/chat_controller.h"
#include "app/formats/transfer.h"
#include "app/program.h"
#include "app/settings/options.h"
#include "engine/remote/remote_responder.h"
#include "engine/session/local_responder.h"
#include "engine/store/answer_writer.h"
#include "engine/store/conversation_store.h"
#include "tests/memory/small_server.h"
#include "tests/memory/trial.h"
#include "tests/support/test_files.h"
#include "tests/support/tiny_model.h"

namespace warpchat {
namespace {

namespace fs = std::filesystem;

constexpr char kOnStandardError[] = "it is on standard error";
constexpr size_t kTurns = 4;  // of each conversation that is exported or imported

const std::string& tiny_path() {
  static const TemporaryFile file(build_tiny_model(TinyModelSpec::smallest(), /*seed=*/5));
  return file.path();
}

const SmallServer& server() {
  static const SmallServer running;
  return running;
}

ModelOptions model_options() {
  ModelOptions options;
  options.path = tiny_path();
  options.threads = 2;
  options.context = 512;
  options.check_device = false;
  return options;
}

std::string store_folder(const Trial& trial) {
  const std::string folder = trial.path("warpchat");
  fs::create_directories(folder);
  return folder;
}

ConversationTree sample_tree(const std::string& title) {
  ConversationTree tree{.title = title, .system_prompt = "be brief", .model = "m", .created = 1'000, .updated = 2'000};
  for (size_t i = 1; i <= kTurns; ++i) {
    Message message{.role = i % 2 == 1 ? "user" : "assistant", .content = "text " + std::to_string(i)};
    if (i == 1) message.files = {{.name = "a.txt", .text = "of a file"}};
    const auto id = static_cast<TurnId>(i);
    tree.turns.push_back({id, id - 1, message, TurnState::kComplete, 1'000});
  }
  tree.shown = kTurns;
  return tree;
}

// --- Flows ---

void load(Trial& trial) {
  trial.begin();
  const std::unique_ptr<Model> model = Model::load(model_options());
  const LocalResponder responder(*model);
  trial.end();
  std::printf("%u\n", responder.facts().context);
}

// One answer, as the command line gives it.
Flow answer_to(const std::vector<std::string>& arguments) {
  const auto parsed = std::make_shared<ParsedOptions>(parse_options(arguments));
  return [parsed](Trial& trial) {
    trial.begin();
    const int code = run_program(*parsed);
    trial.end();
    if (code == 1) return trial.say(kOnStandardError);
    if (code != 0) std::printf("exit code %d\n", code);
  };
}

void settle(ChatController& controller) {
  int quiet = 0;
  for (int i = 0; i < 5000 && quiet < 3; ++i) {
    controller.turn(std::chrono::milliseconds(1));
    quiet = controller.take_updates().empty() && !controller.busy() ? quiet + 1 : 0;
  }
}

void ask(ChatController& controller, const std::string& what) {
  controller.submit(Send{what});
  settle(controller);
}

void note_what_is_said(const ChatState& state, Trial& trial) {
  for (const NoticeItem& notice : state.notices)
    if (notice.is_error) trial.say(notice.text.c_str());
  for (const ChatMessage& message : state.open.messages)
    if (!message.failure.empty()) trial.say(message.failure.c_str());
  trial.report().conversation = state.open.id;
  trial.report().n_stored = 0;
  for (const ChatMessage& message : state.open.messages) trial.report().n_stored += message.turn != 0;
}

// A conversation with a store, as terminal and window have it. What is thrown ends it; else it goes on.
void converse(Trial& trial, std::shared_ptr<Responder> responder) {
  ChatOptions options;
  options.temperature = 0.f;
  options.n_predict = 4;
  options.seed = 1;
  ChatController controller(options, std::move(responder));
  settle(controller);
  trial.begin();
  try {
    ask(controller, "one");
  } catch (const std::exception& error) {
    trial.say(error.what());
    trial.end();
    note_what_is_said(controller.now(), trial);
    return controller.close();
  }
  trial.end();
  note_what_is_said(controller.now(), trial);
  for (const ChatMessage& message : controller.now().open.messages) std::printf("%s\n", message.content.c_str());
  ask(controller, "two");
  const OpenConversation& open = controller.now().open;
  if (open.messages.empty() || open.messages.back().role != "assistant" || open.messages.back().content.empty())
    std::printf("the next message got no answer\n");
  for (const ChatMessage& message : open.messages)
    if (message.turn == 0) std::printf("'%s' is not stored once there is memory\n", message.content.c_str());
  note_what_is_said(controller.now(), trial);
  controller.close();
}

void chat(Trial& trial) {
  struct Local {
    std::unique_ptr<Model> model = Model::load(model_options());
    LocalResponder responder{*model};
  };
  const auto local = std::make_shared<Local>();
  converse(trial, {local, &local->responder});
}

void stream(Trial& trial) {
  converse(trial, std::make_shared<RemoteResponder>(Endpoint{.url = base_url(server().url())},
                                                    RemoteModel{.id = "small", .context = 4096}));
}

void open_store(Trial& trial) {
  const std::string folder = store_folder(trial);
  trial.begin();
  ConversationStore::open(folder);
  std::printf("%s\n", ConversationStore::open(folder).notice.c_str());
}

// A conversation whose answer streams into the store. The report has what the store said to have.
void store_conversation(ConversationStore& store, TrialReport& report) {
  const auto started = store.start({"title", "be brief", "model"}, {.role = "user", .content = "one"});
  report.conversation = started.conversation;
  report.n_stored = 1;
  AnswerWriter writer(store, started.conversation, started.turn);
  Message answer{.role = "assistant"};
  const AnswerWriter::Clock::time_point now = AnswerWriter::Clock::now();
  for (int i = 0; i < 3; ++i) {
    answer.content += "piece ";
    writer.follow(answer, now + i * 2 * AnswerWriter::kInterval);
    report.n_stored = 2;
  }
  writer.finish(answer, TurnState::kComplete);
  store.add(started.conversation, writer.turn(), {.role = "user", .content = "two"});
  report.n_stored = 3;
}

// With memory again, the same store goes on.
void save(Trial& trial) {
  const auto store = ConversationStore::open(store_folder(trial)).store;
  trial.begin();
  try {
    store_conversation(*store, trial.report());
  } catch (const std::exception& error) {
    trial.say(error.what());
  }
  trial.end();
  TrialReport next = {};
  store_conversation(*store, next);
  const size_t n = ConversationStore::open(store_folder(trial)).store->load(next.conversation).turns.size();
  if (n != next.n_stored) std::printf("the next conversation is not stored once there is memory\n");
}

void export_both(Trial& trial) {
  const auto store = ConversationStore::open(store_folder(trial)).store;
  const ConversationId id = store->insert(sample_tree("exported"));
  trial.begin();
  const ConversationTree tree = store->tree(id);
  export_conversation(tree, trial.path("exported.json"));
  export_conversation(tree, trial.path("exported.md"));
}

Flow import_of(const std::string& name, const std::string& text) {
  return [name, text](Trial& trial) {
    const auto store = ConversationStore::open(store_folder(trial)).store;
    std::ofstream(trial.path(name)) << text;
    trial.begin();
    Imported imported;
    import_conversations(*store, trial.path(name), imported);
    trial.end();
    std::printf("%zu %s\n", imported.ids.size(), imported.left_out.c_str());
    trial.report().conversation = imported.newest;
    trial.report().n_stored = kTurns;
  };
}

std::string claude_export() {
  std::string text;
  for (const char* title : {"a", "b", "c"})
    text += std::string(text.empty() ? "[" : ",") + R"({"uuid":"x","name":")" + title +
            R"(","created_at":"2024-06-27T10:00:00Z","chat_messages":[)"
            R"({"text":"hi","sender":"human"},{"text":"yes","sender":"assistant"},)"
            R"({"text":"so","sender":"human"},{"text":"no","sender":"assistant"}]})";
  return text + "]";
}

// --- Checks ---

bool is_sentence(const std::string& text) {
  return text.size() > 10 && text.find("bad_alloc") == std::string::npos && text.find("std::") == std::string::npos;
}

// Empty: the store of a trial is whole and has what was said to be in it.
std::string fault_of_store(const std::string& folder, const TrialReport& report) {
  const std::string path = folder + "/warpchat/conversations.db";
  if (!fs::exists(path)) return report.n_stored == 0 ? "" : "there is no store";
  {
    const Database database(path);
    Statement check = database.prepare("PRAGMA integrity_check");
    if (!check.step() || check.text(0) != "ok") return "the store is damaged: " + check.text(0);
  }
  const ConversationStore::Opened opened = ConversationStore::open(folder + "/warpchat");
  if (!opened.notice.empty()) return opened.notice;
  if (report.conversation == 0) return report.n_stored == 0 ? "" : "what was said to be stored belongs to nothing";
  const size_t n = opened.store->load(report.conversation).turns.size();
  return n >= report.n_stored ? "" : std::to_string(report.n_stored - n) + " messages that were stored are lost";
}

std::string fault_of_imports(const std::string& folder) {
  for (const ConversationSummary& conversation : ConversationStore::open(folder + "/warpchat").store->list())
    if (conversation.n_messages != kTurns)
      return "a conversation was imported with " + std::to_string(conversation.n_messages) + " of its messages";
  return "";
}

std::string fault_of_exports(const std::string& folder) {
  const ConversationTree tree = ConversationStore::open(folder + "/warpchat").store->tree(1);
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("exported.")) continue;
    const std::string text = text_of(entry.path());
    const bool is_whole =
        (name == "exported.json" && text == to_json(tree)) || (name == "exported.md" && text == to_markdown(tree));
    if (!is_whole) return name + " is left half-written";
  }
  return "";
}

struct FlowCase {
  const char* name;
  std::function<Flow()> make;
  std::string (*fault_of_files)(const std::string& folder) = [](const std::string&) { return std::string(); };
};

const FlowCase kFlows[] = {
    {"load", [] { return load; }},
    {"answer",
     [] {
       return answer_to(
           {"-m", tiny_path(), "--device", "cpu", "-t", "2", "-c", "512", "-p", "hi", "-n", "4", "--temp", "0"});
     }},
    {"answer_of_a_server",
     [] {
       return answer_to({"--endpoint", server().url(), "-p", "hi"});
     }},
    {"chat", [] { return chat; }},
    {"stream", [] { return stream; }},
    {"open_store", [] { return open_store; }},
    {"save", [] { return save; }},
    {"export", [] { return export_both; }, fault_of_exports},
    {"import_own_json", [] { return import_of("in.json", to_json(sample_tree("imported"))); }, fault_of_imports},
    {"import_markdown", [] { return import_of("in.md", to_markdown(sample_tree("imported"))); }, fault_of_imports},
    {"import_claude", [] { return import_of("in.json", claude_export()); }, fault_of_imports},
};

// A folder in memory, where there is one: every trial writes a store.
class TrialFolder {
 public:
  TrialFolder() {
    const std::string parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : testing::TempDir();
    path_ = parent + "warpchat_memory_XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~TrialFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TrialFolder(const TrialFolder&) = delete;
  TrialFolder& operator=(const TrialFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<FailureRange> ranges_for(uint64_t n_allocations) {
  if (const char* wanted = getenv("WARPCHAT_FAILING_ALLOCATION")) {
    char* end = nullptr;
    const uint64_t first = strtoull(wanted, &end, 10);
    return {{first, *end == '-' ? UINT64_MAX : first}};
  }
  const bool full = getenv("WARPCHAT_FULL_TESTS") != nullptr;
  const uint64_t n_each = full ? 2000 : 200, beyond = full ? 50 : std::max<uint64_t>(n_allocations / 50, 1);
  std::vector<FailureRange> ranges;
  for (uint64_t n = 1; n <= n_allocations; n += n < n_each ? 1 : beyond) {
    ranges.push_back({n, n});
    if (n % 10 == 0) ranges.push_back({n, UINT64_MAX});
  }
  return ranges;
}

class Memory : public testing::TestWithParam<FlowCase> {};

TEST_P(Memory, AFailingAllocationEndsInASentenceOrInSuccess) {
  const FlowCase& flow_case = GetParam();
  tiny_path();                            // else each child would write one, and leave it
  curl_global_init(CURL_GLOBAL_DEFAULT);  // OpenSSL 3.5 waits for itself where its own beginning finds no memory
  const Flow flow = flow_case.make();
  std::string whole;
  // Empty: all is well.
  const auto fault_with = [&](FailureRange range, TrialResult& result) -> std::string {
    const TrialFolder folder;
    result = run_trial(flow, folder.path(), range);
    if (!result.fault.empty()) return result.fault + "\n" + result.errors;
    const std::string sentence =
        result.report.sentence == std::string(kOnStandardError) ? result.errors : result.report.sentence;
    if (!sentence.empty() && !is_sentence(sentence)) return "this is no sentence: '" + sentence + "'";
    if (result.output.find("\nthe next message got no answer") != std::string::npos) return result.output;
    if (result.output.find(" is not stored once there is memory") != std::string::npos) return result.output;
    if (sentence.empty() && !whole.empty() && result.output != whole)
      return "it says nothing, and its result is '" + result.output + "' instead of '" + whole + "'";
    const std::string of_store = fault_of_store(folder.path(), result.report);
    return of_store.empty() ? flow_case.fault_of_files(folder.path()) : of_store;
  };
  TrialResult result;
  ASSERT_EQ(fault_with(kNoFailure, result), "");
  ASSERT_EQ(std::string(result.report.sentence), "") << result.errors;
  whole = result.output;
  const uint64_t n_allocations = result.report.n_allocations;
  ASSERT_GT(n_allocations, 20u);
  RecordProperty("allocations", std::to_string(n_allocations));
  int n_faults = 0;
  for (const FailureRange& range : ranges_for(n_allocations)) {
    const std::string fault = fault_with(range, result);
    if (fault.empty()) continue;
    ADD_FAILURE() << "allocation " << range.first << (range.last == range.first ? "" : " and all later ones") << " of "
                  << n_allocations << ": " << fault << "\nit said: " << result.report.sentence;
    if (++n_faults == 5) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Flows, Memory, testing::ValuesIn(kFlows),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace warpchat
