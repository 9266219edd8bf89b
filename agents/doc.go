// Package agents asks owners about the tool calls of coding agents: from a hook
// that the agent runs before a call, or as tools of an MCP server that it calls.
//
// # A call
//
// A [Call] is a tool's name and its input, a JSON object. Name and input as they
// came are what is pinned; [Describe] draws the card from them. Commands are shown
// line by line, edits as a diff, any other input name by name, so that no field of
// an input goes unsaid. What a card cannot hold in full says so in its title and in
// its first line; the exact call has it all.
//
// What a tool can do is declared for the tools that are known here. Of others
// nothing is declared, so that their risk counts as unvetted, and a call counts as
// destructive unless it is known not to be. Nothing that a model writes lowers
// either.
//
// # An answer
//
// [Desk.Ask] publishes a request, waits, and claims the call. [Allowed] means that
// an owner, the operator or a policy approved this very call before its deadline
// and that the claim succeeded; it is given at most once for an approval. [Declined]
// is a person's no, in that person's words. All else is [Unanswered]: a lapse, an
// outage, a refusal, an answer to something else, a claim that failed or whose reply
// was lost, a panic. A wait that is broken off withdraws the request, so that no
// card goes on asking for what nobody waits for.
//
// # Identity
//
// Where the agent names its session and the call, the approval's id is a digest of
// both: the same call asked twice is one approval, and is allowed once. Another call
// under the same names is not asked at all. Without a name the id is random.
//
// The room reads no clock. Deadlines are Redis's, and waits end with the context.
package agents
