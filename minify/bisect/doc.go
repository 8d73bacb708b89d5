// Package bisect finds which of many changes decides whether a test is good or bad.
//
// A Search asks a Test about points, from several goroutines, and notes each answer in a Journal before it uses it, so that a search that was killed
// goes on where it was. It has three methods, one for each shape that changes come in:
//
//   - Range: ordered points, as versions, or points with parents, as commits, of which the first bad one is wanted. Each test is right.
//   - Noisy: ordered points whose tests are wrong now and then. The answer comes with its probability.
//   - Settings: differences between two configurations, of which the smallest set that decides is wanted, and the smallest that makes the bad good.
//
// Where tests are wrong now and then, and the points have no order, Noise.Settle makes one sure answer of several tests.
//
// How many workers there are changes how many tests run, and not the answer: a chain with one change has one answer, and a noisy search
// uses the answers in the order in which a single worker would have asked. What the points are, and how one is tested, is the caller's business:
// the package runs no process and opens no file.
package bisect
