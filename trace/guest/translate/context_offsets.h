// Offsets of Context for assembly; context_offsets.cc holds them against the struct.
#define CTX 0x78000000
#define CTX_SPILL_RCX (CTX + 32)
#define CTX_EXIT_ARG (CTX + 56)
#define CTX_EXIT_KIND (CTX + 60)
#define CTX_RESUME (CTX + 64)
#define CTX_ENGINE_RSP (CTX + 72)
#define CTX_GPR (CTX + 80)
#define CTX_RFLAGS (CTX + 208)
#define CTX_PC (CTX + 216)
#define CTX_IN_GUEST (CTX + 244)
#define CTX_THREAD (CTX + 248)
#define CTX_SITES (CTX + 256)
#define CTX_NO_QUICK_CALLS (CTX + 264)
// Of Thread (run/thread.h) and Site (translate/block_index.h).
#define THREAD_TID 0
#define THREAD_PID 4
#define SITE_PC 0
#define SITE_CACHE 8
