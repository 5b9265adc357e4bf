package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/schemas"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema [NAME]", Short: "Print a JSON Schema, or the names of all", Args: cobra.MaximumNArgs(1), ValidArgs: schemas.Names(),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				if a.json {
					return a.printJSON(schemas.Names())
				}
				for _, name := range schemas.Names() {
					fmt.Fprintln(a.out, name)
				}
				return nil
			}
			text, err := schemas.Read(args[0])
			if err != nil {
				return fail(exitUsage, fmt.Sprintf("it is one of %v", schemas.Names()), err)
			}
			_, err = a.out.Write(text)
			return err
		},
	}
}
