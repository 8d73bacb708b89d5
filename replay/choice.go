package replay

// Choice is one decision of a compiler that it can do without: a pass, a decomposition, the lowering of a node, a fusion, a setting.
type Choice struct {
	ID    string `json:"id"`              // the same from run to run: a hash of the kind, of what is decided, and of how often that came before
	Kind  string `json:"kind"`            // lowerings, post_grad_passes, fusion, ...: what the engine calls it
	Text  string `json:"text"`            // for people: the pass, the nodes
	Where string `json:"where,omitempty"` // the user's line: file:line: text; "" where nobody knows
}

// Choose says which choices a compiler takes. The zero value is all. What it was asked about is in Outcome.Choices.
type Choose struct {
	Kinds []string `json:"kinds"` // those of which any is taken; nil => all
	Only  []string `json:"only"`  // ids of those that are taken, of these kinds; nil => all
}
