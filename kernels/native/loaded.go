package native

/*
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

typedef void (*whittle_entry)(void **, const int64_t *);

static void *open_library(const char *path, char **err) {
  void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!h) *err = dlerror();
  return h;
}
static void *find_symbol(void *h, const char *name) { return dlsym(h, name); }
static int keep_library(const char *name) { return dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != 0; }
static void close_library(void *h) { dlclose(h); }
static void call_entry(void *f, void **bufs, int64_t *sizes) { ((whittle_entry)f)(bufs, sizes); }
*/
import "C"

import (
	"container/list"
	"debug/elf"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"unsafe"
)

// MostLoaded bounds the kernel libraries that one process has loaded: over it, those that nothing refers to any more are unloaded, the one
// that was not used for longest first. A library in use is never unloaded, so that a process which holds more than MostLoaded compiled graphs
// has as many libraries as they need. A few hundred cover what a program or a search compiles again and again; each takes some pages, and the
// kernel allows a process 65,530 mappings in all, of which a library needs five.
const MostLoaded = 256

// libraries are those of the process: dlopen is the process's too, so that a set for each builder would count wrongly.
var libraries = &loaded{most: MostLoaded, byKey: map[string]*object{}, idle: list.New()}

// loaded is a set of open shared objects, one for each key, with the number of Libraries that refer to each.
type loaded struct {
	mu    sync.Mutex
	most  int
	byKey map[string]*object
	idle  *list.List // of *object without users, the one that was used last at the back
}

// An object is an open shared object. All fields but path, entry, handle and stays belong to the set's lock.
type object struct {
	path   string
	entry  unsafe.Pointer
	handle unsafe.Pointer
	stays  bool // what it needs could not be kept, so that it is not unloaded once it ran

	key   string
	users int
	place *list.Element // in the idle list, when users is 0; nil otherwise, and always when it stays
}

// A Library is a use of a loaded shared object, which stays loaded as long as the Library is reachable.
type Library struct {
	Path string
	obj  *object
}

// find gives a use of the object under key; nil if none is loaded.
func (l *loaded) find(key string) *Library {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.byKey[key]; o != nil {
		return l.use(o)
	}
	return nil
}

// add gives a use of the object under key: o, or the one that somebody else loaded in the meantime.
func (l *loaded) add(key string, o *object) *Library {
	l.mu.Lock()
	defer l.mu.Unlock()
	if have := l.byKey[key]; have != nil {
		o.close()
		return l.use(have)
	}
	o.key = key
	l.byKey[key] = o
	lib := l.use(o)
	l.shrink()
	return lib
}

func (l *loaded) use(o *object) *Library {
	if o.place != nil {
		l.idle.Remove(o.place)
		o.place = nil
	}
	o.users++
	lib := &Library{Path: o.path, obj: o}
	runtime.AddCleanup(lib, l.release, o)
	return lib
}

// release ends a use.
func (l *loaded) release(o *object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.users--; o.users == 0 && !o.stays {
		o.place = l.idle.PushBack(o)
		l.shrink()
	}
}

// shrink unloads objects without users while there are too many.
func (l *loaded) shrink() {
	for len(l.byKey) > l.most && l.idle.Len() > 0 {
		o := l.idle.Remove(l.idle.Front()).(*object)
		o.place = nil
		delete(l.byKey, o.key)
		o.close()
	}
}

// open loads a shared object and finds its entry.
func open(path string) (*object, error) {
	// The path must not be looked up along the library path.
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	cp, name := C.CString(abs), C.CString("kernel")
	defer C.free(unsafe.Pointer(cp))
	defer C.free(unsafe.Pointer(name))
	var cerr *C.char
	h := C.open_library(cp, &cerr)
	if h == nil {
		return nil, fmt.Errorf("loading %s: %s", path, C.GoString(cerr))
	}
	o := &object{path: abs, handle: h, stays: !keepNeeded(abs)}
	if o.entry = C.find_symbol(h, name); o.entry == nil {
		o.close()
		return nil, fmt.Errorf("%s exports no kernel", path)
	}
	return o, nil
}

// keepNeeded keeps for good what a shared object needs, and reports whether it could: the threads of an OpenMP runtime wait in its code
// after the call that made them, so that it must not go with the kernel that brought it.
func keepNeeded(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	needed, err := f.ImportedLibraries()
	if err != nil {
		return false
	}
	for _, n := range needed {
		c := C.CString(n)
		kept := C.keep_library(c) != 0
		C.free(unsafe.Pointer(c))
		if !kept {
			return false
		}
	}
	return true
}

func (o *object) close() { C.close_library(o.handle) }

// Call runs the entry on buffers (nil allowed for empty ones) and sizes.
func (l *Library) Call(bufs []unsafe.Pointer, sizes []int64) {
	var pin runtime.Pinner
	defer pin.Unpin()
	for _, p := range bufs {
		if p != nil {
			pin.Pin(p)
		}
	}
	C.call_entry(l.obj.entry, (*unsafe.Pointer)(unsafe.SliceData(bufs)), (*C.int64_t)(unsafe.SliceData(sizes)))
	runtime.KeepAlive(l)
}
