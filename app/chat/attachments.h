// Files attached to the next message: text, or the text of a PDF. Each conversation has its own.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/chat/file_reader.h"
#include "app/chat/model_controller.h"
#include "app/chat/state/inbox.h"
#include "app/chat/state/state_store.h"

namespace warpchat {

class Attachments {
 public:
  // post: runs a task on the controller's thread.
  Attachments(StateStore& state, const ModelController& models, const std::function<void(Task)>& post);

  void add(const std::string& path);  // starts reading; an error becomes a notice
  void drop(size_t index);
  void cancel();                                                       // stops reading the pending files
  bool are_read() const;                                               // all of them
  void count();                                                        // again, after a change of model
  std::vector<AttachedFile> files() const;                             // as they are sent
  void clear();                                                        // they have been sent
  void put_back(const std::vector<AttachedFile>& files, TurnId turn);  // of a message that was taken back, in front
  void drop_files_of(TurnId turn);                                     // that were put back: the message is there again
  void change_conversation(ConversationId from, ConversationId to);
  void forget(ConversationId conversation) { others_.erase(conversation); }

 private:
  struct File {
    uint64_t id;
    Attachment shown;
    std::string text;
    TurnId put_back_from = 0;  // 0: it was attached
  };
  void attach(FileReader::File read);
  void take_in(std::vector<File>& files, FileReader::File& read);
  void count(File& file) const;
  void show();

  StateStore& state_;
  const ModelController& models_;
  std::vector<File> files_;
  std::map<ConversationId, std::vector<File>> others_;  // of conversations that are not shown
  uint64_t last_id_ = 0;
  FileReader reader_;
};

}  // namespace warpchat
