// Package history says when a figure that is measured night after night has changed.
//
// A series is one figure of one case: a Point a night, with the samples of that night. Scan goes through it from its beginning and gives
// the changes, each with the levels before and after, a confidence interval of their ratio, and the probability that noise alone looks like
// that. Doubtful says, before a night is over, whether its last point has to be measured again, and Nearest which of several measurements
// counts. FindTrend finds a figure that moves steadily towards a limit, and when it will get there.
//
// # Noise
//
// Repeats within a night say how well its median is known. They do not say how much nights differ although nothing has changed: another
// machine, another layout of memory. That is seen from the nights of a level alone, and is taken to be heavy-tailed (Student's t with Tail
// degrees of freedom) and correlated from night to night (first order). Until there are enough nights, Options.Prior stands in for them,
// with the weight of two.
//
// # False alarms
//
// Options.Alarms is how many false alarms are expected in a night, over all series together; 0.005 if nothing is said, which is one in two hundred
// nights. It is spent evenly: each series gets its share (Bonferroni), and of that 30 % goes to the last night alone, 45 % to the last two,
// and the rest to the last 4, 8 and 16. What is measured once again in fresh processes before it counts (Doubtful, Nearest) takes the
// disturbances of a single process out, which are most of what looks like a change.
//
// It decides nothing about failures, and knows no engine.
package history
