package httpedge

// Read is for fuzzing.
var Read = read
