/**
 * Approvals for what agents and scripts want to do, asked through Redis and answered in Telegram.
 *
 * @packageDocumentation
 */
export { Client, type ClientOptions, type WaitOptions } from "./client.js";
export type { Connection } from "./connection.js";
export { claimScript } from "./claim-script.js";
export * from "./errors.js";
export type { Answer, By, Call, Card, Decision, Pending, Report, Request, Result, Row, Undo } from "./model.js";
export { type CallOptions, type GuardOptions, type Outcome, Ran, requiresApproval } from "./guard.js";
export { FileLedger, type Ledger, type Step } from "./ledger.js";
