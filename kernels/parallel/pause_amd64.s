#include "textflag.h"

// func pause()
TEXT ·pause(SB), NOSPLIT, $0-0
	MOVL	$30, AX
again:
	PAUSE
	SUBL	$1, AX
	JNZ	again
	RET
