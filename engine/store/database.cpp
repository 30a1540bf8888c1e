// Translates SQLite's result codes into advice.
#include "engine/store/database.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>

namespace warpchat {

namespace {

struct Fault {
  int code;  // primary result code
  const char* sentence;
};
constexpr char kHeld[] =
    "another program holds it, or its file system gives no locks; close that program, or set XDG_DATA_HOME to a folder "
    "on a local disk";
constexpr Fault kFaults[] = {
    {SQLITE_READONLY, "the file or its folder is read-only; check the permissions of both"},
    {SQLITE_CANTOPEN, "the file cannot be opened; check the permissions of the file and its folder"},
    {SQLITE_PERM, "permission denied; check its permissions"},
    {SQLITE_FULL, "the disk is full; free some space"},
    {SQLITE_IOERR, "reading or writing failed; check the disk's free space, your quota and its health"},
    {SQLITE_BUSY, kHeld},
    {SQLITE_PROTOCOL, kHeld},
    {SQLITE_LOCKED, "another part of this program holds it; try again"},
    {SQLITE_NOMEM, "out of memory; close other programs"},
    {SQLITE_CORRUPT, "the file is damaged; the next start sets it aside and begins a new one"},
    {SQLITE_NOTADB, "the file is not a database; the next start sets it aside and begins a new one"},
};

bool is_damage(int code) { return code == SQLITE_CORRUPT || code == SQLITE_NOTADB; }

// SQLite's shared memory, a file beside the database.
bool is_of_shared_memory(int code) {
  return code == SQLITE_IOERR_SHMOPEN || code == SQLITE_IOERR_SHMSIZE || code == SQLITE_IOERR_SHMLOCK ||
         code == SQLITE_IOERR_SHMMAP;
}

std::string sentence(int code, sqlite3* connection) {
  for (const Fault& fault : kFaults)
    if (fault.code == code) return fault.sentence;
  return connection ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
}

std::string escaped_in_uri(const std::string& path) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string escaped;
  for (const unsigned char c : path) {
    const bool is_plain = std::isalnum(c) != 0 || c == '/' || c == '-' || c == '_' || c == '.';
    escaped += is_plain ? std::string(1, static_cast<char>(c)) : std::string{'%', kDigits[c >> 4], kDigits[c & 15]};
  }
  return escaped;
}

// SQLite's extra files get the database's permissions. A link is refused: what it leads to may be anything.
void make_private_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, kOwnerOnly);
  if (fd < 0 && errno == ELOOP)
    throw Error("cannot use " + path + ": it is a link; put the file itself there, or set XDG_DATA_HOME to a folder");
  if (fd < 0) return;  // opening will report it
  make_private(fd);
  close(fd);
}

}  // namespace

void make_private(int fd) {
  struct stat status = {};
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid()) fchmod(fd, kOwnerOnly);
}

std::string damage_mark(const std::string& path) { return path + ".suspect"; }

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (bytes == nullptr && sqlite3_errcode(sqlite3_db_handle(statement_.get())) == SQLITE_NOMEM)
    database_.fail(SQLITE_NOMEM, /*writing=*/false);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes ? std::string(bytes, static_cast<size_t>(size)) : std::string();
}

void Statement::bind(int parameter, int64_t value) { check(sqlite3_bind_int64(statement_.get(), parameter, value)); }

void Statement::bind(int parameter, std::string_view value) {
  const char* bytes = value.data() ? value.data() : "";  // a null pointer would bind NULL
  check(sqlite3_bind_text64(statement_.get(), parameter, bytes, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind(int parameter, std::nullptr_t) { check(sqlite3_bind_null(statement_.get(), parameter)); }

void Statement::check(int result) const {
  if (result != SQLITE_OK) database_.fail(result, sqlite3_stmt_readonly(statement_.get()) == 0);
}

bool Statement::step() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) check(result);
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

Database::Database(std::string path) : path_(std::move(path)) {
  if (path_ != kInMemory) make_private_file(path_);
  sqlite3* connection = nullptr;
  const int result = sqlite3_open_v2(path_.c_str(), &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  connection_.reset(connection);
  if (result != SQLITE_OK) fail(result, /*writing=*/true);
  set_patience(kPatience);
}

// Without shared memory, which needs a file, SQLite reads a log only with locks or alone, and locks need a file that
// may be written to. Where there is no log, all is in the file itself.
Database::Database(std::string path, ReadOnly) : path_(std::move(path)) {
  const bool has_log = access((path_ + "-wal").c_str(), F_OK) == 0;
  const std::string name = "file:" + escaped_in_uri(path_) + (has_log ? "?vfs=unix-none" : "?immutable=1");
  sqlite3* connection = nullptr;
  const int result = sqlite3_open_v2(name.c_str(), &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  connection_.reset(connection);
  if (result != SQLITE_OK) fail(result, /*writing=*/false);
  run("PRAGMA locking_mode = EXCLUSIVE");
}

Database Database::copy_in_memory(const std::string& path) {
  const Database from(path, ReadOnly());
  Database to(kInMemory);
  from.integer("SELECT count(*) FROM sqlite_schema");  // tells what is wrong with the file
  sqlite3_backup* backup = sqlite3_backup_init(to.connection_.get(), "main", from.connection_.get(), "main");
  if (backup == nullptr) to.fail(sqlite3_errcode(to.connection_.get()), /*writing=*/true);
  sqlite3_backup_step(backup, -1);
  const int result = sqlite3_backup_finish(backup);
  if (result != SQLITE_OK) from.fail(result, /*writing=*/false);
  return to;
}

void Database::set_patience(std::chrono::milliseconds patience) const {
  sqlite3_busy_timeout(connection_.get(), static_cast<int>(patience.count()));
}

bool Database::is_sound() const {
  if (path_ == kInMemory) return true;
  int has_moved = 0;
  sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
  return has_moved == 0 && access(damage_mark(path_).c_str(), F_OK) != 0;
}

void Database::fail(int result, bool writing) const {
  const int code = result & 0xff;  // messages use primary codes only
  const std::string text = std::string("cannot ") + (writing ? "write to " : "read from ") + path_ + ": " +
                           sentence(code, connection_.get());
  if (code == SQLITE_BUSY) throw BusyDatabase(text);
  if (connection_ && is_of_shared_memory(sqlite3_extended_errcode(connection_.get()))) throw NoSharedMemory(text);
  if (!is_damage(code)) throw Error(text);
  if (path_ != kInMemory) make_private_file(damage_mark(path_));
  throw DamagedDatabase(text);
}

Statement Database::prepare(std::string_view sql) const {
  finish_rollback();
  sqlite3_stmt* statement = nullptr;
  const int result =
      sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (result != SQLITE_OK) fail(result, /*writing=*/false);
  return Statement(*this, statement);
}

void Database::run(const char* sql) const {
  finish_rollback();
  const int result = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) fail(result, /*writing=*/true);
}

void Database::roll_back() const noexcept {
  sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  must_roll_back_ = in_transaction();
}

// A statement in a transaction that failed would be lost without a word.
void Database::finish_rollback() const {
  if (!must_roll_back_) return;
  roll_back();
  if (must_roll_back_) fail(SQLITE_NOMEM, /*writing=*/true);
}

int64_t Database::integer(std::string_view sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

// A failed statement may have rolled back already.
Transaction::~Transaction() {
  if (database_.in_transaction()) database_.roll_back();
}

}  // namespace warpchat
