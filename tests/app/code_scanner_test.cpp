// Scanned code in each language, and below it one letter for each byte's kind. Then properties that hold for any bytes.
#include "app/formats/code_scanner.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace warpchat {
namespace {

constexpr char kLetters[] = " ktsncfd+-";  // by CodeKind

struct CodeCase {
  const char *name, *language, *code, *kinds;
};

const CodeCase kCodeCases[] = {
    {"words_types_numbers", "cpp", "int x = 0x1F'00 + 1.5e-3f;", "ttt     nnnnnnn   nnnnnnn "},
    {"a_comment_over_lines", "C", "a /* b\nc */ return", "  cccc\ncccc kkkkkk"},
    {"escapes_and_characters", "c", "f(\"a\\\"b\", '\\'');", "f ssssss  ssss  "},
    {"a_preprocessor_line", "cpp", "#include <map>\n  # define X(a) a # b", "dddddddd sssss\n  dddddddd f         "},
    {"a_raw_string", "c++", "R\"x(a)\" \n)x\" + u8\"b\"", "ssssssss\nsss   sssss"},
    {"functions_and_class_names", "cpp", "Widget w = make(kSize, MAX);", "tttttt     ffff             "},
    {"typescript_has_javascripts_words", "ts", "interface A { x: number; } const", "kkkkkkkkk        tttttt    kkkkk"},
    {"a_template_over_lines", "js", "`a ${b}\n'c` + 'd'", "sssssss\nsss   sss"},
    {"triple_quotes", "python", "f\"\"\"a\n\"b\"\"\" if x", "sssss\nsssss kk  "},
    {"a_decorator", "py", "@app.route('/')\ndef f(x): return None # y", "dddddddddd sss \nkkk f     kkkkkk kkkk ccc"},
    {"lifetimes_and_characters", "rust", "fn f<'a>(c: &'a str) { 'x'; '\\n'; vec![1u8] }",
     "kk   tt      tt ttt    sss  ssss  ffff nnn   "},
    {"nested_comments_and_attributes", "rs", "#[test] /* a /* b */ c */ let", "ddddddd ccccccccccccccccc kkk"},
    {"rusts_raw_string", "rust", "r#\"a\"b\"# ;", "ssssssss  "},
    {"ranges_are_no_points", "rust", "0..10 1.max(2)", "n  nn n fff n "},
    {"a_raw_string_has_no_escapes", "go", "s := `a\\` + string(b)", "     ssss   tttttt   "},
    {"annotations", "java", "@Override public String a()", "ddddddddd kkkkkk tttttt f  "},
    {"verbatim_strings", "c#", "var p = @\"C:\\\" + x;", "ttt     ssssss     "},
    {"kotlin", "kotlin", "val x: Int? = null // y", "kkk    ttt    kkkk cccc"},
    {"swift", "swift", "func f() -> Int { \"\\(x)\" }", "kkkk f      ttt   ssssss  "},
    {"ruby", "rb", "def a; @b = <<~SQL\n  if\n  SQL\nend", "kkk    dd   ssssss\nssss\nsssss\nkkk"},
    {"php", "php", "echo $this->x . <<<EOT\na\nEOT;\n$y", "kkkk ttttt      ssssss\ns\nssss\ntt"},
    {"a_here_document", "bash", "cat <<'EOF' | wc\nif $x\nEOF\nif [ $x ]; then ${y:-z} # a",
     "    sssssss     \nsssss\nsss\nkk   tt    kkkk ttttttt ccc"},
    {"quotes_over_lines", "sh", "echo 'a\\' \"b\nc\" fi", "tttt ssss ss\nss kk"},
    {"a_hash_in_a_word", "sh", "echo a#b $# # c", "tttt     tt ccc"},
    {"sql_in_any_case", "sql", "Select count(*) FROM t -- a\nWHERE x = 'it''s'",
     "kkkkkk fffff    kkkk   cccc\nkkkkk     sssssss"},
    {"markup", "html", "<!-- a\n--><a href=\"b\">c &amp; d</a>", "cccccc\nccckk ffff sssk  nnnnn  kkkk"},
    {"script_and_style", "html", "<script>let x</script><style>\na{color:#fff}</style>",
     "kkkkkkkkkkk  kkkkkkkkkkkkkkkk\n  fffff nnnn kkkkkkkk"},
    {"css", "css", "@media x {\n.a-b { margin: -2px 1em }\n}\n#id:hover {}",
     "dddddd    \ntttt   ffffff  nnnn nnn  \n \nttt         "},
    {"json", "json", "{\"a b\": [\"c\", true, -1.5e3]}", " fffff   sss  kkkk   nnnnn  "},
    {"yaml", "yaml", "a b: 'c' # d\n- e: true\n- 5\nx: |\n  y: z\nq: http://r",
     "fff  sss ccc\n  f  kkkk\n  n\nf   \nssssss\nf          "},
    {"toml", "toml", "[a.b] # c\nd-e = \"f\"\ng = 1979-05-27", "ttttt ccc\nfff   sss\nf   nnnn nn nn"},
    {"ini", "ini", "; a\n[b]\nc = on", "ccc\nttt\nf   kk"},
    {"lua", "lua", "--[[ a\nb ]] local s = [==[\n]]]==]", "cccccc\ncccc kkkkk     ssss\nssssss"},
    {"diff", "diff", "diff --git a b\n@@ -1 +1 @@\n-a\n+b\n c", "dddddddddddddd\nddddddddddd\n--\n++\n  "},
    {"makefile", "make", "all: $(OBJ) x\n\tcc -o $@ $(shell a)\nA := b", "fff  tttttt  \n       tt           \nf     "},
    {"cmake", "cmake", "add_library(a STATIC ${S}) # b", "fffffffffff   kkkkkk tttt  ccc"},
    {"dockerfile", "Dockerfile", "FROM a AS b", "kkkk   kk  "},
    {"ptx", "ptx", ".reg .f32 %f<4>;\nld.global.f32 %f1, [%rd1+4]; // a",
     "dddd tttt    n  \nkkdddddddtttt            n   cccc"},
    {"no_row", "klingon", "if x", "    "},
    {"no_language", "", "if x", "    "},
};

std::string kinds_of(const std::string& language, const std::string& code) {
  CodeScanner scanner(language);
  std::string kinds;
  for (size_t begin = 0; begin <= code.size();) {
    const size_t end = std::min(code.find('\n', begin), code.size());
    std::vector<CodeSpan> spans;
    scanner.scan_line(std::string_view(code).substr(begin, end - begin), spans, begin);
    if (begin > 0) kinds += '\n';
    for (const CodeSpan& span : spans) kinds.append(span.end - span.begin, kLetters[static_cast<int>(span.kind)]);
    begin = end + 1;
  }
  return kinds;
}

TEST(CodeScanner, ColoursEveryLanguage) {
  for (const CodeCase& c : kCodeCases) {
    EXPECT_EQ(kinds_of(c.language, c.code), c.kinds) << c.name << ":\n" << c.code;
  }
}

std::string bytes_of(std::mt19937& random) {
  static const std::string kMarks = "\"'`#$<>{}[]()/\\*-=:;!@.|&~\n\n  aRr0EOF";
  std::string text(random() % 200, ' ');
  for (char& c : text) c = random() % 4 ? kMarks[random() % kMarks.size()] : static_cast<char>(random());
  return text;
}

// The spans of each line cover it in order. None is empty, and neighbours differ.
void expect_covered(const std::string& language, const std::string& text) {
  CodeScanner scanner(language);
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::vector<CodeSpan> spans;
    // The buffer has the exact size, so the sanitizer sees reads beyond it.
    const std::vector<char> line(text.begin() + static_cast<ptrdiff_t>(begin),
                                 text.begin() + static_cast<ptrdiff_t>(end));
    scanner.scan_line({line.data(), line.size()}, spans, begin);
    size_t at = begin;
    for (size_t i = 0; i < spans.size(); ++i) {
      ASSERT_EQ(spans[i].begin, at) << language << ": " << text;
      ASSERT_GT(spans[i].end, at) << language << ": " << text;
      ASSERT_TRUE(i == 0 || spans[i].kind != spans[i - 1].kind) << language << ": " << text;
      at = spans[i].end;
    }
    ASSERT_EQ(at, end) << language << ": " << text;
    begin = end + 1;
  }
}

TEST(CodeScanner, CoversAnyBytes) {
  std::mt19937 random(1);
  for (const CodeCase& c : kCodeCases) {
    const std::string code = c.code;
    for (size_t n = 0; n <= code.size(); ++n) expect_covered(c.language, code.substr(0, n));
    for (int i = 0; i < 100 && !testing::Test::HasFatalFailure(); ++i) {
      std::string spoilt = code + bytes_of(random);
      spoilt[random() % spoilt.size()] = static_cast<char>(random());
      expect_covered(c.language, spoilt);
    }
  }
}

// A copy reads an unfinished line; the scanner itself does not change.
TEST(CodeScanner, CopiesReadUnfinishedLines) {
  for (const CodeCase& c : kCodeCases) {
    CodeScanner scanner(c.language);
    std::string line, kinds;
    for (const char* at = c.code;; ++at) {
      std::vector<CodeSpan> spans;
      if (*at && *at != '\n') {
        line += *at;
        CodeScanner copy = scanner;
        copy.scan_line(line, spans);
        continue;
      }
      scanner.scan_line(line, spans);
      for (const CodeSpan& span : spans) kinds.append(span.end - span.begin, kLetters[static_cast<int>(span.kind)]);
      if (!*at) break;
      kinds += '\n';
      line.clear();
    }
    EXPECT_EQ(kinds, c.kinds) << c.name;
  }
}

// Text before the last blank of a growing line keeps its colour.
TEST(CodeScanner, KeepsColoursWhileALineGrows) {
  for (const char* language : {"cpp", "python", "rust", "js", "shell", "sql", "html"}) {
    const std::string line =
        "for f(x) in \"a b\" class Name: R\"x(a)x\" 1.5 <a href='b'> ${x y} /* a */ if x(1) # 'c' // d";
    const std::string whole = kinds_of(language, line);
    for (size_t n = 1; n < line.size(); ++n) {
      const size_t known = line.rfind(' ', n - 1);
      if (known == std::string::npos) continue;
      EXPECT_EQ(kinds_of(language, line.substr(0, n)).substr(0, known), whole.substr(0, known))
          << language << ": " << line.substr(0, n);
    }
  }
}

}  // namespace
}  // namespace warpchat
