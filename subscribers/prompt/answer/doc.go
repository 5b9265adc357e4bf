// Package answer finds a decision in what a language model wrote, wherever it
// stands, and safely: the rules are in the documentation of package prompt
// under "How the answer is read". It is a package of its own so that fuzzing it
// does not have to compile the vendors' clients, which takes minutes.
package answer
