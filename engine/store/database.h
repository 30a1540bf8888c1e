// RAII for SQLite: connection, statement and transaction. Errors say what failed, with which file, and what helps. For
// one thread at a time.
#pragma once
#include <sqlite3.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "models/error.h"

namespace warpchat {

constexpr mode_t kOwnerOnly = 0600;  // for every file of a store

// Takes the rights of others to an open file, if it is a regular one of this user's.
void make_private(int fd);

// The file is no database, or its pages are inconsistent.
class DamagedDatabase : public Error {
 public:
  using Error::Error;
};

// Another program holds the lock that a statement needs, after the patience of the database.
class BusyDatabase : public Error {
 public:
  using Error::Error;
};

// The file system lacks the shared memory by which several programs use one database.
class NoSharedMemory : public Error {
 public:
  using Error::Error;
};

// Marker file that exists after any process met damage. The next opener then checks the whole database, which takes too
// long to do every time.
std::string damage_mark(const std::string& path);

class Database;

class Statement {
 public:
  // Binds parameters from ?1 on, for a new run; texts are copied. A null pointer binds NULL.
  template <class... Values>
  Statement& with(const Values&... values) {
    sqlite3_reset(statement_.get());
    int parameter = 0;
    (bind(++parameter, values), ...);
    return *this;
  }

  bool step();  // true: there is a row; false: end
  void run();   // to the end

  // Columns from 0 of the current row. NULL reads as 0 or empty text.
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
  static constexpr char kInMemory[] = ":memory:";  // replaces the path

  // Creates the file if necessary, readable and writable by its owner only. Error if it cannot be opened.
  explicit Database(std::string path);

  // What is in a file that nothing writes to, with the log that a killed program has left beside it.
  static Database copy_in_memory(const std::string& path);

  Statement prepare(std::string_view sql) const;  // a single statement
  void run(const char* sql) const;                // one or more statements without parameters
  void roll_back() const noexcept;                // where that fails for lack of memory, the next statement does it
  int64_t integer(std::string_view sql) const;    // first column of the first row; 0 if none

  int64_t last_row() const { return sqlite3_last_insert_rowid(connection_.get()); }
  int changes() const { return sqlite3_changes(connection_.get()); }  // rows changed by the last statement
  bool in_transaction() const { return sqlite3_get_autocommit(connection_.get()) == 0; }
  const std::string& path() const { return path_; }

  // How long a statement waits for another program's lock; kPatience at first.
  static constexpr std::chrono::milliseconds kPatience{5000};  // others write for a few milliseconds at a time
  void set_patience(std::chrono::milliseconds patience) const;

  // False after any process met damage, or if the path now names another file.
  bool is_sound() const;

  [[noreturn]] void fail(int result, bool writing) const;  // creates the marker for damage

 private:
  struct ReadOnly {};
  Database(std::string path, ReadOnly);
  void finish_rollback() const;

  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> connection_;
  mutable bool must_roll_back_ = false;
};

// Rolls back unless committed. Acquires the write lock at the start, so that a second process waits there instead of
// failing later.
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
