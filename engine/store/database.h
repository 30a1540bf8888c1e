// SQLite with owners and sentences: a connection, a statement and a transaction that clean up after themselves, and
// every fault as an Error that says what could not be done, with which file, and what helps. For one thread at a time.
#pragma once
#include <sqlite3.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "models/error.h"

namespace warpchat {

constexpr mode_t kOwnerOnly = 0600;  // of every file of a store

// The file is no database, or its pages contradict each other.
class DamagedDatabase : public Error {
 public:
  using Error::Error;
};

// The file beside a database that exists once damage was met in it, by whichever process: who opens it next has a look
// at all of it, which takes too long to do each time.
std::string damage_mark(const std::string& path);

class Database;

class Statement {
 public:
  // Binds the parameters from ?1 on; texts are copied. A null pointer binds NULL.
  template <class... Values>
  Statement& with(const Values&... values) {
    int parameter = 0;
    (bind(++parameter, values), ...);
    return *this;
  }

  bool step();  // whether there is a row; false at the end
  void run();   // to the end

  // Of the row that step() announced, by column from 0. NULL reads as 0 and as the empty text.
  int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  std::string text(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Statement(const Database& database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  void bind(int parameter, int64_t value);
  void bind(int parameter, std::string_view value);
  void bind(int parameter, std::nullptr_t);
  void check(int result) const;

  const Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  static constexpr char kInMemory[] = ":memory:";  // instead of a path

  // Creates the file if need be; only its owner may read and write it. Error if it cannot be opened.
  explicit Database(std::string path);

  Statement prepare(std::string_view sql) const;  // one statement
  void run(const char* sql) const;                // one or several, without parameters
  void roll_back() const noexcept;
  int64_t integer(std::string_view sql) const;  // the first column of the first row; 0 if there is none

  int64_t last_row() const { return sqlite3_last_insert_rowid(connection_.get()); }
  int changes() const { return sqlite3_changes(connection_.get()); }  // rows the last statement changed
  bool in_transaction() const { return sqlite3_get_autocommit(connection_.get()) == 0; }
  const std::string& path() const { return path_; }

  // False once damage was met in it, by any process, or its file is not the one of that path any more.
  bool is_sound() const;

  [[noreturn]] void fail(int result, bool writing) const;  // leaves the mark if it is damage

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> connection_;
};

// All or nothing: rolled back unless committed. Begins by taking the right to write, so that of two processes one waits
// at the beginning instead of failing in the middle.
class Transaction {
 public:
  explicit Transaction(const Database& database) : database_(database) { database_.run("BEGIN IMMEDIATE"); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() { database_.run("COMMIT"); }

 private:
  const Database& database_;
};

}  // namespace warpchat
