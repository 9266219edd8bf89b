// Package config reads, checks and answers questions about the operator's
// configuration.
//
// # From file to Config
//
// [Load] goes through these steps, in this order:
//
//  1. [Default] gives every key its default.
//  2. The YAML file is decoded strictly. An unknown key, a key given twice, a
//     value of the wrong type, an anchor, alias, merge key or tag is a mistake.
//     A section or list left empty (`policies:`) counts as left out; an empty
//     scalar is a mistake. A list in the file replaces the default list.
//  3. Environment variables override single scalars: COUNTERSIGN_ and the key's
//     path in upper case, joined by underscores. COUNTERSIGN_CONFIRM_WINDOW is
//     confirm.window, COUNTERSIGN_PEOPLE_0_ID is people[0].id; an index may also
//     be the next one after the end of the list. The per-tool facts of policies
//     have names of the operator's choosing and come from the file alone.
//     A COUNTERSIGN_ variable that names no key is a mistake, with the exceptions
//     COUNTERSIGN_CONFIG, COUNTERSIGN_REQUIRE*, and the addresses that Kubernetes
//     puts into every container (…_SERVICE_HOST, …_PORT_…).
//  4. Secrets that are given as a file are read and trimmed. Value and file of one
//     secret in the same place are a mistake; in the environment either form
//     replaces what the file says.
//  5. [Config.Validate] checks values, ranges, and what keys say of each other.
//
// Mistakes are reported together, as far as they can be told apart: those of steps
// 2 and 3 in one go, else those of step 4, else those of step 5. Each names its place
// (file:line:column, or the variable), the key, what is wrong, and what would be right.
// No message contains a secret.
//
// [Parse] leaves step 4 out, for a machine that has the configuration but not the secrets.
//
// # Secrets
//
// [Secret] and [RedisURL] do not print: whatever verb, encoder or logger they meet,
// `***` comes out. Their text is had by calling Reveal.
//
// # Use
//
// A Config is read-only once loaded. Its methods change nothing and may be called from
// any number of goroutines. Nothing here reads a clock, opens a socket, or touches a
// file other than through the function it was given.
package config
