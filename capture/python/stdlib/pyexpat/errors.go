package pyexpat

// fault is a number of expat's for what is wrong.
type fault int

const (
	noElements       fault = 3
	invalidToken     fault = 4
	unclosedToken    fault = 5
	partialChar      fault = 6
	tagMismatch      fault = 7
	duplicateAttr    fault = 8
	junkAfter        fault = 9
	undefinedEntity  fault = 11
	recursiveEntity  fault = 12
	asyncEntity      fault = 13
	badCharRef       fault = 14
	binaryEntity     fault = 15
	attrExternal     fault = 16
	misplacedXML     fault = 17
	unclosedCDATA    fault = 20
	externalEntity   fault = 21
	notStandalone    fault = 22
	unboundPrefix    fault = 27
	undeclaredPrefix fault = 28
	xmlDecl          fault = 30
	reservedXML      fault = 38
	finished         fault = 36
	syntaxError      fault = 2
)

// faults are the names and texts of all numbers, from 1.
var faults = [...][2]string{{}, {"NO_MEMORY", "out of memory"}, {"SYNTAX", "syntax error"}, {"NO_ELEMENTS", "no element found"},
	{"INVALID_TOKEN", "not well-formed (invalid token)"}, {"UNCLOSED_TOKEN", "unclosed token"}, {"PARTIAL_CHAR", "partial character"}, {"TAG_MISMATCH", "mismatched tag"},
	{"DUPLICATE_ATTRIBUTE", "duplicate attribute"}, {"JUNK_AFTER_DOC_ELEMENT", "junk after document element"}, {"PARAM_ENTITY_REF", "illegal parameter entity reference"},
	{"UNDEFINED_ENTITY", "undefined entity"}, {"RECURSIVE_ENTITY_REF", "recursive entity reference"}, {"ASYNC_ENTITY", "asynchronous entity"},
	{"BAD_CHAR_REF", "reference to invalid character number"}, {"BINARY_ENTITY_REF", "reference to binary entity"},
	{"ATTRIBUTE_EXTERNAL_ENTITY_REF", "reference to external entity in attribute"}, {"MISPLACED_XML_PI", "XML or text declaration not at start of entity"},
	{"UNKNOWN_ENCODING", "unknown encoding"}, {"INCORRECT_ENCODING", "encoding specified in XML declaration is incorrect"}, {"UNCLOSED_CDATA_SECTION", "unclosed CDATA section"},
	{"EXTERNAL_ENTITY_HANDLING", "error in processing external entity reference"}, {"NOT_STANDALONE", "document is not standalone"},
	{"UNEXPECTED_STATE", "unexpected parser state - please send a bug report"}, {"ENTITY_DECLARED_IN_PE", "entity declared in parameter entity"},
	{"FEATURE_REQUIRES_XML_DTD", "requested feature requires XML_DTD support in Expat"}, {"CANT_CHANGE_FEATURE_ONCE_PARSING", "cannot change setting once parsing has begun"},
	{"UNBOUND_PREFIX", "unbound prefix"}, {"UNDECLARING_PREFIX", "must not undeclare prefix"}, {"INCOMPLETE_PE", "incomplete markup in parameter entity"},
	{"XML_DECL", "XML declaration not well-formed"}, {"TEXT_DECL", "text declaration not well-formed"}, {"PUBLICID", "illegal character(s) in public id"},
	{"SUSPENDED", "parser suspended"}, {"NOT_SUSPENDED", "parser not suspended"}, {"ABORTED", "parsing aborted"}, {"FINISHED", "parsing finished"},
	{"SUSPEND_PE", "cannot suspend in external parameter entity"}, {"RESERVED_PREFIX_XML", "reserved prefix (xml) must not be undeclared or bound to another namespace name"},
	{"RESERVED_PREFIX_XMLNS", "reserved prefix (xmlns) must not be declared or undeclared"},
	{"RESERVED_NAMESPACE_URI", "prefix must not be bound to one of the reserved namespace names"}, {"INVALID_ARGUMENT", "invalid argument"},
	{"NO_BUFFER", "a successful prior call to function XML_GetBuffer is required"},
	{"AMPLIFICATION_LIMIT_BREACH", "limit on input amplification factor (from DTD and entities) breached"}}

// problem is a fault and where it is: so many bytes behind the token that is being read.
type problem struct {
	fault
	at int
}

// Error implements error.
func (p *problem) Error() string { return faults[p.fault][1] }

func wrong(f fault, at int) error { return &problem{f, at} }
