// The conversation is read here and once more when it is opened: its model is loaded before.
#include "app/terminal/resumed_options.h"

#include <filesystem>

#include "app/model_choice/endpoint_book.h"
#include "app/model_choice/remembered_model.h"
#include "app/platform/directories.h"
#include "app/platform/output.h"
#include "app/platform/spinner.h"
#include "app/settings/assistants.h"
#include "app/terminal/conversation_list.h"
#include "engine/store/conversation_store.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr size_t kMaxShownModel = 300;

std::optional<StoredConversation> find_stored(const std::string& wanted) {
  try {
    if (!std::filesystem::exists(data_directory())) return std::nullopt;
    const ConversationStore::Opened opened = [] {
      const Spinner spinner("opening the conversations");
      return ConversationStore::open(data_directory());
    }();
    if (!opened.notice.empty()) print_error(opened.notice);
    const FoundConversation found = find_resumed(*opened.store, wanted);
    return found.fault.empty() ? std::optional(opened.store->load(found.id)) : std::nullopt;
  } catch (const Error&) {  // reported when it is opened
    return std::nullopt;
  }
}

void take_model(ChatOptions& options, const StoredConversation& stored) {
  const auto [model, url] = remembered_model(stored);
  const bool is_flag =
      options.is_flag(kModelSetting, options.model) || options.is_flag(kEndpointSetting, options.endpoint);
  if (is_flag || model.empty()) return;
  if (!url.empty()) {
    const EndpointBook book;
    const NamedEndpoint* named = book.find_url(url);
    options.endpoint = named != nullptr ? named->name : url, options.model = model;
    return;
  }
  std::error_code error;
  if (std::filesystem::is_regular_file(model, error)) {
    options.endpoint.clear(), options.model = model;
    return;
  }
  print_error("the model of this conversation is gone: " + printable(model, kMaxShownModel));
}

AnswerChoices choices_of(const StoredConversation& stored) {
  const AnswerChoices own = answer_choices_from(stored.settings);
  const std::string assistant = assistant_in(stored.settings);
  if (assistant.empty()) return own;
  try {
    return over(own, options_of(load_assistant(assistant)));
  } catch (const Error& error) {
    print_error(error.what());
    return own;
  }
}

}  // namespace

ChatOptions with_resumed(ChatOptions options, ResumedChoices choices) {
  if (!options.resume) return options;
  const std::optional<StoredConversation> stored = find_stored(*options.resume);
  if (!stored) return options;
  take_model(options, *stored);
  if (choices == ResumedChoices::kLeft) return options;
  static_cast<AnswerChoices&>(options) = over(options, choices_of(*stored));
  if (options.kept.contains("system-prompt")) options.system_prompt.clear();  // the conversation has its own
  return options;
}

}  // namespace warpchat
