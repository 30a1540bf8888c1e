// Barriers, warp exchanges, asynchronous copies and matrices: the forms of the PTX ISA 9.0, sections 9.7.13 to 9.7.15.
#include "ptx/emulator/forms_table.h"

namespace ptx::emulator {
namespace {

using enum Lowering;
#define CTA "?~level=cta"

constexpr FormRow kForms[] = {
    {"bar", CTA " sync", "s:u32 ?s:u32", kBarrier},
    {"bar", CTA " arrive", "s:u32 s:u32", kBarrier},
    {"bar", CTA " red op=popc t=u32", "d s:u32 ?x ?x", kBarrier},
    {"bar", CTA " red op=and|or t=pred", "p s:u32 ?x ?x", kBarrier},
    {"barrier", CTA " sync ?aligned", "s:u32 ?s:u32", kBarrier, 30, 60},
    {"barrier", CTA " arrive ?aligned", "s:u32 s:u32", kBarrier, 30, 60},
    {"barrier", CTA " red op=popc ?aligned t=u32", "d s:u32 ?x ?x", kBarrier, 30, 60},
    {"barrier", CTA " red op=and|or ?aligned t=pred", "p s:u32 ?x ?x", kBarrier, 30, 60},
    {"barrier", "cluster m=arrive ?sem=release|relaxed ?aligned", "", kBarrier, 90, 78},
    {"barrier", "cluster m=wait ?acquire ?aligned", "", kBarrier, 90, 78},
    {"bar", "warp sync", "s:u32", kWarpBarrier, 30, 60},

    {"shfl", "sync m=up|down|bfly|idx t=b32", "x s s:b32 s:b32 s:u32", kShuffle, 30, 60},
    {"vote", "sync m=all|any|uni t=pred", "p P s:u32", kVote, 30, 60},
    {"vote", "sync m=ballot t=b32", "d P s:u32", kVote, 30, 60},
    {"match", "m=any sync t=b32|b64", "d:u32 s s:u32", kMatch, 70, 60},
    {"match", "m=all sync t=b32|b64", "x s s:u32", kMatch, 70, 60},
    {"redux", "sync m=add|min|max t=u32|s32", "d:u32 s:u32 s:u32", kRedux, 80, 70},
    {"redux", "sync m=and|or|xor t=b32", "d:u32 s:u32 s:u32", kRedux, 80, 70},
    {"redux", "sync m=min|max ?abs ?NaN t=f32", "d s s:u32", kRedux, 100, 86, nullptr, Suffix::kOwnOrFamily},
    {"activemask", "t=b32", "d", kActiveMask, 30, 62},
    {"elect", "sync", "x s:u32", kElect, 90, 80},

#define OWN_BARRIER "?~space=shared|shared::cta b64"
#define ANY_BARRIER "?~space=shared|shared::cta|shared::cluster b64"
#define ORDERED(sems) "?~sem=" sems " ?~scope=cta|cluster "
    {"mbarrier", "m=init " OWN_BARRIER, "a s:u32", kMbarrier, 80, 70},
    {"mbarrier", "m=inval " OWN_BARRIER, "a", kMbarrier, 80, 70},
    {"mbarrier", "m=expect_tx " ORDERED("relaxed") ANY_BARRIER, "a s:u32", kMbarrier, 90, 80},
    {"mbarrier", "m=complete_tx " ORDERED("relaxed") ANY_BARRIER, "a s:u32", kMbarrier, 90, 80},
    {"mbarrier", "m=arrive|arrive_drop " ORDERED("release|relaxed") ANY_BARRIER, "x a", kMbarrier, 80, 70},
    {"mbarrier", "m=arrive|arrive_drop " ORDERED("release|relaxed") ANY_BARRIER, "x a s:u32", kMbarrier, 90, 78},
    {"mbarrier", "m=arrive|arrive_drop expect_tx " ORDERED("release|relaxed") ANY_BARRIER, "x a s:u32", kMbarrier, 90,
     80},
    {"mbarrier", "m=arrive|arrive_drop noComplete " ORDERED("release") OWN_BARRIER, "x a s:u32", kMbarrier, 80, 70},
    {"mbarrier", "m=test_wait " ORDERED("acquire|relaxed") OWN_BARRIER, "p a s:u64", kMbarrier, 80, 70},
    {"mbarrier", "m=test_wait parity " ORDERED("acquire|relaxed") OWN_BARRIER, "p a s:u32", kMbarrier, 80, 71},
    {"mbarrier", "m=try_wait " ORDERED("acquire|relaxed") OWN_BARRIER, "p a s:u64 ?s:u32", kMbarrier, 90, 78},
    {"mbarrier", "m=try_wait parity " ORDERED("acquire|relaxed") OWN_BARRIER, "p a s:u32 ?s:u32", kMbarrier, 90, 78},
    {"mbarrier", "m=pending_count b64", "d:u32 s:u64", kMbarrier, 80, 70},

#define PREFETCH_SIZE "?~L2::cache_hint ?~pf=L2::64B|L2::128B|L2::256B"
    {"cp", "async cop=ca|cg dst=shared|shared::cta src=global " PREFETCH_SIZE, "a a i ?x ?s:u64", kAsyncCopy, 80, 70},
    {"cp", "async commit_group", "", kAsyncCopy, 80, 70},
    {"cp", "async wait_group", "i", kAsyncCopy, 80, 70},
    {"cp", "async wait_all", "", kAsyncCopy, 80, 70},
    {"cp", "async m=mbarrier arrive ?noinc ?~space=shared|shared::cta b64", "a", kAsyncCopy, 80, 70},
    {"cp", "async bulk dst=shared::cluster|shared::cta src=global mbarrier::complete_tx::bytes ?~L2::cache_hint",
     "a a s:u32 a ?s:u64", kBulkCopy, 90, 80},
    {"cp", "async bulk dst=global src=shared::cta bulk_group ?~L2::cache_hint", "a a s:u32 ?s:u64", kBulkCopy, 90, 80},
    {"cp", "async bulk prefetch level=L2 src=global ?~L2::cache_hint", "a s:u32 ?s:u64", kPrefetch, 90, 80},
    {"cp", "async bulk commit_group", "", kBulkCopy, 90, 80},
    {"cp", "async bulk wait_group ?read", "i", kBulkCopy, 90, 80},
#define BULK_REDUCTION "reduce async bulk dst=global src=shared::cta bulk_group ?~L2::cache_hint "
    {"cp", BULK_REDUCTION "op=add|min|max|inc|dec|and|or|xor t=u32|s32|u64|s64|f32|f64|b32|b64", "a a s:u32 ?s:u64",
     kBulkCopy, 90, 80},
    {"cp", BULK_REDUCTION "op=min|max t=f16|bf16", "a a s:u32 ?s:u64", kBulkCopy, 90, 80},
    {"cp", BULK_REDUCTION "op=add noftz t=f16|bf16", "a a s:u32 ?s:u64", kBulkCopy, 90, 80},

    {"ldmatrix", "sync aligned shape=m8n8 num=x1|x2|x4 ?trans ?~space=shared|shared::cta t=b16", "v a", kMatrixLoad, 75,
     65},
    {"stmatrix", "sync aligned shape=m8n8 num=x1|x2|x4 ?trans ?~space=shared|shared::cta t=b16", "a v", kMatrixLoad, 90,
     78},
    {"movmatrix", "sync aligned shape=m8n8 trans t=b16", "d:b32 r:b32", kMatrixLoad, 75, 78},

#define MMA(shape) "sync aligned shape=" shape " la=row lb=col "
    {"mma", "sync aligned shape=m8n8k4 la=row|col lb=row|col d=f16|f32 a=f16 b=f16 c=f16", "v v v v", kMatrix, 70, 64},
    {"mma", "sync aligned shape=m8n8k4 la=row|col lb=row|col d=f32 a=f16 b=f16 c=f32", "v v v v", kMatrix, 70, 64},
    {"mma", MMA("m16n8k8") "d=f16 a=f16 b=f16 c=f16", "v v v v", kMatrix, 75, 65},
    {"mma", MMA("m16n8k8") "d=f32 a=f16 b=f16 c=f32", "v v v v", kMatrix, 75, 65},
    {"mma", MMA("m16n8k16") "d=f16 a=f16 b=f16 c=f16", "v v v v", kMatrix, 80, 70},
    {"mma", MMA("m16n8k16") "d=f32 a=f16 b=f16 c=f32", "v v v v", kMatrix, 80, 70},
    {"mma", MMA("m16n8k8|m16n8k16") "d=f32 a=bf16 b=bf16 c=f32", "v v v v", kMatrix, 80, 70},
    {"mma", MMA("m16n8k4|m16n8k8") "d=f32 a=tf32 b=tf32 c=f32", "v v v v", kMatrix, 80, 70},
    {"mma", MMA("m8n8k4") "d=f64 a=f64 b=f64 c=f64", "v v v v", kMatrix, 80, 70},
    {"mma", MMA("m16n8k4|m16n8k8|m16n8k16") "d=f64 a=f64 b=f64 c=f64", "v v v v", kMatrix, 90, 78},
    {"mma", MMA("m8n8k16") "?satfinite d=s32 a=u8|s8 b=u8|s8 c=s32", "v v v v", kMatrix, 75, 65},
    {"mma", MMA("m16n8k16|m16n8k32") "?satfinite d=s32 a=u8|s8 b=u8|s8 c=s32", "v v v v", kMatrix, 80, 70},
    {"mma", MMA("m8n8k32") "?satfinite d=s32 a=u4|s4 b=u4|s4 c=s32", "v v v v", kMatrix, 75, 65},
    {"mma", MMA("m16n8k32|m16n8k64") "?satfinite d=s32 a=u4|s4 b=u4|s4 c=s32", "v v v v", kMatrix, 80, 70},
    {"mma", MMA("m8n8k128") "d=s32 a=b1 b=b1 c=s32 op=xor|and popc", "v v v v", kMatrix, 75, 70},
    {"mma", MMA("m16n8k128|m16n8k256") "d=s32 a=b1 b=b1 c=s32 op=xor|and popc", "v v v v", kMatrix, 80, 70},
    {"mma", MMA("m16n8k32|m16n8k16") "d=f32 a=e4m3|e5m2 b=e4m3|e5m2 c=f32", "v v v v", kMatrix, 89, 84},
    {"mma", MMA("m16n8k32|m16n8k16") "d=f16 a=e4m3|e5m2 b=e4m3|e5m2 c=f16", "v v v v", kMatrix, 89, 87},

#define WMMA_SPACE "?~space=global|shared|shared::cta"
#define WMMA_SHAPES "shape=m16n16k16|m8n32k16|m32n8k16"
    {"wmma", "op=load m=a|b sync aligned layout=row|col " WMMA_SHAPES " " WMMA_SPACE " t=f16", "v a ?s:u32",
     kWmmaMemory, 70, 60},
    {"wmma", "op=load m=a|b sync aligned layout=row|col " WMMA_SHAPES " " WMMA_SPACE " t=u8|s8", "v a ?s:u32",
     kWmmaMemory, 72, 63},
    {"wmma", "op=load m=a|b sync aligned layout=row|col " WMMA_SHAPES " " WMMA_SPACE " t=bf16", "v a ?s:u32",
     kWmmaMemory, 80, 70},
    {"wmma", "op=load m=a|b sync aligned layout=row|col shape=m16n16k8 " WMMA_SPACE " t=tf32", "v a ?s:u32",
     kWmmaMemory, 80, 70},
    {"wmma", "op=load m=a|b sync aligned layout=row|col shape=m8n8k4 " WMMA_SPACE " t=f64", "v a ?s:u32", kWmmaMemory,
     80, 70},
    {"wmma", "op=load m=a sync aligned layout=row shape=m8n8k32 " WMMA_SPACE " t=u4|s4", "v a ?s:u32", kWmmaMemory, 75,
     63},
    {"wmma", "op=load m=b sync aligned layout=col shape=m8n8k32 " WMMA_SPACE " t=u4|s4", "v a ?s:u32", kWmmaMemory, 75,
     63},
    {"wmma", "op=load m=a sync aligned layout=row shape=m8n8k128 " WMMA_SPACE " t=b1", "v a ?s:u32", kWmmaMemory, 75,
     63},
    {"wmma", "op=load m=b sync aligned layout=col shape=m8n8k128 " WMMA_SPACE " t=b1", "v a ?s:u32", kWmmaMemory, 75,
     63},
    {"wmma", "op=load m=c sync aligned layout=row|col shape=m16n16k16|m8n32k16|m32n8k16 " WMMA_SPACE " t=f16|f32|s32",
     "v a ?s:u32", kWmmaMemory, 70, 60},
    {"wmma", "op=load m=c sync aligned layout=row|col shape=m16n16k8 " WMMA_SPACE " t=f32", "v a ?s:u32", kWmmaMemory,
     80, 70},
    {"wmma", "op=load m=c sync aligned layout=row|col shape=m8n8k32|m8n8k128 " WMMA_SPACE " t=s32", "v a ?s:u32",
     kWmmaMemory, 75, 63},
    {"wmma", "op=load m=c sync aligned layout=row|col shape=m8n8k4 " WMMA_SPACE " t=f64", "v a ?s:u32", kWmmaMemory, 80,
     70},
    {"wmma", "op=store m=d sync aligned layout=row|col shape=m16n16k16|m8n32k16|m32n8k16 " WMMA_SPACE " t=f16|f32|s32",
     "a v ?s:u32", kWmmaMemory, 70, 60},
    {"wmma", "op=store m=d sync aligned layout=row|col shape=m16n16k8 " WMMA_SPACE " t=f32", "a v ?s:u32", kWmmaMemory,
     80, 70},
    {"wmma", "op=store m=d sync aligned layout=row|col shape=m8n8k32|m8n8k128 " WMMA_SPACE " t=s32", "a v ?s:u32",
     kWmmaMemory, 75, 63},
    {"wmma", "op=store m=d sync aligned layout=row|col shape=m8n8k4 " WMMA_SPACE " t=f64", "a v ?s:u32", kWmmaMemory,
     80, 70},
#define WMMA_MMA "op=mma sync aligned la=row|col lb=row|col "
    {"wmma", WMMA_MMA WMMA_SHAPES " d=f16|f32 c=f16|f32 ?satfinite", "v v v v", kMatrix, 70, 60},
    {"wmma", WMMA_MMA WMMA_SHAPES " d=s32 a=u8 b=u8 c=s32 ?satfinite", "v v v v", kMatrix, 72, 63},
    {"wmma", WMMA_MMA WMMA_SHAPES " d=s32 a=s8 b=s8 c=s32 ?satfinite", "v v v v", kMatrix, 72, 63},
    {"wmma", WMMA_MMA WMMA_SHAPES " d=f32 a=bf16 b=bf16 c=f32", "v v v v", kMatrix, 80, 70},
    {"wmma", WMMA_MMA "shape=m16n16k8 d=f32 a=tf32 b=tf32 c=f32", "v v v v", kMatrix, 80, 70},
    {"wmma", WMMA_MMA "shape=m8n8k4 d=f64 a=f64 b=f64 c=f64 ?rnd=rn|rz|rm|rp", "v v v v", kMatrix, 80, 70},
#define WMMA_ROW_COL "op=mma sync aligned la=row lb=col "
    {"wmma", WMMA_ROW_COL "shape=m8n8k32 d=s32 a=u4 b=u4 c=s32 ?satfinite", "v v v v", kMatrix, 75, 63},
    {"wmma", WMMA_ROW_COL "shape=m8n8k32 d=s32 a=s4 b=s4 c=s32 ?satfinite", "v v v v", kMatrix, 75, 63},
    {"wmma", WMMA_ROW_COL "b=xor|and popc shape=m8n8k128 d=s32 a=b1 e=b1 c=s32", "v v v v", kMatrix, 75, 63},
};

}  // namespace

std::span<const FormRow> warp_forms() { return kForms; }

}  // namespace ptx::emulator
