// Package archtest holds the rules that the whole tree keeps: which package
// may import which, that each is documented, that none has hidden state, and
// what tests may not do. The rules are tests; each says why it is there. They
// go by the form of a path and not by lists of packages, so that a new package
// is held to them from its first commit.
package archtest
