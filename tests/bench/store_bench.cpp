// What the store of conversations adds to the program's start, to lists, searches and opening a conversation, as it
// grows: store_bench FOLDER [CONVERSATIONS...]. Fills a store of each size (5,000 and 50,000, with 20 messages each)
// below the folder, unless it is there from an earlier run. Medians of the thread's CPU time, which a busy machine
// distorts least; the file is in the page cache.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "engine/store/conversation_store.h"
#include "models/error.h"
#include "tests/bench/median.h"

namespace warpchat {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMessages = 20;            // of a conversation
constexpr int64_t kPerTransaction = 20'000;  // messages
constexpr StoreTime kBegin = 1'600'000'000'000, kBetweenMessages = 90'000;
constexpr size_t kVocabulary = 30'000;

// Words of one to four syllables. The n-th is drawn about 1 / n as often as the first, as in natural text.
class Writer {
 public:
  Writer() {
    constexpr const char* kSyllables[] = {"ba", "con", "de", "er",  "fi", "gra", "ho", "in", "jo", "ka", "lu", "men",
                                          "no", "or",  "pe", "qui", "re", "sta", "ti", "un", "va", "we", "xi", "yl"};
    words_ = {"the", "of", "and", "to", "in", "is", "that", "it", "for", "go", "function", "memory"};
    while (words_.size() < kVocabulary) {
      std::string word;
      for (uint64_t n = 1 + random_() % 4; n-- > 0;) word += kSyllables[random_() % std::size(kSyllables)];
      words_.push_back(word);
    }
  }

  bool once_in(uint64_t n) { return random_() % n == 0; }
  uint64_t below(uint64_t n) { return random_() % n; }

  std::string text(size_t bytes) {
    std::string text;
    while (text.size() < bytes) {
      const double drawn = static_cast<double>(random_() >> 11) * 0x1p-53;
      text += words_[static_cast<size_t>(std::pow(static_cast<double>(kVocabulary), drawn)) - 1];
      text += once_in(12) ? ".\n" : " ";
    }
    if (once_in(50)) text += "你好世界，今天天气很好。";
    if (once_in(100'000)) text += "zyzzyva 鲸鱼";
    return text;
  }

 private:
  std::mt19937_64 random_{1};
  std::vector<std::string> words_;
};

// A few messages continue an older conversation, as people do.
void fill(const std::string& folder, int64_t n_conversations) {
  ConversationStore::open(folder);
  const Database database(folder + "/conversations.db");
  database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000");
  Statement add = database.prepare(
      "INSERT INTO conversations(title, model, created, updated) VALUES (?1, '/models/a.gguf', ?2, ?2)");
  Statement parent = database.prepare(
      "SELECT head, coalesce((SELECT depth FROM turns WHERE id = head), 0)"
      " FROM conversations WHERE id = ?1");
  Statement turn = database.prepare(
      "INSERT INTO turns(conversation, parent, depth, role, text, state, created)"
      " VALUES (?1, nullif(?2, 0), ?3, ?4, ?5, 1, ?6)");
  Statement show = database.prepare("UPDATE conversations SET head = ?2, updated = ?3 WHERE id = ?1");
  Writer writer;
  StoreTime now = kBegin;
  int64_t n_turns = 0;
  database.run("BEGIN");
  for (int64_t conversation = 1; conversation <= n_conversations; ++conversation) {
    add.with(writer.text(30), now).run();
    for (int64_t i = 0; i < kMessages; i += 2) {
      const bool is_old = conversation > 1 && writer.once_in(30);
      const auto to =
          is_old ? static_cast<int64_t>(1 + writer.below(static_cast<uint64_t>(conversation))) : conversation;
      for (const char* role : {"user", "assistant"}) {
        parent.with(to).step();
        now += kBetweenMessages;
        turn.with(to, parent.integer(0), parent.integer(1) + 1, std::string_view(role),
                  writer.text(*role == 'u' ? 20 + writer.below(180) : 100 + writer.below(800)), now)
            .run();
        show.with(to, database.last_row(), now).run();
        if (++n_turns % kPerTransaction == 0) database.run("COMMIT; BEGIN");
      }
    }
  }
  parent.with(0).run();
  database.run("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
}

double cpu_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

double milliseconds(const std::function<void()>& call) {
  std::vector<double> times;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(2);
  while (times.size() < 5 || (times.size() < 51 && Clock::now() < end)) {
    const double begin = cpu_milliseconds();
    call();
    times.push_back(cpu_milliseconds() - begin);
  }
  return median(times);
}

struct Row {
  std::string name;
  std::vector<double> times;  // by store
};

void measure(const std::string& folder, std::vector<Row>& rows) {
  size_t at = 0;
  const auto add = [&](const std::string& name, const std::function<void()>& call) {
    if (at == rows.size()) rows.push_back({name, {}});
    rows[at++].times.push_back(milliseconds(call));
  };
  const auto store = ConversationStore::open(folder).store;
  const ConversationFilter shown{.archived = false, .pinned_first = true};
  ConversationFilter by_title = shown;
  by_title.order = ConversationOrder::kTitle;
  add("start: open, list, trash", [&] {
    const auto opened = ConversationStore::open(folder).store;
    opened->list(1000, shown);
    opened->trash();
  });
  add("list", [&] { store->list(1000, shown); });
  add("list by title", [&] { store->list(1000, by_title); });
  struct Search {
    const char *name, *words;
  };
  constexpr Search kSearches[] = {{"a common word", "the"},
                                  {"a long common word", "function"},
                                  {"a rare word", "zyzzyva"},
                                  {"two words", "function memory"},
                                  {"a word that is nowhere", "nowherefound"},
                                  {"two CJK letters", "世界"},
                                  {"two rare CJK letters", "鲸鱼"},
                                  {"two letters", "go"},
                                  {"one letter", "q"}};
  for (const Search& search : kSearches)
    add(std::string("search: ") + search.name, [&] { store->search(search.words); });
  const std::vector<ConversationSummary> latest = store->list(500);
  size_t next = 0;
  add("open a conversation", [&] { store->load(latest[next++ % latest.size()].id); });
}

int run(int n_arguments, char** arguments) {
  std::vector<int64_t> sizes;
  for (int i = 2; i < n_arguments; ++i) sizes.push_back(std::atoll(arguments[i]));
  if (sizes.empty()) sizes = {5'000, 50'000};
  std::vector<Row> rows;
  std::printf("%-34s", "milliseconds, medians");
  for (const int64_t n : sizes) std::printf("%12lld", static_cast<long long>(n));
  std::printf("\n");
  for (const int64_t n : sizes) {
    const std::string folder = std::string(arguments[1]) + "/" + std::to_string(n);
    if (mkdir(folder.c_str(), 0700) == 0) fill(folder, n);
    measure(folder, rows);
  }
  for (const Row& row : rows) {
    std::printf("%-34s", row.name.c_str());
    for (const double time : row.times) std::printf("%12.2f", time);
    std::printf("%10.1fx\n", row.times.back() / row.times.front());
  }
  return 0;
}

}  // namespace
}  // namespace warpchat

int main(int n_arguments, char** arguments) {
  if (n_arguments < 2) return std::fprintf(stderr, "usage: store_bench FOLDER [CONVERSATIONS...]\n"), 2;
  try {
    return warpchat::run(n_arguments, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "store_bench: %s\n", error.what());
    return 1;
  }
}
