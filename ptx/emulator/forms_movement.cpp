// Moves, conversions, memory and control flow: the forms of the PTX ISA 9.0, sections 9.7.9 to 9.7.13.
#include "ptx/emulator/forms_table.h"

namespace ptx::emulator {
namespace {

#define ANY_SCALAR "t=b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"
#define SPACES "?space=global|shared|shared::cta|shared::cluster|local|param|param::entry|param::func|const"
#define DATA_SPACES "?space=global|shared|shared::cta|shared::cluster"
#define SCOPES "scope=cta|cluster|gpu|sys"
#define HINTS                                                                                \
  "?L2::cache_hint ?pf=L2::64B|L2::128B|L2::256B "                                           \
  "?l1=L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate " \
  "?l2=L2::evict_normal|L2::evict_first|L2::evict_last"
#define VECTOR "?vec=v2|v4|v8"
using enum Lowering;

constexpr FormRow kForms[] = {
    {"mov", "t=b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64|pred", "x x", kMove},
    {"cvt",
     "?rnd=rn|rz|rm|rp|rna ?irnd=rni|rzi|rmi|rpi ?ftz ?relu ?sat ?satfinite "
     "t=u8|s8|u16|s16|u32|s32|u64|s64|f16|bf16|f32|f64|tf32 u=u8|s8|u16|s16|u32|s32|u64|s64|f16|bf16|f32|f64",
     "D S:u", kConvert},
    {"cvt", "rnd=rn|rz ?relu ?satfinite t=f16x2|bf16x2 u=f32", "d s:u s:u", kConvertPack, 80, 70},
    {"cvt", "rnd=rn ?relu satfinite t=e4m3x2|e5m2x2 u=f32", "d:packed s:u s:u", kConvertPack, 89, 81},
    {"cvt", "rnd=rn ?relu satfinite t=e4m3x2|e5m2x2 u=f16x2", "d:packed r:b32", kConvertPack, 89, 81},
    {"cvt", "rnd=rn ?relu t=f16x2 u=e4m3x2|e5m2x2", "d:b32 r:packed", kConvertPack, 89, 81},
    {"cvt", "rnd=rs ?relu ?satfinite t=f16x2|bf16x2 u=f32", "x s:u s:u s:u32", kConvertPack, 100, 87, nullptr,
     Suffix::kOwn},
    {"cvt", "rnd=rs ?relu satfinite t=e4m3x4|e5m2x4|e2m3x4|e3m2x4|e2m1x4 u=f32", "x v s:u32", kConvertPack, 100, 87,
     nullptr, Suffix::kOwn},
    {"cvt", "pack sat t=u16|s16 u=s32", "d:u32 s:u s:u", kConvertPack, 72, 65},
    {"cvt", "pack sat t=u8|s8 u=s32 w=b32", "d:u32 s:u s:u s:u32", kConvertPack, 72, 65},
    {"cvta", "space=global|shared|shared::cta|shared::cluster|local|param|param::entry|const t=u64", "d x", kAddress},
    {"cvta", "to space=global|shared|shared::cta|shared::cluster|local|param|param::entry|const t=u64", "d r",
     kAddress},
    {"isspacep", "space=global|shared|shared::cta|shared::cluster|local|param|param::entry|const", "p r:u64", kIsSpace},
    {"mapa", "?space=shared::cluster t=u32|u64", "d x s:u32", kCluster, 90, 78},
    {"getctarank", "?space=shared::cluster u=u32|u64", "d:u32 x", kCluster, 90, 78},

    {"ld", "?weak " SPACES " ?cop=ca|cg|cs|lu|cv " HINTS " " VECTOR " " ANY_SCALAR, "V a ?s:u64", kLoad},
    {"ld", "volatile " DATA_SPACES " ?pf=L2::64B|L2::128B|L2::256B " VECTOR " " ANY_SCALAR, "V a", kLoad},
    {"ld", "sem=relaxed|acquire " SCOPES " " DATA_SPACES " " HINTS " " VECTOR " " ANY_SCALAR, "V a ?s:u64", kLoad, 70,
     60},
    {"ld", "mmio relaxed sys ?space=global " ANY_SCALAR, "V a", kLoad, 70, 82},
    {"ld", "space=global ?cop=ca|cg|cs nc " HINTS " " VECTOR " " ANY_SCALAR, "V a ?s:u64", kLoad, 32, 31},
    {"ldu", "?space=global " VECTOR " " ANY_SCALAR, "V a", kLoad},
    {"st", "?weak " SPACES " ?cop=wb|cg|cs|wt " HINTS " " VECTOR " " ANY_SCALAR, "a W ?s:u64", kStore},
    {"st", "volatile " DATA_SPACES " " VECTOR " " ANY_SCALAR, "a W", kStore},
    {"st", "sem=relaxed|release " SCOPES " " DATA_SPACES " " HINTS " " VECTOR " " ANY_SCALAR, "a W ?s:u64", kStore, 70,
     60},
    {"st", "mmio relaxed sys ?space=global " ANY_SCALAR, "a W", kStore, 70, 82},
    {"prefetch", "?space=global|local level=L1|L2", "a", kPrefetch},
    {"prefetch", "space=global level=L2::evict_last|L2::evict_normal", "a", kPrefetch, 80, 74},
    {"prefetchu", "L1", "a", kPrefetch},
    {"applypriority", "?global L2::evict_normal", "a i", kPrefetch, 80, 74},
    {"discard", "?global L2", "a i", kPrefetch, 80, 74},
    {"createpolicy",
     "fractional level=L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged "
     "?second=L2::evict_first|L2::evict_unchanged t=b64",
     "d:u64 ?s:f32", kPolicy, 80, 74},
    {"createpolicy",
     "range ?global level=L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged "
     "?second=L2::evict_first|L2::evict_unchanged t=b64",
     "d:u64 a s:u32 s:u32", kPolicy, 80, 74},
    {"createpolicy", "cvt L2 t=b64", "d:u64 s:u64", kPolicy, 80, 74},

#define ATOM_HEAD "?sem=relaxed|acquire|release|acq_rel ?" SCOPES " " DATA_SPACES " "
    {"atom", ATOM_HEAD "op=and|or|xor ?L2::cache_hint t=b32|b64", "d a s ?s:u64", kAtomic},
    {"atom", ATOM_HEAD "op=exch ?L2::cache_hint t=b32|b64", "d a s ?s:u64", kAtomic},
    {"atom", ATOM_HEAD "op=exch ?L2::cache_hint t=b128", "d a r ?s:u64", kAtomic, 90, 83},
    {"atom", ATOM_HEAD "op=cas ?L2::cache_hint t=b32|b64", "d a s s ?s:u64", kAtomic},
    {"atom", ATOM_HEAD "op=cas ?L2::cache_hint t=b16", "d a s s ?s:u64", kAtomic, 70, 63},
    {"atom", ATOM_HEAD "op=cas ?L2::cache_hint t=b128", "d a r r ?s:u64", kAtomic, 90, 83},
    {"atom", ATOM_HEAD "op=add ?L2::cache_hint t=u32|s32|u64|f32|f64", "d a s ?s:u64", kAtomic},
    {"atom", ATOM_HEAD "op=inc|dec ?L2::cache_hint t=u32", "d a s ?s:u64", kAtomic},
    {"atom", ATOM_HEAD "op=min|max ?L2::cache_hint t=u32|s32|u64|s64", "d a s ?s:u64", kAtomic},
    {"atom", ATOM_HEAD "op=add noftz ?L2::cache_hint t=f16x2", "d a r ?s:u64", kAtomic, 60, 62},
    {"atom", ATOM_HEAD "op=add noftz ?L2::cache_hint t=f16", "d a r ?s:u64", kAtomic, 70, 63},
    {"atom", ATOM_HEAD "op=add noftz ?L2::cache_hint t=bf16|bf16x2", "d a r ?s:u64", kAtomic, 90, 78},
    {"atom", "?sem=relaxed|acquire|release|acq_rel ?" SCOPES " ?space=global op=add ?L2::cache_hint vec=v2|v4 t=f32",
     "X a Y ?s:u64", kAtomic, 90, 81},
#define RED_HEAD "?sem=relaxed|release ?" SCOPES " " DATA_SPACES " "
    {"red", RED_HEAD "op=and|or|xor ?L2::cache_hint t=b32|b64", "a s ?s:u64", kReduction},
    {"red", RED_HEAD "op=add ?L2::cache_hint t=u32|s32|u64|f32|f64", "a s ?s:u64", kReduction},
    {"red", RED_HEAD "op=inc|dec ?L2::cache_hint t=u32", "a s ?s:u64", kReduction},
    {"red", RED_HEAD "op=min|max ?L2::cache_hint t=u32|s32|u64|s64", "a s ?s:u64", kReduction},
    {"red", RED_HEAD "op=add noftz ?L2::cache_hint t=f16x2", "a r ?s:u64", kReduction, 60, 62},
    {"red", RED_HEAD "op=add noftz ?L2::cache_hint t=f16", "a r ?s:u64", kReduction, 70, 63},
    {"red", RED_HEAD "op=add noftz ?L2::cache_hint t=bf16|bf16x2", "a r ?s:u64", kReduction, 90, 78},
    {"red", "?sem=relaxed|release ?" SCOPES " ?space=global op=add ?L2::cache_hint vec=v2|v4 t=f32", "a Y ?s:u64",
     kReduction, 90, 81},
#define ASYNC "?space=shared::cluster mbarrier::complete_tx::bytes "
    {"st",
     "async ?weak ?space=shared::cluster|shared::cta mbarrier::complete_tx::bytes ?vec=v2|v4 "
     "t=b32|b64|u32|u64|s32|s64|f32|f64",
     "a Y a", kStoreAsync, 90, 81},
    {"red", "async sem=relaxed scope=cluster " ASYNC "op=add t=u32|s32|u64|s64", "a s a", kStoreAsync, 90, 81},
    {"red", "async sem=relaxed scope=cluster " ASYNC "op=min|max t=u32|s32", "a s a", kStoreAsync, 90, 81},
    {"red", "async sem=relaxed scope=cluster " ASYNC "op=inc|dec t=u32", "a s a", kStoreAsync, 90, 81},
    {"red", "async sem=relaxed scope=cluster " ASYNC "op=and|or|xor t=b32", "a s a", kStoreAsync, 90, 81},
    {"membar", "level=cta|gl|sys", "", kFence},
    {"membar", "proxy p=alias", "", kFence, 70, 75},
    {"fence", "?sem=sc|acq_rel|acquire|release ?" SCOPES, "", kFence, 70, 60},
    {"fence", "proxy p=alias", "", kFence, 70, 75},
    {"fence", "proxy p=async ?q=global|shared::cta|shared::cluster", "", kFence, 90, 80},
    {"fence", "proxy p=tensormap::generic sem=release " SCOPES, "", kFence, 90, 83},
    {"fence", "proxy p=tensormap::generic sem=acquire " SCOPES, "a i", kFence, 90, 83},
    {"fence", "mbarrier_init release cluster", "", kFence, 90, 80},

    {"bra", "?~uni", "x", kBranch},
    {"brx", "idx ?~uni", "r:u32 x", kBranchIndexed},
    {"call", "?~uni", "?x ?x ?x ?x", kCall},
    {"ret", "?~uni", "", kReturn},
    {"exit", "", "", kExit},
    {"trap", "", "", kTrap},
    {"brkpt", "", "", kTrap},
    {"pmevent", "?mask", "i", kNothing},
    {"nanosleep", "t=u32", "s:u32", kSleep, 70, 63},
    {"setmaxnreg", "m=inc|dec sync aligned t=u32", "i", kNothing, 90, 80, nullptr, Suffix::kAny},
    {"griddepcontrol", "m=launch_dependents|wait", "", kNothing, 90, 78},
    {"alloca", "t=u32|u64", "d s ?i", kStack, 52, 73},
    {"stacksave", "t=u32|u64", "d", kStack, 52, 73},
    {"stackrestore", "t=u32|u64", "r", kStack, 52, 73},

#define VIDEO_TYPES "t=u32|s32 u=u32|s32 v=u32|s32"
    {"vadd", VIDEO_TYPES " ?sat ?op=add|min|max", "x x x ?x", kVideo},
    {"vsub", VIDEO_TYPES " ?sat ?op=add|min|max", "x x x ?x", kVideo},
    {"vabsdiff", VIDEO_TYPES " ?sat ?op=add|min|max", "x x x ?x", kVideo},
    {"vmin", VIDEO_TYPES " ?sat ?op=add|min|max", "x x x ?x", kVideo},
    {"vmax", VIDEO_TYPES " ?sat ?op=add|min|max", "x x x ?x", kVideo},
    {"vshl", "t=u32|s32 u=u32|s32 v=u32 ?sat m=clamp|wrap ?op=add|min|max", "x x x ?x", kVideo},
    {"vshr", "t=u32|s32 u=u32|s32 v=u32 ?sat m=clamp|wrap ?op=add|min|max", "x x x ?x", kVideo},
    {"vmad", VIDEO_TYPES " ?sat ?m=shr7|shr15", "x x x x", kVideo},
    {"vmad", VIDEO_TYPES " po ?sat ?m=shr7|shr15", "x x x x", kVideo},
    {"vset", "u=u32|s32 v=u32|s32 c=eq|ne|lt|le|gt|ge ?op=add|min|max", "x x x ?x", kVideo},
#define SIMD_VIDEO(name) \
  { name, VIDEO_TYPES " ?sat ?op=add", "x x x x", kVideo }
    SIMD_VIDEO("vadd2"),
    SIMD_VIDEO("vsub2"),
    SIMD_VIDEO("vavrg2"),
    SIMD_VIDEO("vabsdiff2"),
    SIMD_VIDEO("vmin2"),
    SIMD_VIDEO("vmax2"),
    SIMD_VIDEO("vadd4"),
    SIMD_VIDEO("vsub4"),
    SIMD_VIDEO("vavrg4"),
    SIMD_VIDEO("vabsdiff4"),
    SIMD_VIDEO("vmin4"),
    SIMD_VIDEO("vmax4"),
    {"vset2", "u=u32|s32 v=u32|s32 c=eq|ne|lt|le|gt|ge ?op=add", "x x x x", kVideo},
    {"vset4", "u=u32|s32 v=u32|s32 c=eq|ne|lt|le|gt|ge ?op=add", "x x x x", kVideo},
};

}  // namespace

std::span<const FormRow> movement_forms() { return kForms; }

}  // namespace ptx::emulator
