// Released steps never change: a new version appends one.
#include "engine/store/schema.h"

namespace warpchat {

namespace {

// Times are milliseconds since 1970. Turns form a tree: parent is NULL for a first message; depth counts the turns from
// there, including this one. head is the last turn of the shown branch; NULL: none.
constexpr const char* kConversationsAndTurns = R"(
  CREATE TABLE conversations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    renamed INTEGER NOT NULL DEFAULT 0,  -- 1: the title is the user's, and stays
    system_prompt TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT '',      -- path of the file that answered last
    head INTEGER,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    trashed INTEGER                      -- when; NULL: not in the trash
  );
  CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    parent INTEGER REFERENCES turns(id) ON DELETE CASCADE,
    depth INTEGER NOT NULL,
    role TEXT NOT NULL,                  -- user, assistant
    text TEXT NOT NULL,
    state INTEGER NOT NULL,              -- TurnState
    created INTEGER NOT NULL
  );
  CREATE INDEX conversations_by_time ON conversations(updated);
  CREATE INDEX turns_by_conversation ON turns(conversation);
  CREATE INDEX turns_by_parent ON turns(parent);
)";

// A turn is indexed when its text is final. Open turns (streaming, or left by a kill) are few, and searched without an
// index.
constexpr const char* kSearchIndex = R"(
  CREATE INDEX open_turns ON turns(id) WHERE state = 0;
  CREATE VIRTUAL TABLE text_index USING fts5(text, content='turns', content_rowid='id', tokenize='trigram');
  CREATE VIRTUAL TABLE title_index USING fts5(title, content='conversations', content_rowid='id', tokenize='trigram');
  INSERT INTO text_index(rowid, text) SELECT id, text FROM turns WHERE state <> 0;
  INSERT INTO title_index(rowid, title) SELECT id, title FROM conversations;
  CREATE TRIGGER turn_added AFTER INSERT ON turns WHEN new.state <> 0 BEGIN
    INSERT INTO text_index(rowid, text) VALUES (new.id, new.text);
  END;
  CREATE TRIGGER turn_ended AFTER UPDATE OF state ON turns WHEN old.state = 0 AND new.state <> 0 BEGIN
    INSERT INTO text_index(rowid, text) VALUES (new.id, new.text);
  END;
  CREATE TRIGGER turn_erased AFTER DELETE ON turns WHEN old.state <> 0 BEGIN
    INSERT INTO text_index(text_index, rowid, text) VALUES ('delete', old.id, old.text);
  END;
  CREATE TRIGGER conversation_added AFTER INSERT ON conversations BEGIN
    INSERT INTO title_index(rowid, title) VALUES (new.id, new.title);
  END;
  CREATE TRIGGER conversation_renamed AFTER UPDATE OF title ON conversations BEGIN
    INSERT INTO title_index(title_index, rowid, title) VALUES ('delete', old.id, old.title);
    INSERT INTO title_index(rowid, title) VALUES (new.id, new.title);
  END;
  CREATE TRIGGER conversation_erased AFTER DELETE ON conversations BEGIN
    INSERT INTO title_index(title_index, rowid, title) VALUES ('delete', old.id, old.title);
  END;
)";

// From here on text is a message's content; other fields have their own columns. Reasoning inside an answer's text is
// split as in part_reasoning (engine/message.h), in bytes, since SQLite's characters end at a zero. Searched text is
// one view per turn, with reasoning and files; the index stores no copy of it.
constexpr const char* kMessages = R"(
  DROP TRIGGER turn_added;
  DROP TRIGGER turn_ended;
  DROP TRIGGER turn_erased;
  DROP TABLE text_index;
  ALTER TABLE turns ADD COLUMN reasoning TEXT NOT NULL DEFAULT '';
  ALTER TABLE turns ADD COLUMN extra TEXT NOT NULL DEFAULT '';  -- the message's other keys as JSON; empty: none
  UPDATE turns SET
    reasoning = CAST(CASE close WHEN 0 THEN ltrim(body, char(32, 9, 13, 10))
                                ELSE trim(substr(body, 1, close - 1), char(32, 9, 13, 10)) END AS TEXT),
    text = CAST(CASE close WHEN 0 THEN '' ELSE ltrim(substr(body, close + length('</think>')), char(13, 10)) END AS TEXT)
    FROM (SELECT turn, body, instr(body, CAST('</think>' AS BLOB)) AS close
          FROM (SELECT id AS turn, substr(CAST(ltrim(text, char(32, 9, 13, 10)) AS BLOB), 1 + length('<think>')) AS body
                FROM turns WHERE role = 'assistant'
                AND substr(ltrim(text, char(32, 9, 13, 10)), 1, length('<think>')) = '<think>'))
    WHERE id = turn;
  CREATE VIEW turn_texts AS SELECT id, conversation, state,
    text || iif(reasoning = '', '', char(10) || reasoning) ||
    CASE WHEN json_valid(extra) THEN coalesce(
      (SELECT group_concat(char(10) || json_extract(value, '$.name') || char(10) || json_extract(value, '$.text'), '')
       FROM json_each(extra, '$.content') WHERE type = 'object' AND json_extract(value, '$.type') = 'file'), '')
    ELSE '' END AS text FROM turns;
  CREATE VIRTUAL TABLE text_index USING fts5(text, content='', tokenize='trigram');
  INSERT INTO text_index(rowid, text) SELECT id, text FROM turn_texts WHERE state <> 0;
  CREATE TRIGGER turn_added AFTER INSERT ON turns WHEN new.state <> 0 BEGIN
    INSERT INTO text_index(rowid, text) SELECT id, text FROM turn_texts WHERE id = new.id;
  END;
  CREATE TRIGGER turn_ended AFTER UPDATE OF state ON turns WHEN old.state = 0 AND new.state <> 0 BEGIN
    INSERT INTO text_index(rowid, text) SELECT id, text FROM turn_texts WHERE id = new.id;
  END;
  CREATE TRIGGER turn_goes_on BEFORE UPDATE OF state ON turns WHEN old.state <> 0 AND new.state = 0 BEGIN
    INSERT INTO text_index(text_index, rowid, text) SELECT 'delete', id, text FROM turn_texts WHERE id = old.id;
  END;
  CREATE TRIGGER turn_erased BEFORE DELETE ON turns WHEN old.state <> 0 BEGIN
    INSERT INTO text_index(text_index, rowid, text) SELECT 'delete', id, text FROM turn_texts WHERE id = old.id;
  END;
)";

constexpr const char* kChoices = R"(
  ALTER TABLE conversations ADD COLUMN drops_oldest INTEGER NOT NULL DEFAULT 0;  -- 1: the model reads what fits of it
)";

constexpr const char* kConversationSettings = R"(
  ALTER TABLE conversations ADD COLUMN settings TEXT NOT NULL DEFAULT '';  -- JSON object of what was set for it
)";

// An open turn's text is what its row has and then its pieces, in the order of their rows. So a long answer is appended
// to, not written anew each second. When the turn ends, its row gets them.
constexpr const char* kPieces = R"(
  CREATE TABLE pieces (
    turn INTEGER NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    reasoning TEXT NOT NULL
  );
  CREATE INDEX pieces_by_turn ON pieces(turn);
  DROP VIEW turn_texts;
  CREATE VIEW open_texts AS SELECT id,
    text || coalesce((SELECT group_concat(text, '') FROM
      (SELECT pieces.text FROM pieces WHERE turn = turns.id ORDER BY pieces.rowid)), '') AS text,
    reasoning || coalesce((SELECT group_concat(reasoning, '') FROM
      (SELECT pieces.reasoning FROM pieces WHERE turn = turns.id ORDER BY pieces.rowid)), '') AS reasoning
    FROM turns WHERE state = 0;
  CREATE VIEW whole_turns AS SELECT id, conversation, parent, depth, role, state, extra, created,
    CASE state WHEN 0 THEN (SELECT text FROM open_texts WHERE open_texts.id = turns.id) ELSE text END AS text,
    CASE state WHEN 0 THEN (SELECT reasoning FROM open_texts WHERE open_texts.id = turns.id)
               ELSE reasoning END AS reasoning FROM turns;
  CREATE VIEW turn_texts AS SELECT id, conversation, state,
    text || iif(reasoning = '', '', char(10) || reasoning) ||
    CASE WHEN json_valid(extra) THEN coalesce(
      (SELECT group_concat(char(10) || json_extract(value, '$.name') || char(10) || json_extract(value, '$.text'), '')
       FROM json_each(extra, '$.content') WHERE type = 'object' AND json_extract(value, '$.type') = 'file'), '')
    ELSE '' END AS text FROM whole_turns;
)";

// Where the user has put a conversation, what lists need of it without a look at its turns, and an index for each order
// of a list. Texts are indexed with two line ends behind them: so every character begins a trigram, and the words of
// one or two characters are found among the beginnings of the terms.
constexpr const char* kFiling = R"(
  ALTER TABLE conversations ADD COLUMN n_messages INTEGER NOT NULL DEFAULT 0;  -- on the shown branch
  ALTER TABLE conversations ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE conversations ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE conversations ADD COLUMN folder TEXT NOT NULL DEFAULT '' COLLATE NOCASE;  -- empty: none
  CREATE TABLE tags (
    conversation INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
    tag TEXT NOT NULL COLLATE NOCASE,
    PRIMARY KEY (conversation, tag)
  ) WITHOUT ROWID;
  CREATE INDEX tags_by_name ON tags(tag, conversation);
  CREATE INDEX conversations_by_pin ON conversations(archived, pinned, updated) WHERE trashed IS NULL;
  CREATE INDEX conversations_by_creation ON conversations(archived, pinned, created) WHERE trashed IS NULL;
  CREATE INDEX conversations_by_title ON conversations(archived, pinned DESC, title COLLATE NOCASE)
    WHERE trashed IS NULL;
  CREATE INDEX conversations_by_folder ON conversations(folder, updated) WHERE trashed IS NULL AND folder <> '';
  CREATE INDEX trashed_conversations ON conversations(trashed) WHERE trashed IS NOT NULL;
  UPDATE conversations SET n_messages = coalesce((SELECT depth FROM turns WHERE turns.id = head), 0);
  CREATE TRIGGER branch_shown AFTER UPDATE OF head ON conversations BEGIN
    UPDATE conversations SET n_messages = coalesce((SELECT depth FROM turns WHERE turns.id = new.head), 0)
      WHERE id = new.id;
  END;

  DROP VIEW turn_texts;
  CREATE VIEW turn_texts AS SELECT id, conversation, state,
    text || iif(reasoning = '', '', char(10) || reasoning) ||
    CASE WHEN json_valid(extra) THEN coalesce(
      (SELECT group_concat(char(10) || json_extract(value, '$.name') || char(10) || json_extract(value, '$.text'), '')
       FROM json_each(extra, '$.content') WHERE type = 'object' AND json_extract(value, '$.type') = 'file'), '')
    ELSE '' END || char(10, 10) AS text FROM whole_turns;
  INSERT INTO text_index(text_index) VALUES ('delete-all');
  INSERT INTO text_index(rowid, text) SELECT id, text FROM turn_texts WHERE state <> 0;
  CREATE VIRTUAL TABLE text_terms USING fts5vocab(text_index, row);

  DROP TRIGGER conversation_added;
  DROP TRIGGER conversation_renamed;
  DROP TRIGGER conversation_erased;
  DROP TABLE title_index;
  CREATE VIRTUAL TABLE title_index USING fts5(title, content='', tokenize='trigram');
  INSERT INTO title_index(rowid, title) SELECT id, title || char(10, 10) FROM conversations;
  CREATE VIRTUAL TABLE title_terms USING fts5vocab(title_index, row);
  CREATE TRIGGER conversation_added AFTER INSERT ON conversations BEGIN
    INSERT INTO title_index(rowid, title) VALUES (new.id, new.title || char(10, 10));
  END;
  CREATE TRIGGER conversation_renamed AFTER UPDATE OF title ON conversations BEGIN
    INSERT INTO title_index(title_index, rowid, title) VALUES ('delete', old.id, old.title || char(10, 10));
    INSERT INTO title_index(rowid, title) VALUES (new.id, new.title || char(10, 10));
  END;
  CREATE TRIGGER conversation_erased AFTER DELETE ON conversations BEGIN
    INSERT INTO title_index(title_index, rowid, title) VALUES ('delete', old.id, old.title || char(10, 10));
  END;
)";

constexpr const char* kSteps[] = {kConversationsAndTurns, kSearchIndex, kMessages, kChoices, kPieces,
                                  kConversationSettings,  kFiling};

}  // namespace

std::span<const char* const> schema_steps() { return kSteps; }

void migrate(const Database& database) {
  const auto newest = static_cast<int64_t>(std::size(kSteps));
  if (database.integer("PRAGMA user_version") == newest) return;
  Transaction transaction(database);
  const int64_t version = database.integer("PRAGMA user_version");
  if (version > newest)
    throw Error("cannot use " + database.path() + ": a newer version of this program wrote it (schema " +
                std::to_string(version) + ", this one knows " + std::to_string(newest) +
                "); update the program, or set XDG_DATA_HOME to another folder");
  if (version < 0) throw DamagedDatabase("cannot use " + database.path() + ": its schema version is negative");
  for (int64_t v = version; v < newest; ++v) database.run(kSteps[v]);
  database.run(("PRAGMA user_version = " + std::to_string(newest)).c_str());
  transaction.commit();
}

void rebuild_indexes(const Database& database) {
  database.run(R"(
    INSERT INTO text_index(text_index) VALUES ('delete-all');
    INSERT INTO title_index(title_index) VALUES ('delete-all');
    INSERT INTO text_index(rowid, text) SELECT id, text FROM turn_texts WHERE state <> 0;
    INSERT INTO title_index(rowid, title) SELECT id, title || char(10, 10) FROM conversations;
  )");
}

}  // namespace warpchat
