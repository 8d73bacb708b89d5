package pypickle

// The instructions. What follows one in the stream stands beside it.
const (
	opMark           = '('
	opStop           = '.'
	opPop            = '0'
	opPopMark        = '1'
	opDup            = '2'
	opFloat          = 'F' // decimal, newline
	opInt            = 'I' // decimal, newline
	opBinInt         = 'J' // 4 bytes, signed
	opBinInt1        = 'K' // 1 byte
	opLong           = 'L' // decimal, newline
	opBinInt2        = 'M' // 2 bytes
	opNone           = 'N'
	opPersID         = 'P' // text, newline
	opBinPersID      = 'Q'
	opReduce         = 'R'
	opString         = 'S' // quoted, newline
	opBinString      = 'T' // 4 bytes of length
	opShortBinString = 'U' // 1 byte of length
	opUnicode        = 'V' // raw-unicode-escape, newline
	opBinUnicode     = 'X' // 4 bytes of length
	opAppend         = 'a'
	opBuild          = 'b'
	opGlobal         = 'c' // two lines
	opDict           = 'd'
	opEmptyDict      = '}'
	opAppends        = 'e'
	opGet            = 'g' // decimal, newline
	opBinGet         = 'h' // 1 byte
	opInst           = 'i' // two lines
	opLongBinGet     = 'j' // 4 bytes
	opList           = 'l'
	opEmptyList      = ']'
	opObj            = 'o'
	opPut            = 'p' // decimal, newline
	opBinPut         = 'q' // 1 byte
	opLongBinPut     = 'r' // 4 bytes
	opSetItem        = 's'
	opTuple          = 't'
	opEmptyTuple     = ')'
	opSetItems       = 'u'
	opBinFloat       = 'G' // 8 bytes, big-endian

	// Protocol 2.
	opProto    = 0x80 // 1 byte
	opNewObj   = 0x81
	opExt1     = 0x82 // 1 byte
	opExt2     = 0x83 // 2 bytes
	opExt4     = 0x84 // 4 bytes
	opTuple1   = 0x85
	opTuple2   = 0x86
	opTuple3   = 0x87
	opNewTrue  = 0x88
	opNewFalse = 0x89
	opLong1    = 0x8a // 1 byte of length
	opLong4    = 0x8b // 4 bytes of length

	// Protocol 3.
	opBinBytes      = 'B' // 4 bytes of length
	opShortBinBytes = 'C' // 1 byte of length

	// Protocol 4.
	opShortBinUnicode = 0x8c // 1 byte of length
	opBinUnicode8     = 0x8d // 8 bytes of length
	opBinBytes8       = 0x8e // 8 bytes of length
	opEmptySet        = 0x8f
	opAddItems        = 0x90
	opFrozenSet       = 0x91
	opNewObjEx        = 0x92
	opStackGlobal     = 0x93
	opMemoize         = 0x94
	opFrame           = 0x95 // 8 bytes of length

	// Protocol 5.
	opByteArray8     = 0x96 // 8 bytes of length
	opNextBuffer     = 0x97
	opReadonlyBuffer = 0x98
)

const (
	highestProtocol = 5
	defaultProtocol = 4

	batchSize       = 1000     // most items of one APPENDS, SETITEMS or ADDITEMS
	frameTarget     = 64 << 10 // a frame of this size ends
	frameLeast      = 4        // a smaller one has no header
	frameHeader     = 9
	fastNestingMost = 50 // depth from which on fast mode looks for cycles
)
