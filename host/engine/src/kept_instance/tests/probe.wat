(module
  (import "domesday:valuation/evidence@1.0.0" "price-index"
    (func $price-index (param i32 i32 i32 i32)))
  (memory (export "memory") 20 40)
  (table 4 funcref)
  (elem (i32.const 1) $one $two)
  (global $heap (mut i32) (i32.const 262144))
  (global $small (mut i32) (i32.const -5))
  (global $large (mut i64) (i64.const 0x0123456789abcdef))
  (global $single (mut f32) (f32.const 1.5))
  (global $double (mut f64) (f64.const -0))
  (global $wide (mut v128) (v128.const i64x2 7 -7))
  (global $callee (mut funcref) (ref.func $two))
  (global $base i32 (i32.const 40))
  (global $extended (mut i32) (i32.add (i32.const 2) (i32.mul (i32.const 20) (i32.const 2))))
  (data (i32.const 4090) "across two pages of the machine")
  (data (i32.const 131072) "\01\02\03\04\05\06\07\08")
  (data (i32.const 786424) "\ff\ff\ff\ff\ff\ff\ff\ff")
  (data $passive "a passive segment")

  (func $one (result i32) (i32.const 1))
  (func $two (result i32) (i32.const 2))

  ;; An allocator that never frees.
  (func (export "cabi_realloc") (param i32 i32 i32) (param $bytes i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $heap))
    (global.set $heap
      (i32.and (i32.add (i32.add (local.get $at) (local.get $bytes)) (i32.const 15))
        (i32.const -16)))
    (local.get $at))

  (func $mix (param $hash i64) (param $with i64) (result i64)
    (i64.mul (i64.xor (i64.rotl (local.get $hash) (i64.const 5)) (local.get $with))
      (i64.const 0x100000001b3)))

  ;; A number of everything that a guest can observe of its instance.
  (func $observe (result i64)
    (local $at i32) (local $end i32) (local $hash i64)
    (local.set $end (i32.mul (memory.size) (i32.const 65536)))
    (loop $words
      (local.set $hash (call $mix (local.get $hash) (i64.load (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $words (i32.lt_u (local.get $at) (local.get $end))))
    (local.set $hash (call $mix (local.get $hash) (i64.extend_i32_u (global.get $heap))))
    (local.set $hash (call $mix (local.get $hash) (i64.extend_i32_u (global.get $small))))
    (local.set $hash (call $mix (local.get $hash) (global.get $large)))
    (local.set $hash (call $mix (local.get $hash)
      (i64.extend_i32_u (i32.reinterpret_f32 (global.get $single)))))
    (local.set $hash (call $mix (local.get $hash) (i64.reinterpret_f64 (global.get $double))))
    (local.set $hash (call $mix (local.get $hash) (i64x2.extract_lane 0 (global.get $wide))))
    (local.set $hash (call $mix (local.get $hash) (i64x2.extract_lane 1 (global.get $wide))))
    (local.set $hash (call $mix (local.get $hash)
      (i64.extend_i32_u (ref.is_null (global.get $callee)))))
    (local.set $hash (call $mix (local.get $hash) (i64.extend_i32_u (global.get $extended))))
    (local.set $hash (call $mix (local.get $hash) (i64.extend_i32_u (table.size 0))))
    (local.set $hash (call $mix (local.get $hash)
      (i64.extend_i32_u (ref.is_null (table.get 0 (i32.const 0))))))
    (call $mix (local.get $hash)
      (i64.extend_i32_u (call_indirect (result i32) (i32.const 2)))))

  (func $dig (param i32) (result i32)
    (i32.add (i32.const 1) (call $dig (i32.add (local.get 0) (i32.const 1)))))

  ;; One step. The program's months name it.
  (func $step (param $kind i32) (param $value f64)
    (local $number i32)
    (local.set $number (i32.trunc_sat_f64_s (local.get $value)))
    (block $done
    (block $copy (block $passive (block $fill (block $globals (block $loop (block $trap (block $grow
    (block $dig (block $table
      (br_table $grow $trap $loop $globals $fill $passive $copy $dig $table $done
        (i32.sub (i32.const -1) (local.get $kind))))
      ;; $table
      (drop (call_indirect (result i32) (local.get $number)))
      (br $done))
      ;; $dig
      (drop (call $dig (i32.const 0)))
      (br $done))
      ;; $grow
      (drop (memory.grow (local.get $number)))
      (br $done))
      ;; $trap
      unreachable)
      ;; $loop
      (loop $ever (br $ever)))
      ;; $globals
      (global.set $heap (i32.add (i32.const 262144)
        (i32.and (local.get $number) (i32.const 0xfff0))))
      (global.set $small (local.get $number))
      (global.set $large (i64.extend_i32_s (local.get $number)))
      (global.set $single (f32.demote_f64 (local.get $value)))
      (global.set $double (local.get $value))
      (global.set $wide (f64x2.splat (local.get $value)))
      (global.set $callee (ref.null func))
      (global.set $extended (local.get $number))
      (br $done))
      ;; $fill
      (memory.fill (i32.const 2048)
        (i32.and (local.get $number) (i32.const 255)) (i32.shr_u (local.get $number) (i32.const 8)))
      (br $done))
      ;; $passive
      (memory.init $passive (i32.and (local.get $number) (i32.const 0x3ffff)) (i32.const 0)
        (i32.const 17))
      (br $done))
      ;; $copy
      (memory.copy (i32.const 500000) (i32.const 131000) (i32.const 9000))
      (br $done)))

  ;; The answer: what was observed before the program ran.
  (func (export "value") (param $subject i32) (result i32)
    (local $observed i64) (local $at i32) (local $end i32) (local $kind i32)
    (local.set $observed (call $observe))
    (call $price-index (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 512))
    (if (i32.and
          (i32.eqz (i32.load8_u (i32.const 512)))
          (i32.load8_u (i32.const 516)))
      (then
        (local.set $at (i32.load (i32.const 524)))
        (local.set $end (i32.add (local.get $at)
          (i32.mul (i32.const 16) (i32.load (i32.const 528)))))
        (block $ended
          (loop $steps
            (br_if $ended (i32.ge_u (local.get $at) (local.get $end)))
            (local.set $kind (i32.load (local.get $at)))
            (if (i32.ge_s (local.get $kind) (i32.const 0))
              (then (f64.store (local.get $kind) (f64.load offset=8 (local.get $at))))
              (else
                (if (i32.eq (local.get $kind) (i32.const -100))
                  (then (return (i32.const -8))))
                (if (i32.eq (local.get $kind) (i32.const -101))
                  (then
                    (memory.fill (i32.const 1024) (i32.const 0) (i32.const 96))
                    (f64.store (i32.const 1064) (f64.const 2))
                    (return (i32.const 1024))))
                (call $step (local.get $kind) (f64.load offset=8 (local.get $at)))))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (br $steps)))))
    (memory.fill (i32.const 1024) (i32.const 0) (i32.const 96))
    (f64.store (i32.const 1032) (f64.add (f64.const 1)
      (f64.convert_i64_u (i64.shr_u (local.get $observed) (i64.const 33)))))
    (f64.store (i32.const 1064) (f64.const 0.5))
    (i32.const 1024))
  (func (export "cabi_post_value") (param i32)))
