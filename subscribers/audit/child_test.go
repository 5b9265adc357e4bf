package audit_test

// child runs this test binary in another role when its arguments say so, and
// reports whether they did.
func child([]string) bool { return false }
