// Finds tool calls in an answer's text as it streams. The room's door, with call_format.h and call_constraint.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/calls/call_format.h"
#include "engine/calls/json_shape.h"
#include "engine/calls/xml_shape.h"
#include "engine/code_spans.h"

namespace warpchat {

struct ParsedCall {
  std::string id;                // nine letters and digits; of the answer's calls each another
  std::string name;              // as the model wrote it, whether there is such a tool or not; empty: none
  std::string arguments = "{}";  // an object's JSON as the model wrote it; with an error: {}
  std::string error = {};        // why the call cannot be read, a sentence for the model; empty: it can
  std::string raw = {};          // its text in the answer
};

struct CallPiece {
  enum class Kind : uint8_t {
    kText,   // of the answer
    kBegin,  // what follows up to kCall belongs to a call
    kName,   // the call's name is known, and ends at `end`
    kCall
  };
  Kind kind;
  std::string text = {};  // kText, not empty; kName: the name
  ParsedCall call = {};   // kCall
  // kName: how this call is written, which may differ from the model's usual way, and where call_constraint() for it
  // begins, as a number of bytes given to the parser. can_be_held: false for arguments that stand before the name.
  CallFormat format = CallFormat::kNone;
  size_t end = 0;
  bool can_be_held = false;
};

class CallParser {
 public:
  // For an answer without its thoughts. tools: must outlive the parser; without tools all is text. id_seed: ids differ
  // from those of parsers with other seeds.
  CallParser(CallFormat format, std::span<const CallTool> tools, uint64_t id_seed);

  std::vector<CallPiece> add(std::string_view text);
  // The text of a control token, such as [TOOL_CALLS]. One that opens a call does so everywhere, also within code and
  // within an unfinished call. Outside of calls the others are dropped: control tokens are no text.
  std::vector<CallPiece> add_marker(std::string_view text);
  std::vector<CallPiece> finish();  // once, at the answer's end

  bool is_in_call() const { return m_.state > State::kAfter; }

 private:
  using Range = calls::Range;
  enum class State : uint8_t {
    kText,
    kOpen,   // behind an opening marker
    kBare,   // within JSON that may turn out to be text
    kAfter,  // behind a call: blanks, the rest of its closing marker, or the next one
    kFunctionTag,
    kJson,
    kXml,
    kMistralName,
    kMistralTag,
    kMistralId,
    kMistralArgs,
    kPython,
    kBroken  // within a call that cannot be read, up to its closing marker
  };
  // Offsets are those in text_.
  struct Machine {
    State state = State::kText;
    CallFormat format = CallFormat::kNone;  // of the open call
    bool is_open = false;                   // the opening marker of the last calls has not been closed
    bool is_list = false;                   // they are in a JSON list
    bool is_certain = false;                // the marker is a token, or stands at the beginning of a line
    bool has_begun = false;                 // kBegin was given out for the open call
    bool has_text = false, has_call = false;
    bool has_text_since_call = false;
    bool is_escaped = false;  // in Python
    char quote = 0;           // of an open text in Python; 0: none
    uint32_t n_brackets = 0;  // open in Python
    uint32_t n_calls = 0;
    State broken = State::kOpen;  // where the call broke
    size_t at = 0;                // the next byte
    size_t given = 0;             // the text before was given out, or is none
    size_t code_to = 0;           // `code` has seen the text before
    size_t from = 0;              // the open call, with its marker
    size_t body = 0;              // its JSON, XML or Python; kNoMark: not yet there
    size_t floor = 0;             // the end of the last call
    size_t mark = kNoMark;        // what may become a marker; kNoMark: nothing
    size_t n_dropped = 0;         // bytes of markers that are not in text_
    Range name, id;
    calls::JsonShape json;
    calls::XmlShape xml;
    CodeSpans code;
  };
  static constexpr size_t kNoMark = SIZE_MAX;

 public:
  // All that the parser knows, without the text: a draft is undone by going back. Texts that were given out stay so.
  class Snapshot {
    friend class CallParser;
    Machine machine;
    size_t n_bytes = 0;
    size_t n_kept_ids = 0;
  };
  Snapshot snapshot() const;
  void restore(const Snapshot& snapshot);

 private:
  enum class Match : uint8_t { kNone, kBeginning, kOpener, kCloser };
  using Pieces = std::vector<CallPiece>;

  void run(Pieces& pieces);
  bool step(Pieces& pieces);
  bool text_step(Pieces& pieces);
  bool open_step(Pieces& pieces);
  bool after_step(Pieces& pieces);
  bool function_tag_step(Pieces& pieces);
  bool json_step(Pieces& pieces);
  bool bare_step(Pieces& pieces);
  bool xml_step(Pieces& pieces);
  bool mistral_step(Pieces& pieces);
  bool python_step(Pieces& pieces);
  bool broken_step(Pieces& pieces);

  Match match_mark() const;
  Match follow_mark();
  bool is_at_line_start(size_t at) const;
  bool is_in_code(size_t at);
  bool on_opener(Pieces& pieces);
  void open(size_t from, bool is_certain);
  void begin(Pieces& pieces);
  void begin_json(Pieces& pieces);
  void begin_bare();
  void begin_xml(Pieces& pieces);
  void begin_arguments(size_t name_end, size_t end, Pieces& pieces);
  bool begin_broken(size_t mark, Pieces& pieces);
  void give_name(std::string name, size_t end, bool can_be_held, Pieces& pieces);
  bool back_to_text(size_t from);
  std::string known_name() const;
  ParsedCall read(size_t to) const;
  std::string id_of_call();
  // read_to: the end of what is read as the call; to: of its text.
  void end_call(size_t read_to, size_t to, std::string_view error, Pieces& pieces);
  void give_text(size_t to, bool keeps_blanks, Pieces& pieces);
  bool is_tool(std::string_view name) const;
  std::string_view text_between(size_t from, size_t to) const {
    return std::string_view(text_).substr(from, to - from);
  }

  CallFormat format_;
  std::span<const CallTool> tools_;
  uint64_t id_seed_;
  std::string text_;                   // the whole answer
  std::vector<std::string> kept_ids_;  // of its calls, as the model wrote them
  Machine m_;
};

}  // namespace warpchat
