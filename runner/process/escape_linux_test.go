package process_test

func misbehave(args []string) {}
