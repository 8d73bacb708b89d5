// Package axis is what a bisection goes along, and how one of its points is tested by a command.
//
// Versions are a list of names, from a file, a range or a command that prints them. Commits are a part of a repository's history, and Builds makes
// what is tested of each. Settings are two configurations, whose differences are asked about in sets. A Command is run for each point that is tested, and its exit
// status is the answer, as `git bisect run` defines it. What is searched for, and which point is asked next, is package bisect's business.
package axis
