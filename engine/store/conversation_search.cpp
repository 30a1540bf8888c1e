// Finds conversations by words, latest first, and stops after a page. Few hits are all looked up. Where words are
// common, the conversations are walked by time, and the index is asked for the turns of some of them at a time.
#include <algorithm>
#include <map>
#include <optional>

#include "engine/store/conversation_filter.h"
#include "engine/store/conversation_store.h"
#include "engine/store/search_words.h"

namespace warpchat {

namespace {

constexpr int64_t kMaxHits = 1000;                    // turns of a search that are all looked up
constexpr int64_t kFirstStep = 128, kMaxStep = 4096;  // conversations of the walk at a time
constexpr int64_t kMaxGap = 64;                       // ids between two of one run
constexpr int64_t kMaxTerms = 500;                    // of the index that begin with a short word

struct Found {
  ConversationId conversation;
  TurnId turn;  // 0: the title has the words
};

struct Index {
  std::string name, terms;
};
const Index kTexts{"text_index", "text_terms"}, kTitles{"title_index", "title_terms"};

class Search {
 public:
  Search(const Database& database, std::vector<std::string> words, const ConversationFilter& filter, size_t limit)
      : database_(database), words_(std::move(words)), filter_(filter), limit_(limit) {
    for (std::string& word : words_) word = folded(word);
  }

  std::vector<Found> run() {
    has_short_word_ = std::ranges::any_of(words_, [](const std::string& word) { return !fits_index(word); });
    if (has_short_word_) {  // mostly a page of it is among the latest
      std::vector<Found> latest = walk(static_cast<int64_t>(2 * limit_), [&](const auto& some) { return read(some); });
      if (latest.size() >= limit_) return latest;
    }
    const std::optional<std::string> texts = expression(kTexts), titles = expression(kTitles);
    if (!texts || !titles) return walk(INT64_MAX, [&](const auto& some) { return read(some); });
    const std::vector<int64_t> turns = newest(kTexts, *texts), titled = newest(kTitles, *titles);
    if (turns.size() <= kMaxHits && titled.size() <= kMaxHits) return all_of(turns, titled);
    return walk(INT64_MAX, [&](const auto& some) { return matching(some, *texts, *titles); });
  }

 private:
  using Hits = std::map<ConversationId, TurnId>;  // the newest turn of each
  using Conversations = std::vector<ConversationId>;

  // The words as an expression of FTS5, a short one as all terms that begin with it. Empty: one occurs nowhere.
  // nullopt: too many terms.
  std::optional<std::string> expression(const Index& index) const {
    Statement terms = database_.prepare("SELECT term FROM " + index.terms + " WHERE term >= ?1 AND term < ?2 LIMIT ?3");
    std::string all;
    for (const std::string& word : words_) {
      std::vector<std::string> any{word};
      if (!fits_index(word)) {
        any.clear();
        terms.with(word, word + "\U0010FFFF", kMaxTerms + 1);
        while (terms.step()) any.push_back(terms.text(0));
      }
      if (any.empty()) return "";
      if (any.size() > kMaxTerms) return std::nullopt;
      all += (all.empty() ? "(" : " AND (") + any_of(any) + ")";
    }
    return all;
  }

  std::vector<int64_t> newest(const Index& index, const std::string& expression) const {
    std::vector<int64_t> ids;
    if (expression.empty()) return ids;
    Statement row = database_.prepare("SELECT rowid FROM " + index.name + " WHERE " + index.name +
                                      " MATCH ?1 ORDER BY rowid DESC LIMIT ?2");
    row.with(expression, kMaxHits + 1);
    while (row.step()) ids.push_back(row.integer(0));
    return ids;
  }

  static void note(Hits& hits, ConversationId conversation, TurnId turn) {
    TurnId& newest = hits[conversation];
    newest = std::max(newest, turn);
  }

  // Open turns are in no index.
  void add_open(Hits& hits) const {
    Statement row = database_.prepare("SELECT conversation, id, text FROM turn_texts WHERE state = 0");
    while (row.step())
      if (has_all(folded(row.text(2)), words_)) note(hits, row.integer(0), row.integer(1));
  }

  std::vector<Found> all_of(const std::vector<int64_t>& turns, const std::vector<int64_t>& titled) const {
    Hits hits;
    for (const ConversationId id : titled) note(hits, id, 0);
    Statement of = database_.prepare("SELECT conversation FROM turns WHERE id = ?1");
    for (const TurnId turn : turns)
      if (of.with(turn).step()) note(hits, of.integer(0), turn);
    add_open(hits);
    Statement row =
        database_.prepare("SELECT c.updated FROM conversations AS c WHERE c.id = ?3 AND " + condition_of(filter_));
    std::vector<std::pair<StoreTime, Found>> found;
    for (const auto& [conversation, turn] : hits)
      if (row.with(filter_.folder.value_or(""), json_of(filter_.tags), conversation).step())
        found.push_back({row.integer(0), {conversation, turn}});
    std::ranges::sort(found, [](const auto& a, const auto& b) {
      return std::pair(a.first, a.second.conversation) > std::pair(b.first, b.second.conversation);
    });
    std::vector<Found> latest;
    for (size_t i = 0; i < std::min(limit_, found.size()); ++i) latest.push_back(found[i].second);
    return latest;
  }

  // Asks for the hits among some conversations, latest first, until a page is full. At most so many conversations.
  template <class HitsAmong>
  std::vector<Found> walk(int64_t n_conversations, const HitsAmong& hits_among) const {
    Statement row =
        database_.prepare("SELECT c.updated, c.id FROM conversations AS c WHERE (c.updated, c.id) < (?3, ?4) AND " +
                          condition_of(filter_) + " ORDER BY c.updated DESC, c.id DESC LIMIT ?5");
    std::vector<Found> found;
    std::pair<StoreTime, ConversationId> before{INT64_MAX, INT64_MAX};
    for (int64_t step = kFirstStep; found.size() < limit_ && n_conversations > 0; step = std::min(step * 4, kMaxStep)) {
      Conversations some;
      row.with(filter_.folder.value_or(""), json_of(filter_.tags), before.first, before.second,
               std::min(step, n_conversations));
      for (; row.step(); some.push_back(before.second)) before = {row.integer(0), row.integer(1)};
      if (some.empty()) break;
      n_conversations -= static_cast<int64_t>(some.size());
      const Hits hits = hits_among(some);
      for (const ConversationId conversation : some)
        if (const auto hit = hits.find(conversation); hit != hits.end() && found.size() < limit_)
          found.push_back({conversation, hit->second});
    }
    return found;
  }

  Hits matching(const Conversations& some, const std::string& texts, const std::string& titles) const {
    Hits hits;
    Conversations ids = some;
    std::ranges::sort(ids);
    for_each_match(kTitles, titles, ids, [&](size_t i) { note(hits, ids[i], 0); });
    std::vector<std::pair<TurnId, ConversationId>> turns;
    Statement row = database_.prepare("SELECT id FROM turns WHERE conversation = ?1");
    for (const ConversationId conversation : ids)
      for (row.with(conversation); row.step();) turns.emplace_back(row.integer(0), conversation);
    std::ranges::sort(turns);
    std::vector<TurnId> turn_ids;
    for (const auto& turn : turns) turn_ids.push_back(turn.first);
    for_each_match(kTexts, texts, turn_ids, [&](size_t i) { note(hits, turns[i].second, turns[i].first); });
    Hits open;
    add_open(open);
    for (const auto& [conversation, turn] : open)
      if (std::ranges::binary_search(ids, conversation)) note(hits, conversation, turn);
    return hits;
  }

  // The place in ids, which ascend, of each that matches. One question to the index a run of ids that lie close.
  template <class Look>
  void for_each_match(const Index& index, const std::string& expression, const std::vector<int64_t>& ids,
                      const Look& look) const {
    if (expression.empty()) return;
    Statement row = database_.prepare("SELECT rowid FROM " + index.name + " WHERE " + index.name +
                                      " MATCH ?1 AND rowid BETWEEN ?2 AND ?3");
    for (size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
      for (end = begin + 1; end < ids.size() && ids[end] - ids[end - 1] <= kMaxGap;) ++end;
      size_t at = begin;
      for (row.with(expression, ids[begin], ids[end - 1]); row.step();) {
        while (at < end && ids[at] < row.integer(0)) ++at;
        if (at < end && ids[at] == row.integer(0)) look(at);
      }
    }
  }

  // The same without an index.
  Hits read(const Conversations& some) const {
    Hits hits;
    Statement title = database_.prepare("SELECT title FROM conversations WHERE id = ?1");
    Statement text = database_.prepare("SELECT id, text FROM turn_texts WHERE conversation = ?1");
    for (const ConversationId conversation : some) {
      if (title.with(conversation).step() && has_all(folded(title.text(0)), words_)) note(hits, conversation, 0);
      for (text.with(conversation); text.step();)
        if (has_all(folded(text.text(1)), words_)) note(hits, conversation, text.integer(0));
    }
    return hits;
  }

  const Database& database_;
  std::vector<std::string> words_;  // folded
  const ConversationFilter& filter_;
  size_t limit_;
  bool has_short_word_ = false;
};

}  // namespace

std::vector<SearchHit> ConversationStore::search(std::string_view query, const ConversationFilter& filter,
                                                 uint32_t limit) const {
  const std::vector<std::string> words = split_search_words(query);
  std::vector<SearchHit> hits;
  if (words.empty()) return hits;
  Statement text = database_.prepare("SELECT text FROM turn_texts WHERE id = ?1");
  for (const Found& found : Search(database_, words, filter, limit).run()) {
    const std::optional<ConversationSummary> conversation = summary(found.conversation);
    if (!conversation) continue;  // another program has erased it meanwhile
    hits.push_back(
        {*conversation, found.turn, excerpt(text.with(found.turn).step() ? text.text(0) : conversation->title, words)});
  }
  return hits;
}

}  // namespace warpchat
