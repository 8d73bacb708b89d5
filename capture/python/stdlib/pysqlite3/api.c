#include "_cgo_export.h"

#define TRANSIENT ((void (*)(void *))-1)
#define UTF8 1
#define TRACE_STMT 1

int wh_bind_text(sqlite3_stmt *s, int i, const char *p, int n) { return sqlite3_bind_text(s, i, p ? p : "", n, TRANSIENT); }
int wh_bind_blob(sqlite3_stmt *s, int i, const void *p, int n) { return sqlite3_bind_blob(s, i, p ? p : "", n, TRANSIENT); }
void wh_result_text(sqlite3_context *c, const char *p, int n) { sqlite3_result_text(c, p ? p : "", n, TRANSIENT); }
void wh_result_blob(sqlite3_context *c, const void *p, int n) { sqlite3_result_blob(c, p ? p : "", n, TRANSIENT); }

static void call(sqlite3_context *c, int n, sqlite3_value **v) { whCall(c, n, v); }
static void step(sqlite3_context *c, int n, sqlite3_value **v) { whStep(c, n, v); }
static void inverse(sqlite3_context *c, int n, sqlite3_value **v) { whInverse(c, n, v); }
static void value(sqlite3_context *c) { whValue(c); }
static void final(sqlite3_context *c) { whFinal(c); }
static void drop(void *h) { whDrop((uintptr_t)h); }
static int collate(void *h, int n, const void *a, int m, const void *b) { return whCollate((uintptr_t)h, n, (void *)a, m, (void *)b); }
static int authorize(void *h, int code, const char *a, const char *b, const char *c, const char *d) {
	return whAuthorize((uintptr_t)h, code, (char *)a, (char *)b, (char *)c, (char *)d);
}
static int progress(void *h) { return whProgress((uintptr_t)h); }
static int trace(unsigned what, void *h, void *s, void *text) { return what == TRACE_STMT ? whTrace((uintptr_t)h, s, text) : 0; }
static int busy(void *h, int n) { return whBusy((uintptr_t)h, n); }

int wh_function(sqlite3 *db, const char *name, int n, int flags, uintptr_t h) {
	return sqlite3_create_function_v2(db, name, n, UTF8 | flags, (void *)h, h ? call : 0, 0, 0, h ? drop : 0);
}
int wh_aggregate(sqlite3 *db, const char *name, int n, uintptr_t h) {
	return sqlite3_create_function_v2(db, name, n, UTF8, (void *)h, 0, h ? step : 0, h ? final : 0, h ? drop : 0);
}
int wh_window(sqlite3 *db, const char *name, int n, uintptr_t h) {
	if (!h)
		return sqlite3_create_function_v2(db, name, n, UTF8, 0, 0, 0, 0, 0);
	return sqlite3_create_window_function(db, name, n, UTF8, (void *)h, step, final, value, inverse, drop);
}
int wh_collation(sqlite3 *db, const char *name, uintptr_t h) {
	return sqlite3_create_collation_v2(db, name, UTF8, (void *)h, h ? collate : 0, h ? drop : 0);
}
int wh_authorizer(sqlite3 *db, uintptr_t h) { return sqlite3_set_authorizer(db, h ? authorize : 0, (void *)h); }
void wh_progress(sqlite3 *db, int n, uintptr_t h) { sqlite3_progress_handler(db, n, h ? progress : 0, (void *)h); }
int wh_trace(sqlite3 *db, uintptr_t h) { return sqlite3_trace_v2(db, h ? TRACE_STMT : 0, h ? trace : 0, (void *)h); }
int wh_busy(sqlite3 *db, uintptr_t h) { return sqlite3_busy_handler(db, h ? busy : 0, (void *)h); }
uintptr_t wh_user(sqlite3_context *c) { return (uintptr_t)sqlite3_user_data(c); }
uintptr_t *wh_state(sqlite3_context *c, int make) { return sqlite3_aggregate_context(c, make ? sizeof(uintptr_t) : 0); }
