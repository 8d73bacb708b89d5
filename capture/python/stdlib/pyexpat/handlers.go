package pyexpat

import (
	"strings"

	"whittle/capture/python/vm"
)

// The handlers, in the order of their names.
const (
	startElementHandler = iota
	endElementHandler
	piHandler
	characterHandler
	unparsedHandler
	notationHandler
	startNamespaceHandler
	endNamespaceHandler
	commentHandler
	startCdataHandler
	endCdataHandler
	defaultHandler
	defaultExpandHandler
	notStandaloneHandler
	externalHandler
	startDoctypeHandler
	endDoctypeHandler
	entityHandler
	xmlDeclHandler
	elementDeclHandler
	attlistHandler
	skippedHandler
	handlerCount
)

var handlerNames = [handlerCount]string{"StartElementHandler", "EndElementHandler", "ProcessingInstructionHandler", "CharacterDataHandler", "UnparsedEntityDeclHandler",
	"NotationDeclHandler", "StartNamespaceDeclHandler", "EndNamespaceDeclHandler", "CommentHandler", "StartCdataSectionHandler", "EndCdataSectionHandler", "DefaultHandler",
	"DefaultHandlerExpand", "NotStandaloneHandler", "ExternalEntityRefHandler", "StartDoctypeDeclHandler", "EndDoctypeDeclHandler", "EntityDeclHandler", "XmlDeclHandler",
	"ElementDeclHandler", "AttlistDeclHandler", "SkippedEntityHandler"}

// handlers are a program's functions, and the characters that wait for more to come before it gets them.
type handlers struct {
	vmIn     *vm.Interp
	fn       [handlerCount]vm.Object // nil for none
	buffered bool
	size     int
	waiting  strings.Builder
	interned *vm.Dict
}

func (h *handlers) set(i int) bool { return h.fn[i] != nil }

// keepsReferences says whether references to entities are passed on as they are.
func (h *handlers) keepsReferences() bool {
	return h.set(defaultHandler) && !h.set(defaultExpandHandler)
}

// intern is the one object that stands for a name.
func (h *handlers) intern(s string) vm.Object {
	if h.interned == nil {
		return vm.Str(s)
	}
	if v, ok := h.interned.GetStr(s); ok {
		return v
	}
	h.interned.SetStr(s, vm.Str(s))
	return vm.Str(s)
}

// ask calls a handler.
func (h *handlers) ask(i int, args ...vm.Object) (vm.Object, error) {
	if err := h.flush(); err != nil || h.fn[i] == nil {
		return vm.None, err
	}
	return h.vmIn.Call(h.fn[i], args, nil)
}

// tell calls a handler, or the default one with the token if there is none.
func (h *handlers) tell(i int, token []byte, args ...vm.Object) error {
	if !h.set(i) {
		return h.other(token)
	}
	_, err := h.ask(i, args...)
	return err
}

// other passes a token on to the default handler.
func (h *handlers) other(token []byte) error {
	for _, i := range []int{defaultExpandHandler, defaultHandler} {
		if h.set(i) && len(token) > 0 {
			_, err := h.ask(i, vm.Str(token))
			return err
		}
	}
	return nil
}

// characters passes characters on, at once or with others.
func (h *handlers) characters(b []byte) error {
	if !h.set(characterHandler) {
		return h.other(b)
	}
	if !h.buffered {
		_, err := h.vmIn.Call(h.fn[characterHandler], []vm.Object{vm.Str(b)}, nil)
		return err
	}
	if h.waiting.Len()+len(b) > h.size {
		if err := h.flush(); err != nil {
			return err
		}
		if len(b) > h.size {
			_, err := h.vmIn.Call(h.fn[characterHandler], []vm.Object{vm.Str(b)}, nil)
			return err
		}
	}
	h.waiting.Write(b)
	return nil
}

// flush passes on the characters that wait.
func (h *handlers) flush() error {
	if h.waiting.Len() == 0 {
		return nil
	}
	s := h.waiting.String()
	h.waiting.Reset()
	if !h.set(characterHandler) {
		return nil
	}
	_, err := h.vmIn.Call(h.fn[characterHandler], []vm.Object{vm.Str(s)}, nil)
	return err
}
