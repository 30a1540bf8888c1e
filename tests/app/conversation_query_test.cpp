// What a user types to list, search and file conversations.
#include "app/formats/conversation_query.h"

#include <gtest/gtest.h>

#include "app/terminal/conversation_list.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

struct QueryCase {
  const char *name, *typed;
  ConversationFilter filter;
  const char* words;
};
const QueryCase kQueries[] = {
    {"words_alone", "two  words", {}, "two words"},
    {"a_folder", "folder:work apples", {.folder = "work"}, "apples"},
    {"a_name_with_blanks", "apples folder:\"my work\" pears", {.folder = "my work"}, "apples pears"},
    {"no_folder", "folder:-", {.folder = ""}, ""},
    {"several_tags", "tag:a word tag:B", {.tags = {"a", "B"}}, "word"},
    {"flags", "is:archived is:pinned", {.archived = true, .pinned = true}, ""},
    {"an_order", "sort:title", {.order = ConversationOrder::kTitle}, ""},
    {"a_phrase_stays_whole", "\"folder:work tag:x\" y", {}, "\"folder:work tag:x\" y"},
    {"other_colons_are_words", "http://a b:c folder: :x", {}, "http://a b:c folder: :x"},
    {"names_of_filters_in_capitals", "Folder:work", {.folder = "work"}, ""},
    {"an_open_quote", "folder:\"my work", {.folder = "\"my"}, "work"},
};

TEST(ConversationQuery, Table) {
  for (const QueryCase& row : kQueries) {
    const ConversationQuery query = parse_query(row.typed);
    EXPECT_TRUE(query.filter == row.filter) << row.name;
    EXPECT_EQ(query.words, row.words) << row.name;
    EXPECT_EQ(query.has_filter, !(row.filter == ConversationFilter{})) << row.name;
  }
  EXPECT_EQ(error_of([] { parse_query("is:old"); }), "unknown filter is:old; write is:archived or is:pinned");
  EXPECT_EQ(error_of([] { parse_query("sort:size"); }),
            "unknown filter sort:size; write sort:changed, sort:created or sort:title");
}

TEST(ConversationQuery, WhatAListIsAskedFor) {
  const ListRequest all = parse_list_request("archived folder:work 7 sort:created");
  EXPECT_EQ(all.limit, 7u);
  EXPECT_TRUE((all.filter ==
               ConversationFilter{
                   .archived = true, .folder = "work", .order = ConversationOrder::kCreated, .pinned_first = true}));
  EXPECT_EQ(parse_list_request("").filter.archived, false);
  EXPECT_EQ(in_words(all.filter), "in the folder work in the archive");
  for (const char* wrong : {"0", "-1", "5 6", "work"})
    EXPECT_NE(error_of([&] { parse_list_request(wrong); }), "no error") << wrong;
}

TEST(ConversationQuery, ANameAndWhatFollows) {
  using Parts = std::pair<std::string, std::string>;
  EXPECT_EQ(parse_name("work"), Parts("work", ""));
  EXPECT_EQ(parse_name("work 1 3-5"), Parts("work", "1 3-5"));
  EXPECT_EQ(parse_name("\"my work\" 2"), Parts("my work", "2"));
  EXPECT_EQ(parse_name("\"my work"), Parts("\"my", "work"));
  EXPECT_EQ(parse_name("2026 3"), Parts("2026", "3"));
}

}  // namespace
}  // namespace warpchat
