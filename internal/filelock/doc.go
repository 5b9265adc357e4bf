// Package filelock locks a file for one opener at a time. The operating system
// gives the lock up with the process, whatever way that ends.
package filelock
