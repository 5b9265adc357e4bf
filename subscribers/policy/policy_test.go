package policy_test

import "time"

// slow is a time limit for machines that do other things as well.
const slow = 10 * time.Second
