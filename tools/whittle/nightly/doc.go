// Package nightly is a bot that tests programs and repros on the newest of several engines, night after night, and says what is new.
//
// A Config says what is tested with what. Run plays one night: every case is measured in its modes by a Lab; what looks new is measured twice
// more in fresh processes; what is new then is minimised, bisected over the versions and then the commits between them, and put into a group; what was open before and passes now
// gets the range in which it was fixed, or is withdrawn if it does not fail any more where it was found; and figures are held against those of the nights before
// (package accuracy/history). The Report that comes of it is Markdown and JSON in the outbox, and goes to a hook.
//
// Everything is a row in the store before it is used, so that a night that was killed goes on where it was. A report depends on the answers
// alone: not on the clock, not on how many cases were measured at a time, not on where the night was interrupted. Lines are about what changed;
// an engine that cannot be started, a case that cannot be read or a machine that lacks something are lines, too, and findings about no case.
//
// The package measures nothing itself but by a command of the user's (Command): the Lab for a real PyTorch and for whittle's own stack is wired where the
// commands are.
package nightly
