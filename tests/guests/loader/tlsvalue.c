// A library with thread-local storage, for tls and tls_dynamic.
__thread int library_value = 100;
static __thread char padding[8192];
int library_next(void) {
  padding[library_value & 8191] = 1;
  return ++library_value;
}
