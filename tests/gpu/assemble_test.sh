#!/bin/sh
# assemble_rows.awk on handwritten machine code: which calls are inside a loop over weights.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat > "$folder/list" <<'END'
kernel      blocks  threads  shared bytes  bytes moved  flops  PTX lines
gemv             2      256        21,280          100      1         20
END
cat > "$folder/log" <<'END'
ptxas info    : Compiling entry function 'gemv' for 'sm_90'
ptxas info    : Function properties for gemv
    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 70 registers, used 1 barriers
ptxas info    : Function properties for gemv_body
    32 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
END
# A loop over rows contains a loop over weights. Each has a call, and a call of a label leaves the inner one. Then come
# a loop without weights and a last call.
cat > "$folder/sass" <<'END'
	.section	.text.gemv,"ax",@progbits
.text.gemv:
.L_x_1:
        /*0000*/                   S2R R4, SR_TID.X ;
.L_x_2:
        /*0010*/                   LDG.E.NA.128.CONSTANT R4, desc[UR4][R2.64] ;
        /*0020*/                   CALL.REL.NOINC `($gemv$__cuda_in_the_loop) ;
        /*0028*/               @P6 CALL.REL.NOINC `(.L_x_5) ;
        /*0030*/               @P0 BRA `(.L_x_2) ;
.L_x_5:
        /*0040*/                   CALL.REL.NOINC `($gemv$__cuda_behind_a_row) ;
        /*0050*/               @P1 BRA `(.L_x_1) ;
        /*0060*/              @!P1 BRA `(.L_x_3) ;
.L_x_4:
        /*0070*/                   LDG.E.128 R4, desc[UR4][R2.64] ;
        /*0080*/                   CALL.REL.NOINC `($gemv$__cuda_of_a_table) ;
        /*0090*/               @P0 BRA `(.L_x_4) ;
.L_x_3:
        /*00a0*/                   CALL.REL.NOINC `($gemv$gemv_body) ;
        /*00b0*/                   EXIT ;
	.section	.nv.info,"",@"SHT_CUDA_INFO"
END
# 70 registers make 9 units of 256 per warp: 7 warps per scheduler, 3 blocks of 8 warps.
found=$(awk -v target=sm_90 -v shape=tiny -v "faults=$folder/faults" -f "$here/assemble_rows.awk" "$folder/list" \
  "$folder/log" "$folder/sass")
expected="sm_90 tiny gemv 70 12 32 4 1 3"
if [ "$found" != "$expected" ]; then
  echo "assemble_test.sh: found '$found', expected '$expected'"
  exit 1
fi
diff "$folder/faults" - <<'END'
sm_90 tiny gemv: a call inside a loop over weights: __cuda_in_the_loop
sm_90 tiny gemv: 12 bytes of spills
END
