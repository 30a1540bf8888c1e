#include "app/formats/code_languages.h"

#include <algorithm>

namespace warpchat {

namespace {

// clang-format off
constexpr CodeRow kCodeRows[] = {
    {.names = "c h", .signs = "#p",
     .keywords = "auto break case const continue default do else enum extern false for goto if inline NULL register "
                 "restrict return sizeof static struct switch true typedef union volatile while _Alignas _Atomic "
                 "_Generic _Static_assert",
     .types = "bool char double float int long short signed unsigned void size_t ssize_t ptrdiff_t int8_t int16_t "
              "int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t FILE"},
    {.names = "cpp c++ cc cxx hpp hh cuda cu arduino objc", .signs = "#rCp", .base = "c",
     .keywords = "alignas alignof and catch class co_await co_return co_yield concept const_cast consteval constexpr "
                 "constinit decltype delete dynamic_cast explicit export final friend mutable namespace new noexcept "
                 "not nullptr operator or override private protected public reinterpret_cast requires static_assert "
                 "static_cast template this thread_local throw try typeid typename using virtual __global__ "
                 "__device__ __host__ __shared__ __restrict__",
     .types = "array auto deque function map optional pair set shared_ptr span string string_view tuple unique_ptr "
              "unordered_map unordered_set variant vector wchar_t char8_t char16_t char32_t"},
    {.names = "python py python3 pycon ipython", .comments = "#", .long_quotes = "\"\"\" '''", .signs = "@Cp",
     .keywords = "and as assert async await break case class continue def del elif else except False finally for "
                 "from global if import in is lambda match None nonlocal not or pass raise return self True try "
                 "while with yield",
     .types = "bool bytearray bytes complex dict float frozenset int list object set str tuple type"},
    {.names = "javascript js jsx mjs node", .long_quotes = "`", .signs = "@C", .in_words = "$",
     .keywords = "as async await break case catch class const continue debugger default delete do else export "
                 "extends false finally for from function get if import in instanceof let new null of return set "
                 "static super switch this throw true try typeof undefined var void while with yield"},
    {.names = "typescript ts tsx", .long_quotes = "`", .signs = "@C", .base = "javascript", .in_words = "$",
     .keywords = "abstract declare enum implements infer interface is keyof module namespace never private protected "
                 "public readonly satisfies type",
     .types = "any bigint boolean number object string symbol unknown"},
    {.names = "rust rs", .quotes = "", .long_quotes = "\"", .signs = "!n'rCp",
     .keywords = "as async await break const continue crate dyn else enum extern false fn for if impl in let loop "
                 "match mod move mut pub ref return self static struct super trait true type unsafe use where while",
     .types = "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Self"},
    {.names = "go golang", .long_quotes = "`", .raw_quotes = "`", .signs = "C",
     .keywords = "break case chan const continue default defer else fallthrough false for func go goto if import "
                 "interface iota map nil package range return select struct switch true type var",
     .types = "any bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint "
              "uint8 uint16 uint32 uint64 uintptr"},
    {.names = "java groovy scala", .long_quotes = "\"\"\"", .signs = "@C",
     .keywords = "abstract assert break case catch class continue default do else enum extends false final finally "
                 "for goto if implements import instanceof interface native new null package permits private "
                 "protected public record return sealed static super switch synchronized this throw throws transient "
                 "true try var volatile while yield",
     .types = "boolean byte char double float int long short void"},
    {.names = "csharp c# cs dotnet", .long_quotes = "\"\"\" @\" $@\"", .raw_quotes = "\"\"\" @\" $@\"", .signs = "#C",
     .keywords = "abstract as async await base break case catch checked class const continue default delegate do "
                 "else enum event explicit extern false finally fixed for foreach get goto if implicit in init "
                 "interface internal is lock namespace new null operator out override params partial private "
                 "protected public readonly record ref required return sealed set sizeof stackalloc static struct "
                 "switch this throw true try typeof unchecked unsafe using virtual volatile when where while with "
                 "yield",
     .types = "bool byte char decimal double dynamic float int long object sbyte short string uint ulong ushort var "
              "void"},
    {.names = "kotlin kt kts", .long_quotes = "\"\"\"", .raw_quotes = "\"\"\"", .signs = "@nC",
     .keywords = "abstract as break by catch class companion const constructor continue crossinline data do else "
                 "enum external false final finally for fun if import in infix init inline inner interface internal "
                 "is lateinit null object open operator out override package private protected public reified return "
                 "sealed super suspend tailrec this throw true try typealias val var vararg when where while",
     .types = "Any Boolean Byte Char Double Float Int List Long Map Nothing Set Short String Unit"},
    {.names = "swift", .quotes = "\"", .long_quotes = "\"\"\"", .signs = "@#nC",
     .keywords = "actor as async await break case catch class continue default defer deinit do else enum extension "
                 "fallthrough false fileprivate final for func get guard if import in indirect init inout internal "
                 "is lazy let mutating nil open operator override private protocol public repeat rethrows return "
                 "self set some static struct subscript super switch throw throws true try typealias var weak where "
                 "while",
     .types = "Any Array Bool Character Dictionary Double Float Int Optional Self Set String UInt Void"},
    {.names = "ruby rb", .comments = "# | =begin =end", .quotes = "", .long_quotes = "\" '", .signs = "@hC",
     .in_words = "?",
     .keywords = "alias and attr_accessor attr_reader attr_writer begin break case class def defined? do else elsif "
                 "end ensure extend false for if in include loop module next nil not or private protected public "
                 "puts raise redo require require_relative rescue retry return self super then true undef unless "
                 "until when while yield"},
    {.names = "php", .comments = "// # | /* */", .quotes = "", .long_quotes = "\" '", .signs = "$hC",
     .keywords = "abstract and array as break case catch class clone const continue declare default do echo else "
                 "elseif empty enddeclare endfor endforeach endif endswitch endwhile enum extends false final "
                 "finally fn for foreach function global goto if implements include include_once instanceof "
                 "insteadof interface isset list match namespace new null or print private protected public readonly "
                 "require require_once return static switch throw trait true try unset use var while yield",
     .types = "bool callable float int iterable mixed object self string void"},
    {.names = "shell bash sh zsh ksh fish console shellsession shell-session", .comments = "#", .quotes = "",
     .long_quotes = "\" '", .raw_quotes = "'", .signs = "$h", .in_words = "-",
     .keywords = "case do done elif else esac fi for function if in select then time until while",
     .types = "alias break cd continue declare echo eval exec exit export local mkdir printf pwd read readonly "
              "return rm set shift source sudo test trap unset"},
    {.names = "sql mysql postgresql postgres sqlite plsql", .comments = "-- | /* */", .quotes = "",
     .long_quotes = "' \"", .raw_quotes = "' \"", .signs = "i",
     .keywords = "add all alter analyze and any as asc begin between by case check column commit constraint create "
                 "cross database default delete desc distinct drop else end except exists explain false foreign from "
                 "full function grant group having if in index inner insert intersect into is join key left like "
                 "limit not null offset on or order outer over partition primary procedure recursive references "
                 "returning revoke right rollback select set table then transaction trigger true truncate union "
                 "unique update using values view when where window with",
     .types = "bigint blob boolean bytea char date datetime decimal double float int integer json jsonb numeric real "
              "serial smallint text time timestamp uuid varchar"},
    {.names = "html xml svg xhtml vue htm rss plist", .comments = "| <!-- -->", .long_quotes = "\" '",
     .raw_quotes = "\" '", .in_words = "-:", .form = CodeForm::kMarkup},
    {.names = "css scss less", .comments = "| /* */", .signs = "@s", .in_words = "-",
     .keywords = "important inherit initial none unset"},
    {.names = "json jsonc json5 jsonl ndjson", .signs = "k",
     .keywords = "false null true"},
    {.names = "yaml yml", .comments = "#", .raw_quotes = "'", .separators = ":", .in_words = "-",
     .keywords = "false no null off on true yes"},
    {.names = "toml ini cfg conf properties dotenv env editorconfig", .comments = "# ;", .long_quotes = "\"\"\" '''",
     .raw_quotes = "' '''", .separators = "=", .in_words = "-",
     .keywords = "false no off on true yes"},
    {.names = "lua luau", .comments = "--", .signs = "l",
     .keywords = "and break do else elseif end false for function goto if in local nil not or repeat return then "
                 "true until while",
     .types = "coroutine io math os string table"},
    {.names = "diff patch udiff", .comments = "", .form = CodeForm::kDiff},
    {.names = "makefile make mk gnumake", .comments = "#", .signs = "$", .separators = "=:", .in_words = "-",
     .keywords = "define else endef endif export ifdef ifeq ifndef ifneq include override unexport vpath"},
    {.names = "cmake", .comments = "# | #[[ ]]", .quotes = "", .long_quotes = "\"", .signs = "$l",
     .keywords = "ALIAS AND CONFIG DEPENDS DESTINATION EXCLUDE FALSE IMPORTED INTERFACE NAME NOT OFF ON OR PRIVATE "
                 "PROPERTIES PUBLIC REQUIRED SHARED STATIC TRUE VERSION else elseif endforeach endfunction endif "
                 "endmacro endwhile foreach function if macro return while"},
    {.names = "dockerfile docker containerfile", .comments = "#", .signs = "$", .in_words = "-",
     .keywords = "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL ONBUILD RUN SHELL STOPSIGNAL USER "
                 "VOLUME WORKDIR"},
    {.names = "ptx", .signs = ".",
     .keywords = "abs add and atom bar bra call cp cvt cvta div ex2 exit fma ld mad max membar min mov mul mma neg "
                 "not or prmt rcp rem ret rsqrt selp setp shfl shl shr sqrt st sub vote xor",
     .types = ".b8 .b16 .b32 .b64 .f16 .f16x2 .f32 .f64 .pred .s8 .s16 .s32 .s64 .u8 .u16 .u32 .u64 .v2 .v4"},
};
// clang-format on

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> list;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    list.push_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return list;
}

bool is_named(const CodeRow& row, std::string_view name) {
  for (std::string_view known : words(row.names)) {
    if (known == name) return true;
  }
  return false;
}

CodeLanguage language_of(const CodeRow& row) {
  const size_t bar = row.comments.find('|'), line_end = std::min(bar, row.comments.size());
  CodeLanguage language{&row,
                        words(row.keywords),
                        words(row.types),
                        words(row.comments.substr(0, line_end)),
                        words(row.quotes),
                        words(row.long_quotes)};
  for (const CodeRow& base : kCodeRows) {
    if (row.base.empty() || !is_named(base, row.base)) continue;
    for (std::string_view word : words(base.keywords)) language.keywords.push_back(word);
    for (std::string_view word : words(base.types)) language.types.push_back(word);
  }
  std::sort(language.keywords.begin(), language.keywords.end());
  std::sort(language.types.begin(), language.types.end());
  if (bar == std::string_view::npos) return language;
  const std::vector<std::string_view> block = words(row.comments.substr(bar + 2));
  language.comment_opens = block.at(0), language.comment_closes = block.at(1);
  return language;
}

}  // namespace

const CodeLanguage* code_language(std::string_view name) {
  static const std::vector<CodeLanguage> kLanguages = [] {
    std::vector<CodeLanguage> languages;
    for (const CodeRow& row : kCodeRows) languages.push_back(language_of(row));
    return languages;
  }();
  for (const CodeLanguage& language : kLanguages) {
    if (is_named(*language.row, name)) return &language;
  }
  return nullptr;
}

}  // namespace warpchat
