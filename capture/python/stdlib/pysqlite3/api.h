// The functions of SQLite that this package calls. They are in the library that go-sqlite3 compiles: its header is not on this package's path.
// They are weak so that the package can be compiled by itself; the program has them, as it imports go-sqlite3.
#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_value sqlite3_value;
typedef struct sqlite3_blob sqlite3_blob;
typedef struct sqlite3_backup sqlite3_backup;
typedef long long sqlite3_int64;

#define SQLITE(type, name, ...) extern type name(__VA_ARGS__) __attribute__((weak))

SQLITE(const char *, sqlite3_libversion, void);
SQLITE(int, sqlite3_complete, const char *);
SQLITE(int, sqlite3_enable_shared_cache, int);
SQLITE(void, sqlite3_free, void *);

SQLITE(int, sqlite3_open_v2, const char *, sqlite3 **, int, const char *);
SQLITE(int, sqlite3_close_v2, sqlite3 *);
SQLITE(int, sqlite3_errcode, sqlite3 *);
SQLITE(int, sqlite3_extended_errcode, sqlite3 *);
SQLITE(const char *, sqlite3_errmsg, sqlite3 *);
SQLITE(const char *, sqlite3_errstr, int);
SQLITE(int, sqlite3_get_autocommit, sqlite3 *);
SQLITE(int, sqlite3_changes, sqlite3 *);
SQLITE(int, sqlite3_total_changes, sqlite3 *);
SQLITE(sqlite3_int64, sqlite3_last_insert_rowid, sqlite3 *);
SQLITE(void, sqlite3_interrupt, sqlite3 *);
SQLITE(int, sqlite3_limit, sqlite3 *, int, int);
SQLITE(int, sqlite3_enable_load_extension, sqlite3 *, int);
SQLITE(int, sqlite3_load_extension, sqlite3 *, const char *, const char *, char **);
SQLITE(unsigned char *, sqlite3_serialize, sqlite3 *, const char *, sqlite3_int64 *, unsigned);
SQLITE(int, sqlite3_deserialize, sqlite3 *, const char *, unsigned char *, sqlite3_int64, sqlite3_int64, unsigned);
SQLITE(void *, sqlite3_malloc64, unsigned long long);

SQLITE(int, sqlite3_prepare_v2, sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
SQLITE(int, sqlite3_step, sqlite3_stmt *);
SQLITE(int, sqlite3_reset, sqlite3_stmt *);
SQLITE(int, sqlite3_finalize, sqlite3_stmt *);
SQLITE(int, sqlite3_clear_bindings, sqlite3_stmt *);
SQLITE(int, sqlite3_stmt_busy, sqlite3_stmt *);
SQLITE(int, sqlite3_stmt_readonly, sqlite3_stmt *);
SQLITE(const char *, sqlite3_sql, sqlite3_stmt *);
SQLITE(char *, sqlite3_expanded_sql, sqlite3_stmt *);
SQLITE(int, sqlite3_bind_parameter_count, sqlite3_stmt *);
SQLITE(const char *, sqlite3_bind_parameter_name, sqlite3_stmt *, int);
SQLITE(int, sqlite3_bind_null, sqlite3_stmt *, int);
SQLITE(int, sqlite3_bind_int64, sqlite3_stmt *, int, sqlite3_int64);
SQLITE(int, sqlite3_bind_double, sqlite3_stmt *, int, double);
SQLITE(int, sqlite3_bind_text, sqlite3_stmt *, int, const char *, int, void (*)(void *));
SQLITE(int, sqlite3_bind_blob, sqlite3_stmt *, int, const void *, int, void (*)(void *));
SQLITE(int, sqlite3_column_count, sqlite3_stmt *);
SQLITE(int, sqlite3_data_count, sqlite3_stmt *);
SQLITE(const char *, sqlite3_column_name, sqlite3_stmt *, int);
SQLITE(const char *, sqlite3_column_decltype, sqlite3_stmt *, int);
SQLITE(int, sqlite3_column_type, sqlite3_stmt *, int);
SQLITE(sqlite3_int64, sqlite3_column_int64, sqlite3_stmt *, int);
SQLITE(double, sqlite3_column_double, sqlite3_stmt *, int);
SQLITE(const unsigned char *, sqlite3_column_text, sqlite3_stmt *, int);
SQLITE(const void *, sqlite3_column_blob, sqlite3_stmt *, int);
SQLITE(int, sqlite3_column_bytes, sqlite3_stmt *, int);

SQLITE(void *, sqlite3_user_data, sqlite3_context *);
SQLITE(void *, sqlite3_aggregate_context, sqlite3_context *, int);
SQLITE(int, sqlite3_value_type, sqlite3_value *);
SQLITE(sqlite3_int64, sqlite3_value_int64, sqlite3_value *);
SQLITE(double, sqlite3_value_double, sqlite3_value *);
SQLITE(const unsigned char *, sqlite3_value_text, sqlite3_value *);
SQLITE(const void *, sqlite3_value_blob, sqlite3_value *);
SQLITE(int, sqlite3_value_bytes, sqlite3_value *);
SQLITE(void, sqlite3_result_null, sqlite3_context *);
SQLITE(void, sqlite3_result_int64, sqlite3_context *, sqlite3_int64);
SQLITE(void, sqlite3_result_double, sqlite3_context *, double);
SQLITE(void, sqlite3_result_text, sqlite3_context *, const char *, int, void (*)(void *));
SQLITE(void, sqlite3_result_blob, sqlite3_context *, const void *, int, void (*)(void *));
SQLITE(void, sqlite3_result_error, sqlite3_context *, const char *, int);
SQLITE(void, sqlite3_result_error_nomem, sqlite3_context *);
SQLITE(void, sqlite3_result_error_toobig, sqlite3_context *);

SQLITE(int, sqlite3_create_function_v2, sqlite3 *, const char *, int, int, void *, void (*)(sqlite3_context *, int, sqlite3_value **),
	void (*)(sqlite3_context *, int, sqlite3_value **), void (*)(sqlite3_context *), void (*)(void *));
SQLITE(int, sqlite3_create_window_function, sqlite3 *, const char *, int, int, void *, void (*)(sqlite3_context *, int, sqlite3_value **),
	void (*)(sqlite3_context *), void (*)(sqlite3_context *), void (*)(sqlite3_context *, int, sqlite3_value **), void (*)(void *));
SQLITE(int, sqlite3_create_collation_v2, sqlite3 *, const char *, int, void *, int (*)(void *, int, const void *, int, const void *), void (*)(void *));
SQLITE(int, sqlite3_set_authorizer, sqlite3 *, int (*)(void *, int, const char *, const char *, const char *, const char *), void *);
SQLITE(void, sqlite3_progress_handler, sqlite3 *, int, int (*)(void *), void *);
SQLITE(int, sqlite3_trace_v2, sqlite3 *, unsigned, int (*)(unsigned, void *, void *, void *), void *);
SQLITE(int, sqlite3_busy_handler, sqlite3 *, int (*)(void *, int), void *);

SQLITE(int, sqlite3_blob_open, sqlite3 *, const char *, const char *, const char *, sqlite3_int64, int, sqlite3_blob **);
SQLITE(int, sqlite3_blob_close, sqlite3_blob *);
SQLITE(int, sqlite3_blob_bytes, sqlite3_blob *);
SQLITE(int, sqlite3_blob_read, sqlite3_blob *, void *, int, int);
SQLITE(int, sqlite3_blob_write, sqlite3_blob *, const void *, int, int);

SQLITE(sqlite3_backup *, sqlite3_backup_init, sqlite3 *, const char *, sqlite3 *, const char *);
SQLITE(int, sqlite3_backup_step, sqlite3_backup *, int);
SQLITE(int, sqlite3_backup_finish, sqlite3_backup *);
SQLITE(int, sqlite3_backup_remaining, sqlite3_backup *);
SQLITE(int, sqlite3_backup_pagecount, sqlite3_backup *);

// What takes a function or a handle of Go's. A handle of zero takes the callback away.
int wh_bind_text(sqlite3_stmt *s, int i, const char *p, int n);
int wh_bind_blob(sqlite3_stmt *s, int i, const void *p, int n);
void wh_result_text(sqlite3_context *c, const char *p, int n);
void wh_result_blob(sqlite3_context *c, const void *p, int n);
int wh_function(sqlite3 *db, const char *name, int n, int flags, uintptr_t h);
int wh_aggregate(sqlite3 *db, const char *name, int n, uintptr_t h);
int wh_window(sqlite3 *db, const char *name, int n, uintptr_t h);
int wh_collation(sqlite3 *db, const char *name, uintptr_t h);
int wh_authorizer(sqlite3 *db, uintptr_t h);
void wh_progress(sqlite3 *db, int n, uintptr_t h);
int wh_trace(sqlite3 *db, uintptr_t h);
int wh_busy(sqlite3 *db, uintptr_t h);
uintptr_t wh_user(sqlite3_context *c);
uintptr_t *wh_state(sqlite3_context *c, int make);
