// Package protocoltest holds the agents' protocols to what all of them keep to.
//
// Each agent has a client in a package of its own beside its protocol, such as
// claudecodetest: a function that says what the agent does with what a hook
// process left behind ([Process], [Outcome]). It follows what the real agent was
// watched doing, and its documentation where nobody watched, and shares no code
// with the protocol that it judges. [Suite] puts every payload and every
// verdict through the protocol and the client.
//
// It is for tests only.
package protocoltest
