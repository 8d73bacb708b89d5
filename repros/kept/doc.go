// Package kept leaves an engine warm between commands.
//
// One process keeps one engine (Folder.Serve) and lets one command have it at a time (Folder.Connect); others list and stop the engines that are
// kept (Folder.List, Folder.Stop). They meet at sockets in a folder that is their user's alone, and trust the system to say who is at the other end. An
// engine is found by a Key of all that its answers may depend on. What an engine is, this package does not know: see Host.
package kept
