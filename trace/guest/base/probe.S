// Copies that survive a fault. The host fault handler (signal/) resumes at probe_failed when rip lies in
// [probe_begin, probe_end); registers are then as at the faulting instruction.

    .text
    .globl probe_begin, probe_end, probe_failed, probe_copy, probe_word, probe_pair

probe_begin:
// u64 probe_copy(void* to, const void* from, u64 n): bytes left uncopied, 0 on success.
probe_copy:
    mov %rdx, %rcx
    rep movsb
    xor %eax, %eax
    ret
// u64 probe_word(void* to, const void* from): 8 bytes at once or none; 0 on success.
probe_word:
    mov $8, %ecx
    mov (%rsi), %rax
    mov %rax, (%rdi)
    xor %eax, %eax
    ret
// u64 probe_pair(void* to, const void* from): 16 bytes; the number of those left uncopied, 0 on success.
probe_pair:
    mov $16, %ecx
    mov (%rsi), %rax
    mov 8(%rsi), %rdx
    mov %rax, (%rdi)
    mov $8, %ecx
    mov %rdx, 8(%rdi)
    xor %eax, %eax
    ret
probe_end:
probe_failed:
    mov %rcx, %rax
    ret

    .section .note.GNU-stack,"",@progbits
